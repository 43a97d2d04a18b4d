"""Log messages in their place within the program's output, by marks in its pipes and by memory shared with the engine.

Messages are numbered, and say which mark of each pipe they are behind (`debuggee.connection.output_marks`). A message
waits until the pipes have come to these marks. A pipe waits for messages, too:

    output before a mark waits for the messages with lower numbers than the mark; they found nothing to mark
    output without a mark after it waits for all messages that the engine has made so far, unless one of
                                them waits for a mark of this pipe that is still to come

Threads may send messages in another order than they made the marks: then a pipe goes on once a later message waits for
it.

In the shared memory the adapter notes how much it has read from each pipe of the program, and the engine how many log
messages there are. So the engine knows whether a pipe was written to since its last mark, without a mark for each
message (`native/output.c` of the debuggee), and the adapter knows whether messages are on their way that precede the
output it has read. The engine finds the memory by the path of a descriptor of dapkit. It is a help, and no more: an
engine in another container, or without the extension, marks the pipes for each message.
"""

import mmap
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from math import inf
from typing import Final, Self

import anyio

from dapkit.python import limits
from dapkit.python.debuggee.connection.output_marks import MARK_BEGINS
from dapkit.system.this_system import SYSTEM
from dapkit.transport import StateChange

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
        """Make some; None where the system cannot, or refuses."""
        try:
            fd = SYSTEM.shared_memory("dapkit-output", _WORDS * _WORD_BYTES)
        except OSError:
            return None
        return None if fd is None else cls(fd)

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


_BEGINS: Final = MARK_BEGINS.encode("ascii")
_POSITION: Final = re.compile(MARK_BEGINS + r"(\d{1,18}):(\d{1,18}):(\d{1,18})" + "\0")
"""The prefix of texts: the number of the last of them, and the marks of stdout and stderr that precede them."""
_MARKS: Final = re.compile(b"(?:" + _BEGINS + rb"(\d{1,18})" + b"\0)+")
"""Marks without text between them; the last one counts. A number that Python would not read is not a mark."""


class MarkedOutput:
    """How far the pipes and the messages of one program have come.

    Attributes:
        memory: memory that the engine shares with the adapter; None for an engine that marks the pipes for each
            message.

    """

    def __init__(self, memory: OutputMemory | None = None) -> None:
        self.memory = memory
        self._reached: dict[int, float] = {STDOUT: 0, STDERR: 0}
        self._wanted = {STDOUT: 0, STDERR: 0}
        self._passed_on: float = 0
        self._hurrying = 0
        self._updates = StateChange()

    async def wait_in(self, pipe: int, before: int = 0) -> None:
        """Wait for the messages that precede the next output of a pipe, up to the next mark."""
        reached = self._reached[pipe]
        if before:
            last = max(before - 1, reached)
        else:
            last = reached if self.memory is None else max(self.memory.messages, reached)

        def is_next() -> bool:
            return self._passed_on >= last or self._wanted[pipe] > reached or self._hurrying > 0

        if is_next():
            return
        with anyio.move_on_after(limits.MARK_SECONDS) as waiting:
            await self._updates.until(is_next)
        if waiting.cancelled_caught:  # they are lost
            self._pass_on(last)

    def come_to(self, pipe: int, mark: int) -> None:
        """Record that a pipe was passed on up to a mark."""
        self._reached[pipe] = max(self._reached[pipe], mark)
        self._updates.notify()

    def release(self) -> None:
        """Stop all waiting of pipes for messages: no further messages will come."""
        self._wanted = {STDOUT: sys.maxsize, STDERR: sys.maxsize}
        self._updates.notify()

    def end(self, pipe: int) -> None:
        """Record that nothing more comes from a pipe."""
        self._reached[pipe] = inf
        self._updates.notify()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Let no pipe wait for a message, until the last such block ends."""
        self._hurrying += 1
        self._updates.notify()
        try:
            yield
        finally:
            self._hurrying -= 1

    async def in_order(self, text: str) -> AsyncIterator[str]:
        """Return messages when it is their turn: together, if the program has written nothing in between."""
        waiting, *pieces = _POSITION.split(text)
        last = 0
        for at in range(0, len(pieces), 4):
            number, stdout, stderr = map(int, pieces[at : at + 3])
            marks = {STDOUT: stdout, STDERR: stderr}
            if not self._is_reached(marks):
                if waiting:
                    yield waiting
                waiting = ""
                self._pass_on(last)
                await self._wait_for(marks)
            waiting += pieces[at + 3]
            last = max(last, number)
        if waiting:
            yield waiting
        self._pass_on(last)

    def _is_reached(self, marks: dict[int, int]) -> bool:
        return all(self._reached[pipe] >= mark for pipe, mark in marks.items())

    async def _wait_for(self, marks: dict[int, int]) -> None:
        for pipe, mark in marks.items():
            self._wanted[pipe] = max(self._wanted[pipe], mark)
        self._updates.notify()
        with anyio.move_on_after(limits.MARK_SECONDS):
            await self._updates.until(lambda: self._is_reached(marks))

    def _pass_on(self, number: float) -> None:
        self._passed_on = max(self._passed_on, number)
        self._updates.notify()


def length(text: str) -> int:
    """Return the number of characters in messages without their prefixes."""
    return sum(map(len, _POSITION.split(text)[::4])) if MARK_BEGINS in text else len(text)


def parts(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Split the data where there are marks: each part with the mark that ends it, or 0."""
    if _BEGINS not in data:
        yield data, 0
        return
    pieces = _MARKS.split(data)
    yield from zip(pieces[::2], [*map(int, pieces[1::2]), 0], strict=True)


def begun_mark(data: bytes) -> int:
    """Return the number of bytes at the end of the data that may be the beginning of a mark."""
    tail = data[-limits.MARK_BYTES :]
    begins = tail.rfind(_BEGINS[:2])
    if begins >= 0 and b"\0" not in tail[begins + 1 :]:
        return len(tail) - begins
    is_whole = begins >= 0 and _MARKS.fullmatch(tail[begins:])
    return 1 if tail.endswith(b"\0") and not is_whole else 0
