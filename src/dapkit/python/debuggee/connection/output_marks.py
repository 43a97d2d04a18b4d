"""Marks in what the program writes, where it has come to a log message.

The program's stdout and stderr are pipes of the adapter, and log messages come over the link. So that the adapter knows
what was written before a message, a mark with its number is written to the pipes as well; the adapter takes it out.
Only the pipes that the program was started with are written to, while they still are its descriptors 1 and 2.
"""

import itertools
import os
from typing import Final

from .. import native

MARK_BEGINS: Final = "\0\x1bdapkit:"
"""What no program writes. A number follows, a number that says which pipes have the mark (1, 2, or 3), and a NUL."""

_DESCRIPTORS: Final = ((1, 1), (2, 2))
"""Descriptors, each with its bit in the second number."""


class OutputMarks:
    """The marks of one program; none are made until `begin`."""

    def __init__(self) -> None:
        self._pipes: list[tuple[int, int, tuple[int, int]]] = []
        self._next = itertools.count(1).__next__

    def begin(self) -> None:
        """Mark what is written to the descriptors 1 and 2 as they are now."""
        self._pipes = [(number, bit, native.file_identity(number)) for number, bit in _DESCRIPTORS]

    def mark(self) -> str:
        """Mark that the program has come here; return what the message begins with that belongs here."""
        if not self._pipes:
            return ""
        count, marked = self._next(), 0
        mark = f"{MARK_BEGINS}{count}:3\0".encode("ascii")
        for number, bit, identity in self._pipes:
            try:
                if native.file_identity(number) == identity and os.write(number, mark):
                    marked |= bit
            except OSError:  # it is closed, or full and does not block
                continue
        return f"{MARK_BEGINS}{count}:{marked}\0"
