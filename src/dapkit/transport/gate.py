"""The gate that every listener stands behind: who is let in, and how many.

A debug adapter runs whatever its client says, so an open port is an open
machine. Decided here: which addresses may be listened on, whose processes may
connect to a unix socket, and how many connections are held. The token of TCP
connections is asked for by `authentication`: no table of the system says for certain
whose process has made one. That HTTP is refused at its first line is the
work of the frame decoder.
"""

import errno
import logging
import socket
import struct
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits as shared_limits
from dapkit.system.files import user
from dapkit.system.this_system import SYSTEM
from dapkit.transport import limits
from dapkit.transport.errors import NotAdmitted, NotPrivate
from dapkit.transport.sockets import SocketStream

log = logging.getLogger(__name__)

type ConnectionHandler = Callable[[ByteStream], Awaitable[object]]
"""Serves one connection; its stream is closed when it returns."""

type Admission = Callable[[SocketStream], Awaitable[ByteStream]]
"""Lets a connection in, or raises NotAdmitted; returns the stream to continue with."""

_PEER = struct.Struct("3i")  # struct ucred

_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Gate:
    """Accepts connections, lets some of them in and has them served.

    Args:
        admission: decides who is let in.
        handler: serves who was.
        max_connections: how many are served at once; None: any number.

    Invariant: at most `limits.UNADMITTED_CONNECTIONS` are waiting to be let in. One more takes the place of the oldest,
    so that silent connections keep no client out.

    """

    def __init__(self, admission: Admission, handler: ConnectionHandler, max_connections: int | None) -> None:
        self._admission = admission
        self._handler = handler
        self._max_connections = max_connections
        self._waiting: list[anyio.CancelScope] = []
        self._served = 0
        self._refused = 0

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
                await anyio.sleep(shared_limits.CONNECT_RETRY_SECONDS)
            else:
                tasks.start_soon(self._receive, SocketStream(accepted))

    async def _receive(self, stream: SocketStream) -> None:
        async with stream:
            try:
                admitted = await self._admit(stream)
            except NotAdmitted as refusal:
                self._log(refusal)
                return
            self._served += 1
            try:
                await self._handler(admitted)
            except Exception:
                log.exception("the handler of a connection failed")
            finally:
                self._served -= 1

    def _log(self, refusal: NotAdmitted) -> None:
        """Log a refusal, unless there were too many: strangers would fill the disk."""
        self._refused += 1
        if self._refused <= limits.REFUSALS_LOGGED:
            log.warning("a connection was refused: %s", refusal)
        if self._refused == limits.REFUSALS_LOGGED:
            log.warning("further refusals are not logged")

    async def _admit(self, stream: SocketStream) -> ByteStream:
        if len(self._waiting) >= shared_limits.UNADMITTED_CONNECTIONS:
            self._waiting.pop(0).cancel()
        scope = anyio.CancelScope()
        self._waiting.append(scope)
        admitted: ByteStream | None = None
        try:
            with scope:
                admitted = await self._admission(stream)
        finally:
            if scope in self._waiting:
                self._waiting.remove(scope)
        if admitted is None:
            raise NotAdmitted(f"{shared_limits.UNADMITTED_CONNECTIONS} others have come before it was let in")
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


async def admit_own_user(stream: SocketStream) -> ByteStream:
    """Let in processes of our own user and of root, over a unix socket: the kernel says whose process has connected.

    Root may do all that we may, and runs the programs that are debugged by `sudo`.

    Raises:
        NotAdmitted: it is another user's.

    """
    uid = SYSTEM.peer_of(stream.socket)[1]
    if uid not in {0, user()}:
        raise NotAdmitted(f"it comes from user {uid}, expected user {user()}")
    return stream
