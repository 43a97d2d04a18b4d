"""Byte streams over file descriptors, waiting in the event loop and never in a thread.

Whether a descriptor may be set non-blocking is its owner's business, since the
flag belongs to the open file, which other processes may share: the reader waits
before it reads, and the writer is given a `write` that does not block.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint
from anyio.streams.stapled import StapledByteStream

from dapkit import limits
from dapkit.transport.intake import Intake

type Write = Callable[[memoryview], int]
"""Writes a part and says how much; raises BlockingIOError where it would have to wait."""


type Read = Callable[[int, int], bytes]
"""As `os.read`."""


class DescriptorReader(ByteReceiveStream):
    """Bytes from a descriptor that this stream owns.

    Args:
        fd: the descriptor.
        read_bytes: reads from it.
        close: closes it.

    """

    def __init__(self, fd: int, *, read_bytes: Read = os.read, close: Callable[[], None] | None = None) -> None:
        self._fd = fd
        self._close = close or (lambda: os.close(fd))
        self._intake = Intake(fd, lambda max_bytes: read_bytes(fd, max_bytes))

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        """Take the next bytes."""
        try:
            data = await self._intake.receive(max_bytes)
        except OSError as error:  # a terminal that was hung up, a reset connection
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    def read_now(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes | None:
        """Read without waiting: None if a non-blocking descriptor has nothing, b"" at the end or when closed."""
        return self._intake.receive_now(max_bytes)

    async def aclose(self) -> None:
        """Close the descriptor; who waits in `receive` gets ClosedResourceError."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            self._intake.close()
            await dismiss_waiters(fd)
            self._close()


class DescriptorWriter(ByteSendStream):
    """Bytes to a descriptor that this stream owns.

    Args:
        fd: the descriptor; `close` closes it.
        write: writes to it without blocking.

    """

    def __init__(self, fd: int, *, write: Write, close: Callable[[], None]) -> None:
        self._fd = fd
        self._write = write
        self._close = close

    @classmethod
    def over(cls, fd: int) -> Self:
        """Write to a descriptor that is non-blocking, or that never blocks."""
        return cls(fd, write=lambda data: os.write(fd, data), close=lambda: os.close(fd))

    async def send(self, item: bytes) -> None:
        """Write everything."""
        rest = memoryview(item)
        await checkpoint()
        while rest:
            if self._fd < 0:
                raise anyio.ClosedResourceError
            try:
                rest = rest[self._write(rest) :]
            except BlockingIOError:
                await _ready(anyio.wait_writable, self._fd)
            except OSError as error:
                raise anyio.BrokenResourceError from error

    def send_now(self, item: bytes) -> int:
        """Write as much as goes at once."""
        if self._fd < 0:
            return 0
        try:
            return self._write(memoryview(item))
        except OSError:  # full; or broken, and then `send` says so
            return 0

    async def aclose(self) -> None:
        """Close the descriptor; who waits in `send` gets ClosedResourceError."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            await dismiss_waiters(fd)
            self._close()


@dataclass(eq=False)
class DescriptorStream(StapledByteStream):
    """Bytes to one descriptor and from another."""

    send_stream: DescriptorWriter
    receive_stream: DescriptorReader

    def send_now(self, item: bytes) -> int:
        """Write as much as goes at once."""
        return self.send_stream.send_now(item)


async def dismiss_waiters(fd: int) -> None:
    """Wake who waits for a descriptor that is about to be closed.

    They remove their registrations, by the number of the descriptor, and must do so before the system gives that number
    to another: otherwise a task that waits for that one would never wake.
    """
    anyio.notify_closing(fd)
    await cancel_shielded_checkpoint()


async def _ready(wait: Callable[[int], Awaitable[None]], fd: int) -> None:
    if fd < 0:
        raise anyio.ClosedResourceError
    try:
        await wait(fd)
    except PermissionError:  # epoll does not take regular files, which are always ready
        await checkpoint()
