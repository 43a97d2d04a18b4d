"""The gate that every listener stands behind: who is let in, and how many.

A debug adapter runs whatever its client says, so an open port is an open
machine. Decided here: which addresses may be listened on, whose processes may
connect, and how many connections are held. The token of TCP connections is
checked by `authentication`; that HTTP is refused at its first line is the
work of the frame decoder.
"""

import errno
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits
from dapkit.transport.errors import NotAdmitted, NotPrivate
from dapkit.transport.sockets import SocketStream

log = logging.getLogger(__name__)

type ConnectionHandler = Callable[[ByteStream], Awaitable[object]]
"""Serves one connection; its stream is closed when it returns."""

type Admission = Callable[[SocketStream], Awaitable[ByteStream]]
"""Lets a connection in, or raises NotAdmitted; returns the stream to go on with."""

_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Gate:
    """Accepts connections, lets some of them in and has them served.

    Args:
        admission: decides who is let in.
        handler: serves who was.
        max_connections: how many are served at once; None: any number.

    Invariant: at most `limits.UNADMITTED_CONNECTIONS` are waiting to be let in.

    """

    def __init__(self, admission: Admission, handler: ConnectionHandler, max_connections: int | None) -> None:
        self._admission = admission
        self._handler = handler
        self._max_connections = max_connections
        self._waiting = 0
        self._served = 0

    async def guard(self, listening: socket.socket, tasks: TaskGroup) -> None:
        """Accept connections until cancelled, each served by a task of its own."""
        while True:
            await anyio.wait_readable(listening)
            try:
                accepted, _ = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):  # it went away again
                continue
            except OSError as error:
                if error.errno not in _OUT_OF_RESOURCES:
                    raise
                log.warning("no connection can be accepted now: %s", error.strerror)
                await anyio.sleep(limits.CONNECT_RETRY_SECONDS)
            else:
                tasks.start_soon(self._receive, SocketStream(accepted))

    async def _receive(self, stream: SocketStream) -> None:
        async with stream:
            try:
                admitted = await self._admit(stream)
            except NotAdmitted as refusal:
                log.warning("a connection was refused: %s", refusal)
                return
            self._served += 1
            try:
                await self._handler(admitted)
            except Exception:
                log.exception("the handler of a connection failed")
            finally:
                self._served -= 1

    async def _admit(self, stream: SocketStream) -> ByteStream:
        if self._waiting >= limits.UNADMITTED_CONNECTIONS:
            raise NotAdmitted(f"{self._waiting} others are waiting to be let in")
        self._waiting += 1
        try:
            admitted = await self._admission(stream)
        finally:
            self._waiting -= 1
        if self._max_connections is not None and self._served >= self._max_connections:
            raise NotAdmitted(f"{self._served} connections are served, and no more are allowed")
        return admitted


def listening_address(host: str, *, allow_remote: bool) -> str:
    """IP address to listen on.

    Raises:
        NotPrivate: other machines could reach it, and that was not allowed.

    """
    if host == "localhost":
        return "127.0.0.1"
    import ipaddress

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise NotPrivate(f"{host!r} is not an address to listen on: expected localhost or an IP address") from None
    if not (address.is_loopback or allow_remote):
        raise NotPrivate(f"{host} can be reached from other machines: listen on 127.0.0.1, or allow it explicitly")
    return str(address)


async def admit_everybody(stream: SocketStream) -> ByteStream:
    """Let everyone in."""
    return stream


async def admit_own_user(stream: SocketStream) -> ByteStream:
    """Let in processes of our own user, over a unix socket or loopback TCP.

    Raises:
        NotAdmitted: it is another user's, or its owner cannot be found out.

    """
    unix = stream.socket.family == socket.AF_UNIX
    uid = _unix_peer(stream.socket) if unix else _loopback_peer(stream.socket)
    if uid != os.geteuid():
        whose = "a process that cannot be found" if uid is None else f"user {uid}"
        raise NotAdmitted(f"it comes from {whose}, expected user {os.geteuid()}")
    return stream


def _unix_peer(connected: socket.socket) -> int:
    credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _pid, uid, _gid = struct.unpack("3i", credentials)
    return int(uid)


def _loopback_peer(connected: socket.socket) -> int | None:
    """User at the other end of a connection within this machine; None if it is gone, or not from here."""
    try:
        wanted = [_as_in_table(connected.getpeername()), _as_in_table(connected.getsockname())]
    except OSError:
        return None
    table = Path("/proc/net/tcp6" if connected.family == socket.AF_INET6 else "/proc/net/tcp")
    for line in table.read_text().splitlines():
        fields = line.split()
        if fields[1:3] == wanted:
            return int(fields[7])
    return None


def _as_in_table(address: tuple[str, int]) -> str:
    """Address and port as /proc/net/tcp shows them: words of four bytes in the byte order of the machine."""
    import ipaddress

    packed = ipaddress.ip_address(address[0]).packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"
