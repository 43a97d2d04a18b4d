"""Memory that the adapter shares with the engine of a program, for the order of its output and log messages.

The adapter notes how much it has read from each pipe of the program, and the engine how many log messages there are.
So the engine knows whether a pipe was written to since its last mark, without a mark for each message
(`native/output.c` of the debuggee); and the adapter knows whether messages are on their way that precede the output it
has read (`marked_output`).

The engine finds it by the path of a descriptor of dapkit. It is a help, and no more: an engine in another container, or
without the extension, marks the pipes for each message.
"""

import fcntl
import mmap
import os
from typing import Final, Self

STDOUT: Final = 1
STDERR: Final = 2

_MESSAGES: Final = 2
_WORDS: Final = 3
"""One of 64 bits for each pipe, one for the engine; `native/output.c` says the same."""
_WORD_BYTES: Final = 8
_IS_READING: Final = 1
"""In the word of a pipe, the rest of which is the number of bytes, times two."""


class OutputMemory:
    """The memory of one program."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._memory = mmap.mmap(fd, _WORDS * _WORD_BYTES)
        self._words = memoryview(self._memory).cast("Q")

    @classmethod
    def made(cls) -> Self | None:
        """Make some; None where the system refuses."""
        try:
            fd = os.memfd_create("dapkit-output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(fd, _WORDS * _WORD_BYTES)
            # A process that made it smaller would end us at our next look.
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
            return cls(fd)
        except OSError:
            return None

    def place(self) -> tuple[str, int, int]:
        """Return the path by which a process of the same user finds it, and its device and inode."""
        status = os.fstat(self._fd)
        return f"/proc/{os.getpid()}/fd/{self._fd}", status.st_dev, status.st_ino

    @property
    def messages(self) -> int:
        """The number of the last log message of the engine, which may be on its way; 0 if it makes no use of this."""
        return self._words[_MESSAGES]

    def read(self, pipe: int, fd: int, max_bytes: int) -> bytes:
        """Read from a pipe, as `os.read`, and note the length; meanwhile the amount in the pipe cannot be known."""
        words, at = self._words, pipe - 1
        count_before = words[at]
        words[at] = count_before | _IS_READING
        try:
            data = os.read(fd, max_bytes)
        except OSError:
            words[at] = count_before
            raise
        words[at] = count_before + 2 * len(data)
        return data

    def close(self) -> None:
        """Take no more notes."""
        if self._fd >= 0:
            self._words.release()
            self._memory.close()
            os.close(self._fd)
            self._fd = -1
