"""Bytes that come in at a descriptor, which stays registered with the event loop while its owner goes on reading.

`anyio.wait_readable` registers a descriptor for each wait and unregisters it after that, which costs several times as
much as the read. Here, on asyncio, that happens once, and bytes are read as soon as the loop finds that there are some.
On another event loop it is `anyio.wait_readable`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint

from dapkit.transport.tasks import asyncio_loop

if TYPE_CHECKING:
    import asyncio

type Read = Callable[[int], bytes]
"""Reads at most so many bytes, once there are some; raises BlockingIOError if there are no bytes after all."""


class Intake:
    """The input of one descriptor, for one reader at a time.

    Invariant: nothing is read without a request. Data that was read for a reader who was cancelled meanwhile is
    kept for the next.

    Args:
        fd: the descriptor; its owner closes it, after `close`.
        read: reads from it.

    """

    def __init__(self, fd: int, read_bytes: Read) -> None:
        self._fd = fd
        self._read = read_bytes
        self._held: bytes | OSError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._max_bytes = 0
        self._loop: asyncio.AbstractEventLoop | None = None  # where the descriptor is registered

    async def receive(self, max_bytes: int) -> bytes:
        """Take the next bytes, b"" at the end.

        Raises:
            ClosedResourceError: it was closed, before or meanwhile.
            BusyResourceError: another reader waits already.
            OSError: they cannot be read.

        """
        while (data := self._taken(max_bytes)) is None:
            if self._fd < 0:
                raise anyio.ClosedResourceError
            await self._wait(max_bytes)
        return data

    def receive_now(self, max_bytes: int) -> bytes | None:
        """Take bytes without waiting: None if a non-blocking descriptor has no bytes, b"" at the end or when closed.

        Raises:
            OSError: they cannot be read.

        """
        if self._fd < 0:
            return b""
        if (data := self._taken(max_bytes)) is not None:
            return data
        try:
            return self._read(max_bytes)
        except BlockingIOError:
            return None

    def close(self) -> None:
        """Take the descriptor back from the event loop, and wake who waits for it."""
        self._unregister()
        self._fd = -1
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _taken(self, max_bytes: int) -> bytes | None:
        data, self._held = self._held, None
        if isinstance(data, OSError):
            raise data
        if data is not None and len(data) > max_bytes:
            data, self._held = data[:max_bytes], data[max_bytes:]
        return data

    async def _wait(self, max_bytes: int) -> None:
        """Wait until something is held, mostly, or the descriptor is closed."""
        if self._waiter is not None:
            raise anyio.BusyResourceError("reading from")
        self._max_bytes = max_bytes
        try:
            loop = self._loop or self._registered()
            if loop is None:
                await anyio.wait_readable(self._fd)
                self._hold()
            else:
                self._waiter = loop.create_future()
                await self._waiter
        except PermissionError:  # epoll does not take regular files, which are always ready
            await checkpoint()
            self._hold()
        finally:
            self._waiter = None

    def _hold(self) -> None:
        try:
            self._held = self._read(self._max_bytes)
        except BlockingIOError:
            return
        except OSError as error:
            self._held = error

    def _on_readable(self) -> None:
        if self._waiter is None or self._waiter.done():
            self._unregister()  # else the loop would tell us again and again
            return
        self._hold()
        if self._held is not None:
            self._waiter.set_result(None)

    def _registered(self) -> "asyncio.AbstractEventLoop | None":
        """Register the descriptor with the event loop; return that, None if it is not one of asyncio."""
        if (loop := asyncio_loop()) is not None:
            try:
                loop.add_reader(self._fd, self._on_readable)
            except NotImplementedError:  # the usual loop of Windows, for which anyio waits in a thread
                return None
            self._loop = loop
        return loop

    def _unregister(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop = None
