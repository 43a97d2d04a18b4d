"""The listener of a program that clients attach to: its address, and which clients it accepts.

A client can run any code in the program, so none gets past the first frame without the token, or, where none is
asked for, without being a process of our own user. The first bytes have to be those of a DAP message: HTTP and
the like is closed at its first letter. While a client is attached, others get an error that says so, and are closed.

    client    {"seq":1,"type":"request","command":"dapkit/authenticate","arguments":{"token":"..."}}
    program   {"seq":1,"type":"response","request_seq":1,"success":true,"command":"dapkit/authenticate"}

Then the session begins, its messages numbered anew. Nothing here waits: sockets do not block, and
a connection that takes too long is closed.
"""

import _socket
import _struct  # the C half of `struct`
import os
import select
from collections.abc import Callable
from time import monotonic

from .. import limits
from ..errors import MalformedFrame
from . import tokens
from .wire import FrameReader, Json, encode

AUTHENTICATE = "dapkit/authenticate"
_BEGINNING = b"content-length:"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

type ListenAddress = tuple[str, int] | str
"""Host and port, or the path of a unix socket."""


class AcceptedClient:
    """A client that was accepted: the connection, and what it has sent of the session already."""

    def __init__(self, connection: _socket.socket, said: bytes) -> None:
        self.connection = connection
        self.said = said


class _PendingConnection:
    """A connection that has not been accepted yet."""

    def __init__(self, connection: _socket.socket) -> None:
        self.connection = connection
        self.said = b""
        self.until = monotonic() + limits.TOKEN_SECONDS


class ClientListener:
    """A listening socket, and the connections that have not been accepted yet.

    Invariant: `watched` has a descriptor for the socket and for each pending connection.

    Attributes:
        place: its address.
        watched: what to do when a descriptor can be read.
        arrived: the client that was accepted last; `wait` takes it.

    """

    def __init__(self, place: ListenAddress, token: str | None, *, allow_remote: bool) -> None:
        self._listening = _listening(place, allow_remote=allow_remote)
        self.place: ListenAddress = place if isinstance(place, str) else (place[0], self._listening.getsockname()[1])
        self._token = token
        self._trusts = allow_remote and token is None
        self._pending: dict[int, _PendingConnection] = {}
        self.watched: dict[int, Callable[[], None]] = {self._listening.fileno(): self._open}
        self.arrived: AcceptedClient | None = None
        self.occupied = False

    def wait(self) -> AcceptedClient:
        """Wait for a client."""
        self.occupied = False
        while self.arrived is None:
            poll = select.poll()
            for handle in self.watched:
                poll.register(handle, select.POLLIN)
            for handle, _ in poll.poll(limits.LISTENER_MILLISECONDS if self._pending else None):
                if handle in self.watched:
                    self.watched[handle]()
            self.dismiss_slow()
        client, self.arrived = self.arrived, None
        self.occupied = True
        return client

    def dismiss_slow(self) -> None:
        """Close the connections that have sent nothing valid for too long."""
        now = monotonic()
        for pending in [waiting for waiting in self._pending.values() if waiting.until < now]:
            self._dismiss(pending)

    def close(self) -> None:
        """Listen no more."""
        for pending in list(self._pending.values()):
            self._dismiss(pending)
        self.watched.clear()
        self._listening.close()
        if isinstance(self.place, str):
            try:
                os.unlink(self.place)
            except OSError:
                return  # it was removed already

    def _open(self) -> None:
        try:
            handle, _ = self._listening._accept()  # type: ignore[attr-defined]  # what socket.accept is made of
        except OSError:
            return  # it went away again
        connection = _socket.socket(fileno=handle)
        connection.setblocking(False)  # noqa: FBT003 - its only parameter
        if len(self._pending) >= limits.PENDING_CONNECTIONS or not self._may_come(connection):
            connection.close()
            return
        pending = self._pending[handle] = _PendingConnection(connection)
        self.watched[handle] = lambda: self._listen_to(pending)

    def _may_come(self, connection: _socket.socket) -> bool:
        """Say whether a connection may send anything: without a token it has to be of our own user."""
        if connection.family == _socket.AF_UNIX:
            return _user_behind(connection) == os.geteuid()
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        return self._token is not None or self._trusts or _user_on_loopback(connection) == os.geteuid()

    def _listen_to(self, pending: _PendingConnection) -> None:
        try:
            data = pending.connection.recv(limits.TOKEN_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        pending.said += data
        request = _request_in(pending.said)
        if not data or request is None:
            self._dismiss(pending)
        elif request:
            self._judge(pending, request)

    def _judge(self, pending: _PendingConnection, request: Json) -> None:
        shows = request.get("command") == AUTHENTICATE
        arguments = request.get("arguments")
        shown = arguments.get("token") if isinstance(arguments, dict) else None
        if self.occupied or self.arrived is not None:
            self._answer(pending, request, "another client is attached to the program, and only one can be")
        elif self._token is not None and not shows:
            self._answer(pending, request, f"the first request has to be {AUTHENTICATE}, with the token of the program")
        elif self._token is not None and not tokens.same(shown, self._token):
            self._answer(pending, request, "the token is not that of the program")
        else:
            if shows:
                self._answer(pending, request, None)
            self._forget(pending)
            pending.connection.setblocking(True)  # noqa: FBT003 - its only parameter
            self.arrived = AcceptedClient(pending.connection, b"" if shows else pending.said)

    def _answer(self, pending: _PendingConnection, request: Json, objection: str | None) -> None:
        answer: Json = {
            "seq": 1,
            "type": "response",
            "request_seq": request.get("seq", 0),
            "success": objection is None,
            "command": request.get("command", ""),
        }
        if objection is not None:
            answer |= {"message": objection, "body": {"error": {"id": 1, "format": objection}}}
        try:
            pending.connection.send(encode(answer))
        except OSError:
            objection = "gone"
        if objection is not None:
            self._dismiss(pending)

    def _dismiss(self, pending: _PendingConnection) -> None:
        self._forget(pending)
        pending.connection.close()

    def _forget(self, pending: _PendingConnection) -> None:
        handle = pending.connection.fileno()
        self._pending.pop(handle, None)
        self.watched.pop(handle, None)


def _request_in(said: bytes) -> Json | None:
    """Return the first message of a connection, an empty one if it is incomplete, None if it is invalid."""
    beginning = said[: len(_BEGINNING)].lower()
    if not _BEGINNING.startswith(beginning) or len(said) > limits.TOKEN_MESSAGE_BYTES:
        return None
    try:
        found = FrameReader().feed(said)
    except MalformedFrame:
        return None
    if not found:
        return {}
    return found[0] if found[0].get("type") == "request" else None


def _listening(place: ListenAddress, *, allow_remote: bool) -> _socket.socket:
    if isinstance(place, str):
        return _listening_on_path(place)
    host, port = place
    if not allow_remote and host not in _LOOPBACK and not host.startswith("127."):
        raise ValueError(f"{host} can be reached from other machines: listen on 127.0.0.1, or say allow_remote=True")
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    listening = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK | _socket.SOCK_CLOEXEC)
    try:
        listening.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(limits.PENDING_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    return listening


def _listening_on_path(path: str) -> _socket.socket:
    listening = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK | _socket.SOCK_CLOEXEC)
    try:
        os.fchmod(listening.fileno(), 0o600)  # Linux: bind makes the file with the mode of the socket
        listening.bind(path)
        listening.listen(limits.PENDING_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    return listening


def _user_behind(connection: _socket.socket) -> int:
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _struct.calcsize("3i"))
    return int(_struct.unpack("3i", credentials)[1])


def _user_on_loopback(connection: _socket.socket) -> int | None:
    """Return the user at the other end of a connection within this machine; None if that is not known."""
    try:
        wanted = [_as_in_table(connection.getpeername()), _as_in_table(connection.getsockname())]
        with open("/proc/net/tcp6" if connection.family == _socket.AF_INET6 else "/proc/net/tcp") as table:
            for line in table:
                fields = line.split()
                if fields[1:3] == wanted:
                    return int(fields[7])
    except OSError:
        return None
    return None


def _as_in_table(address: tuple[str, int]) -> str:
    """Return an address as /proc/net/tcp shows it: words of four bytes in the byte order of the machine."""
    family = _socket.AF_INET6 if ":" in address[0] else _socket.AF_INET
    packed = _socket.inet_pton(family, address[0])
    words = _struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"
