"""The notes of what the program took from outside: a file in memory, which the process and its copies share.

Only the live program appends; a process of the past reads from where the end was when its copy was made. NotedCalls are
gathered and appended together, before a copy is made and where the program stops: nobody reads in between.

    8 bytes: the clock of the live program when it last stopped | then for each part: 8 bytes, its size | its notes
"""

import marshal
import os
from collections.abc import Iterator
from typing import Final

from ...connection.descriptor import OwnDescriptor

_HEAD: Final = 8
_MOST: Final = 1000
"""NotedCalls that are gathered."""

type Note = tuple[int, str, int, object]
"""The clock, the name of the call, a number for what it was called with, and its result as `values` has it."""


class Log:
    """The notes of one program.

    Attributes:
        is_lost: whether the program has closed the file, as one does that closes all descriptors.

    """

    def __init__(self) -> None:
        """Make the file."""
        self._own = OwnDescriptor(os.memfd_create("dapkit-log", os.MFD_CLOEXEC))
        self.file = self._own.number
        self.is_lost = False
        self._end = _HEAD
        self._gathered: list[Note] = []
        self._notes: Iterator[Note] | None = None
        self._next: Note | None = None
        self.stop_at(0)

    def note(self, note: Note) -> None:
        """Append a note."""
        self._gathered.append(note)
        if len(self._gathered) >= _MOST:
            self.flush()

    def flush(self) -> None:
        """Have all that was noted by now in the file."""
        if self._gathered:
            content = marshal.dumps(self._gathered)
            self._gathered.clear()
            self._write(len(content).to_bytes(_HEAD), self._end)
            self._write(content, self._end + _HEAD)
            self._end += _HEAD + len(content)

    def stop_at(self, clock: int) -> None:
        """Take note of the clock where the live program stands."""
        self.flush()
        self._write(clock.to_bytes(_HEAD), 0)

    def last_stop(self) -> int:
        """Return the clock where the live program stands."""
        return int.from_bytes(os.pread(self.file, _HEAD, 0))

    def take(self) -> Note | None:
        """Return the next note, in a process of the past; None after the last."""
        note = self.peek()
        self._next = None
        return note

    def peek(self) -> Note | None:
        """Return what `take` will return."""
        if self._next is None:
            if self._notes is None:
                self._notes = self._read()
            self._next = next(self._notes, None)
        return self._next

    def _read(self) -> Iterator[Note]:
        place = self._end
        while size := int.from_bytes(os.pread(self.file, _HEAD, place)):
            yield from marshal.loads(os.pread(self.file, size, place + _HEAD))  # noqa: S302 - our own
            place += _HEAD + size

    def _write(self, content: bytes, place: int) -> None:
        self.is_lost = self.is_lost or not self._own.is_ours()
        while content and not self.is_lost:
            written = os.pwrite(self.file, content, place)
            content, place = content[written:], place + written
