"""Marks in what the program writes, where it has come to a log message.

The program's stdout and stderr are pipes of the adapter, and log messages come over the link. So that the adapter knows
what was written before a message, a mark with its number is written to the pipes as well; the adapter takes it out.
Only these pipes are written to, while they are the descriptors 1 and 2: the interpreter may be a script that has put
a file or another pipe there.
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

    def next(self) -> int:
        """Return the number of the next mark, which no mark of ours will have then."""
        return self._next()

    def begin(self, pipes: list[tuple[int, int]], first: int = 1) -> None:
        """Mark what is written to these pipes, stdout and stderr, each by its device and inode; there may be none.

        Marks have numbers from the first on.
        """
        self._next = itertools.count(first).__next__
        self._pipes = [(number, bit, pipe) for (number, bit), pipe in zip(_DESCRIPTORS, pipes, strict=False)]

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
