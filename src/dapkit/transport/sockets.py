"""Byte streams over sockets, TCP and unix alike, without a thread or a transport in between.

Messages leave at once: Nagle's algorithm, which holds a small message back for
40 ms while another is on its way, is switched off for each TCP connection.
"""

import socket

import anyio
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint

from dapkit import limits
from dapkit.system.socket_options import error_text
from dapkit.transport.descriptors import dismiss_waiters
from dapkit.transport.intake import Intake

type Address = tuple[str, int] | str
"""Host and port, or the path of a unix socket."""


class SocketStream(ByteStream):
    """Bytes over a connected socket that this stream owns."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)  # noqa: FBT003 - its only parameter
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connected
        self._intake = Intake(connected.fileno(), connected.recv)

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        """Take the next bytes."""
        try:
            data = await self._intake.receive(max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """Hand everything to the kernel."""
        rest = memoryview(item)
        await checkpoint()
        while rest:
            self._check_open()
            try:
                rest = rest[self.socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self.socket)
            except OSError as error:
                raise anyio.BrokenResourceError from error

    def send_now(self, item: bytes) -> int:
        """Hand as much to the kernel as it takes at once."""
        try:
            return self.socket.send(item)
        except OSError:  # full; or broken, and then `send` says so
            return 0

    async def send_eof(self) -> None:
        """Tell the peer that nothing more comes; it may go on sending."""
        self._check_open()
        await checkpoint()
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Close the socket; who waits in `receive` or `send` gets ClosedResourceError."""
        fd = self.socket.detach()
        if fd >= 0:
            self._intake.close()
            await dismiss_waiters(fd)
            socket.close(fd)

    def _check_open(self) -> None:
        if self.socket.fileno() < 0:
            raise anyio.ClosedResourceError


async def connected(family: int, address: Address) -> SocketStream:
    """Connect to one address.

    Raises:
        OSError: no process listens there, or the way there is closed.

    """
    connecting = socket.socket(family, socket.SOCK_STREAM)
    connecting.setblocking(False)  # noqa: FBT003 - its only parameter
    try:
        try:
            connecting.connect(address)
        except BlockingIOError:
            if isinstance(address, str):
                raise  # its queue is full: unlike with TCP nothing is under way
            await anyio.wait_writable(connecting)
            if number := connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(number, error_text(number)) from None
        return SocketStream(connecting)
    except BaseException:
        connecting.close()
        raise
