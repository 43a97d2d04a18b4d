"""The writing half of the pump: an endpoint's messages, to a stream.

A message leaves at once, in the call that made it, where nothing waits before it and the stream can write
without waiting (`ImmediateSender`). Messages that the stream does not accept then, and messages that are joined with
others of the same turn of the event loop, are written by a task: output always is.
"""

from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.endpoint import Endpoint
from dapkit.transport.state_change import StateChange

type Tap = Callable[[Literal["sent", "received"], bytes], None]
"""Told of all bytes as they pass, before they are understood; must not raise."""


@runtime_checkable
class ImmediateSender(Protocol):
    """A stream that can write without waiting."""

    def send_now(self, item: bytes) -> int:
        """Write as much as goes at once, and say how much; 0 as well where `send` would raise."""


class Writer:
    """Writes an endpoint's messages.

    Invariant: bytes taken from the endpoint are written before others are taken; `_rest` are the bytes that were taken
    and are not being written yet.
    """

    def __init__(self, stream: ByteStream, endpoint: Endpoint, tap: Tap | None) -> None:
        self._stream = stream
        self._immediate = stream if isinstance(stream, ImmediateSender) else None
        self._endpoint = endpoint
        self._tap = tap
        self._rest = b""
        self._is_sending = False
        self._is_over = False
        self._wake = StateChange()
        self._written = StateChange()

    def notify(self) -> None:
        """Write the endpoint's messages, now as far as that is possible, the rest soon."""
        if self._immediate is not None and not (self._is_sending or self._is_over):
            while data := self._take():
                self._rest = data[self._immediate.send_now(data) :]
                self._written.notify()
        if self._rest or self._is_sending or self._immediate is None:
            self.notify_later()

    def notify_later(self) -> None:
        """Let the task write the endpoint's messages."""
        self._wake.notify()

    async def run(self) -> str:
        """Write until that is not possible any more; return why."""
        try:
            while True:
                await self._wake.until(self._has_bytes)
                self.notify()
                while data := self._rest or self._take():
                    await self._send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            problem = "the peer closed the connection"
        except TimeoutError:
            problem = f"the peer took nothing for {limits.SEND_SECONDS:g} s"
        self._is_over = True
        self._written.notify()
        return problem

    async def flush(self) -> None:
        """Wait until everything that may leave has left, or nothing can leave any more."""
        await self.until(lambda: self._is_over or not (self._is_sending or self._has_bytes()))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that something written may make true; `recheck` checks it again."""
        await self._written.until(condition)

    def recheck(self) -> None:
        """Make the tasks that wait in `until` check their conditions again."""
        self._written.notify()

    def _has_bytes(self) -> bool:
        return bool(self._rest) or self._endpoint.has_bytes_to_send()

    def _take(self) -> bytes:
        """Take some frames, unless others wait."""
        if self._rest:
            return b""
        data = self._endpoint.bytes_to_send()
        if data and self._tap is not None:
            self._tap("sent", data)
        return data

    async def _send(self, data: bytes) -> None:
        self._rest, self._is_sending = b"", True
        for start in range(0, len(data), limits.WRITE_CHUNK_BYTES):
            with anyio.CancelScope(deadline=anyio.current_time() + limits.SEND_SECONDS) as deadline:
                await self._stream.send(data[start : start + limits.WRITE_CHUNK_BYTES])
            if deadline.cancelled_caught:
                raise TimeoutError
        self._is_sending = False
        self._written.notify()
