"""Log messages between what the program has written before and after them.

A message and the pipes have the same mark (`debuggee.connection.output_marks`). A pipe is passed on up to a mark, and
then waits until the message has been; a message waits until each pipe that has its mark has come to it. Threads may
send messages in another order than they made the marks: then a pipe goes on once a later message waits for it.
"""

import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from math import inf
from typing import Final

import anyio

from dapkit import limits
from dapkit.python.debuggee.connection.output_marks import MARK_BEGINS
from dapkit.transport import Pulse

_BEGINS: Final = MARK_BEGINS.encode("ascii")
_MARK: Final = re.compile(MARK_BEGINS + r"(\d{1,18}):(\d)" + "\0")
_MARKS: Final = re.compile(b"(?:" + _BEGINS + rb"(\d{1,18}):\d" + b"\0)+")
"""Marks with nothing between them; what counts is the last. A number that Python would not read is none."""

STDOUT: Final = 1
STDERR: Final = 2


class MarkedOutput:
    """How far the pipes and the messages of one program have come."""

    def __init__(self) -> None:
        self._reached: dict[int, float] = {STDOUT: 0, STDERR: 0}
        self._passed_on = 0
        self._wanted = 0
        self._hurrying = 0
        self._pulse = Pulse()

    async def come_to(self, pipe: int, mark: int) -> None:
        """Take note that a pipe was passed on up to a mark; wait for the message."""
        self._reached[pipe] = max(self._reached[pipe], mark)
        self._pulse.beat()
        with anyio.move_on_after(limits.MARK_SECONDS):
            await self._pulse.until(lambda: max(self._passed_on, self._wanted - 1) >= mark or self._hurrying > 0)

    def release(self) -> None:
        """Have no pipe wait for a message from here on: there are none any more."""
        self._wanted = sys.maxsize
        self._pulse.beat()

    def end(self, pipe: int) -> None:
        """Take note that nothing more comes from a pipe."""
        self._reached[pipe] = inf
        self._pulse.beat()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Have no pipe wait for a message, until the last such block ends."""
        self._hurrying += 1
        self._pulse.beat()
        try:
            yield
        finally:
            self._hurrying -= 1

    async def in_order(self, text: str) -> AsyncIterator[str]:
        """Return messages when it is their turn: together, if the program has written nothing in between."""
        pieces = _MARK.split(text)
        waiting = pieces[0]
        last = 0
        for mark, pipes, message in zip(map(int, pieces[1::3]), map(int, pieces[2::3]), pieces[3::3], strict=True):
            if not self._is_reached(mark, pipes):
                if waiting:
                    yield waiting
                waiting = ""
                self._pass_on(last)
                await self._wait_for(mark, pipes)
            waiting += message
            last = max(last, mark)
        if waiting:
            yield waiting
        self._pass_on(last)

    def _is_reached(self, mark: int, pipes: int) -> bool:
        return all(reached >= mark for pipe, reached in self._reached.items() if pipe & pipes)

    async def _wait_for(self, mark: int, pipes: int) -> None:
        self._wanted = max(self._wanted, mark)
        self._pulse.beat()
        with anyio.move_on_after(limits.MARK_SECONDS):
            await self._pulse.until(lambda: self._is_reached(mark, pipes))

    def _pass_on(self, mark: int) -> None:
        self._passed_on = max(self._passed_on, mark)
        self._pulse.beat()


def parts(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Split what was read where there are marks: each part with the mark that it ends with, or 0."""
    if _BEGINS not in data:
        yield data, 0
        return
    pieces = _MARKS.split(data)
    yield from zip(pieces[::2], [*map(int, pieces[1::2]), 0], strict=True)


def begun_mark(data: bytes) -> int:
    """Return how many bytes at the end of what was read may be the beginning of a mark."""
    tail = data[-limits.MARK_BYTES :]
    begins = tail.rfind(_BEGINS[:2])
    if begins >= 0 and b"\0" not in tail[begins + 1 :]:
        return len(tail) - begins
    is_whole = begins >= 0 and _MARKS.fullmatch(tail[begins:])
    return 1 if tail.endswith(b"\0") and not is_whole else 0
