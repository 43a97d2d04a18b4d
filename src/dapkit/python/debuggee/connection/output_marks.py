"""Where in the program's output log messages belong.

The program's stdout and stderr are pipes of the adapter, and log messages come over the link. So that the adapter knows
which output precedes a message, the message has a number, and a mark with this number is written to the pipes; the
adapter takes it out. A message says which mark of each pipe it is behind.

Marks are most of the cost of a message. A pipe in which nothing was written since its last mark needs no other. To know
that takes the extension, and memory that the adapter shares (`native/output.c`); without them each message is marked.

Only the adapter's pipes are written to, while they are the descriptors 1 and 2: the interpreter may be a script that
has put a file or another pipe there.
"""

import itertools
import os
from typing import Final

from ..interpreter import native
from ..interpreter.gc_tracking import untrack
from .framing import Json

MARK_BEGINS: Final = "\0\x1bdapkit:"
"""A byte sequence that no program writes. In a pipe, a number and a NUL follow."""

type Message = tuple[str, Json, int, int, int]
"""A text, the other fields of its event, its number, and of stdout and stderr the last mark before it.

A message without a number belongs nowhere. The mark 0 is the beginning of a pipe; so it is where a descriptor is not
the adapter's pipe.
"""

_DESCRIPTORS: Final = (1, 2)


def position_of(number: int, stdout: int, stderr: int) -> str:
    """Return the prefix of messages in an event: the number of the last, and the marks that precede them."""
    return f"{MARK_BEGINS}{number}:{stdout}:{stderr}\0" if number else ""


class OutputMarks:
    """The marks of one program; none are made until `begin`."""

    def __init__(self) -> None:
        self._pipes: list[tuple[int, tuple[int, int]]] = []
        self._next = itertools.count(1).__next__
        self._marker: native.OutputMarker | None = None

    def next(self) -> int:
        """Return the number of the next message, which no message will have then."""
        return self._next()

    def begin(
        self, pipes: list[tuple[int, int]], *, first: int = 1, memory: tuple[str, tuple[int, int]] | None = None
    ) -> None:
        """Mark the output on these pipes, stdout and stderr, each by its device and inode; there may be none.

        Messages have numbers from the first on. The memory that the adapter shares, given by its path and expected
        contents, has seen all reads from the pipes, and no message before the first.
        """
        self._next = itertools.count(first).__next__
        self._pipes = list(zip(_DESCRIPTORS, pipes, strict=False))
        self._marker = None
        if memory is not None and len(pipes) == len(_DESCRIPTORS):
            self._marker = untrack(native.output_marker(*memory, pipes, MARK_BEGINS.encode("ascii")))

    def end(self) -> None:
        """Mark nothing more."""
        self._marker = None
        self._pipes = []

    def add(self, messages: list[Message], text: str, place: Json) -> int:
        """Add a message that belongs here, and mark the pipes if need be; return how many messages there are."""
        if self._marker is not None:
            return self._marker(messages, text, place)
        if not self._pipes:
            messages.append((text, place, 0, 0, 0))
            return len(messages)
        number = self._next()
        mark = f"{MARK_BEGINS}{number}\0".encode("ascii")
        stdout, stderr = (number if _is_written(mark, *pipe) else 0 for pipe in self._pipes)
        messages.append((text, place, number, stdout, stderr))
        return len(messages)


def _is_written(mark: bytes, descriptor: int, identity: tuple[int, int]) -> bool:
    try:
        return native.file_identity(descriptor) == identity and os.write(descriptor, mark) > 0
    except OSError:  # it is closed, or full and does not block
        return False
