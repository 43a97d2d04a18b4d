"""The listener of a program that clients attach to: its address, and which clients it accepts.

A client can run any code in the program, so none gets past the first frames unless it proves that it knows the
token, as the program does in its turn, or, at a unix socket, unless the system says that it is a process of our own
user. The first bytes must belong to a DAP message: HTTP and the like is closed at its first letter. While a client
is attached, others get an error that says so, and are closed.

    client    {"seq":1,"type":"request","command":"dapkit/authenticate","arguments":{"nonce":"..."}}
    program   {"seq":1,"type":"response","request_seq":1,"success":true,"command":"dapkit/authenticate",
               "body":{"nonce":"...","proof":"..."}}
    client    {"seq":2,"type":"request","command":"dapkit/authenticate","arguments":{"proof":"..."}}
    program   {"seq":2,"type":"response","request_seq":2,"success":true,"command":"dapkit/authenticate"}

`dapkit.transport.authentication` describes the proofs. Then the session begins, its messages numbered anew, in the
records of `sealing` unless the port speaks TLS.
Nothing here waits: sockets do not block, a connection that takes too long is closed, and of too many the oldest.
"""

import _socket
import os
from collections.abc import Callable
from time import monotonic

from ..interpreter import limits
from ..interpreter.errors import MalformedFrame
from ..interpreter.gc_tracking import untrack
from ..interpreter.hidden_frames import hidden_frame
from ..system import READABLE, REUSE_OPTION, new_poll, user
from . import local_socket, tokens
from .descriptor import OwnDescriptor
from .framing import FrameReader, Json, encode
from .sealing import RecordSeal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tls import Tls

    type Protection = Tls | RecordSeal
    """The protection of the bytes of a TCP connection."""

AUTHENTICATE = "dapkit/authenticate"
_UNPROVED = (
    f"the first request has to be {AUTHENTICATE}, by which a client proves that it knows the token of the program: "
    "connect by `attach` of dapkit's adapter (python -m dapkit.python), which finds the token of a program on this "
    "machine, or is given its file as `connect.tokenFile`"
)
_BEGINNING = b"content-length:"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

type ListenAddress = tuple[str, int] | str
"""Host and port, or the path of a unix socket."""
type Shown = tuple[str, str | None]
"""The certificate of a port that speaks TLS: its file, and the file of its key if that is another."""


class AcceptedClient:
    """An accepted client: the connection, and the part of the session that it has already sent."""

    def __init__(self, connection: _socket.socket, early: bytes, protection: "Protection | None" = None) -> None:
        self.connection = untrack(connection)
        self.said = early
        self.protection = protection
        untrack(self)


class _PendingConnection:
    """A connection that has not been accepted yet."""

    def __init__(self, connection: _socket.socket, own: OwnDescriptor, tls: "Tls | None") -> None:
        self.connection = connection
        self.own = own
        self.tls = tls
        self.said = b""
        self.reader = FrameReader()
        self.nonces: tuple[str, str] | None = None  # the client's and ours, once it has asked for our proof
        self.until = monotonic() + limits.TOKEN_SECONDS

    def receive(self) -> bytes | None:
        """Return its data so far; None if it has gone.

        Raises:
            BlockingIOError: nothing has come.

        """
        try:
            data = self.connection.recv(limits.TOKEN_MESSAGE_BYTES)
            if self.tls is None or not data:
                return data or None
            plain = self.tls.take(data)
            self.connection.send(self.tls.outgoing())
        except BlockingIOError:
            raise
        except OSError:
            return None
        return plain

    def send(self, data: bytes) -> None:
        """Send it something."""
        self.connection.send(data if self.tls is None else self.tls.wrap(data))


class ClientListener:
    """A listening socket, and the connections that have not been accepted yet.

    Invariant: `watched` has a descriptor for the socket and for each pending connection.

    Args:
        token: the secret that clients of a port must know; a unix socket needs no token.
        shown: the certificate, for a port that speaks TLS.

    Attributes:
        place: its address.
        watched: functions to call when a descriptor can be read.
        arrived: the client that was accepted last; `wait` takes it.

    """

    def __init__(
        self, place: ListenAddress, token: str | None, *, allow_remote: bool, certificate: Shown | None = None
    ) -> None:
        self._new_end = _ends_showing(certificate) if certificate is not None else lambda: None
        self._own = OwnDescriptor(_listening(place, allow_remote=allow_remote).detach())
        self._listening = self._own.socket()
        self.place: ListenAddress = place if isinstance(place, str) else (place[0], self._listening.getsockname()[1])
        self._token = token
        self._pending: dict[int, _PendingConnection] = {}
        self.watched: dict[int, Callable[[], None]] = {self._listening.fileno(): self._open}
        self.arrived: AcceptedClient | None = None
        self.occupied = False

    @hidden_frame
    def wait(self) -> AcceptedClient | None:
        """Wait for a client; none will come once the program has closed the socket."""
        self.occupied = False
        while self.arrived is None:
            if not self._own.is_ours():
                return None
            poll = new_poll()
            for handle in self.watched:
                poll.register(handle, READABLE)
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
        self._listening.detach()
        self._own.close()
        if isinstance(self.place, str):
            try:
                os.unlink(self.place)
            except OSError:
                return  # it was removed already

    def _open(self) -> None:
        if not self._own.is_ours():
            self.watched.pop(self._own.number, None)
            return
        try:
            handle, _ = self._listening._accept()  # type: ignore[attr-defined]  # the base of socket.accept
        except OSError:
            return  # it went away again
        own = OwnDescriptor(handle)
        handle, connection = own.number, own.socket()
        connection.setblocking(False)  # noqa: FBT003 - its only parameter
        if not self._may_come(connection):
            connection.close()
            return
        if len(self._pending) >= limits.PENDING_CONNECTIONS:
            self._dismiss(next(iter(self._pending.values())))
        pending = self._pending[handle] = _PendingConnection(connection, own, self._new_end())
        self.watched[handle] = lambda: self._listen_to(pending)

    def _may_come(self, connection: _socket.socket) -> bool:
        """Return whether a connection may send anything: at a unix socket it must be of our own user."""
        if isinstance(self.place, str):
            return local_socket.user_of(connection) == user()
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        return True

    def _listen_to(self, pending: _PendingConnection) -> None:
        if not pending.own.is_ours():
            self._dismiss(pending)
            return
        try:
            data = pending.receive()
        except BlockingIOError:
            return
        pending.said += data or b""
        if data is None or not _may_begin(pending.said):
            self._dismiss(pending)
            return
        for place in range(len(data)):  # byte by byte: data after a frame may belong to the session
            try:
                messages = pending.reader.feed(data[place : place + 1])
            except MalformedFrame:
                self._dismiss(pending)
                return
            if messages and not self._take(pending, messages[0], data[place + 1 :]):
                return

    def _take(self, pending: _PendingConnection, request: Json, rest: bytes) -> bool:
        """Take a message of a pending connection; return whether it is to say more before it is accepted."""
        if request.get("type") != "request":
            self._dismiss(pending)
            return False
        if self._token is None:
            self._accept(pending, request, pending.said)
            return False
        if pending.nonces is None:
            return self._prove(pending, request, self._token)
        proof = _arguments(request).get("proof")
        expected = tokens.proof_of("client", self._token, self._port, *pending.nonces)
        if request.get("command") != AUTHENTICATE or not tokens.same(proof, expected):
            self._answer(pending, request, "the token is not the program's token")
        else:
            self._accept(pending, request, rest, answer=True)
        return False

    def _prove(self, pending: _PendingConnection, request: Json, token: str) -> bool:
        """Prove to a client that we know the token, and ask it for the same."""
        theirs = _arguments(request).get("nonce")
        if request.get("command") != AUTHENTICATE or not isinstance(theirs, str) or not tokens.is_nonce(theirs):
            self._answer(pending, request, _UNPROVED)
            return False
        pending.nonces = theirs, tokens.make_nonce()
        proof = tokens.proof_of("server", token, self._port, *pending.nonces)
        return self._answer(pending, request, None, {"nonce": pending.nonces[1], "proof": proof})

    @property
    def _port(self) -> int:
        return self.place[1] if isinstance(self.place, tuple) else 0

    def _accept(self, pending: _PendingConnection, request: Json, early: bytes, *, answer: bool = False) -> None:
        if self.occupied or self.arrived is not None:
            self._answer(pending, request, "another client is attached to the program, and only one can be")
            return
        if answer and not self._answer(pending, request, None):
            return
        protection: Protection | None = pending.tls
        if protection is None and self._token is not None and pending.nonces is not None:
            client_key, server_key = tokens.record_keys(self._token, self._port, *pending.nonces)
            protection = RecordSeal(server_key, client_key)
            try:
                early = protection.take(early)
            except OSError:
                self._dismiss(pending)
                return
        self._forget(pending)
        pending.connection.setblocking(True)  # noqa: FBT003 - its only parameter
        self.arrived = AcceptedClient(pending.connection, early, protection)

    def _answer(
        self, pending: _PendingConnection, request: Json, objection: str | None, body: Json | None = None
    ) -> bool:
        """Answer a request, and dismiss its sender if there is an objection; return whether it is still there."""
        answer: Json = {
            "seq": request.get("seq", 0),
            "type": "response",
            "request_seq": request.get("seq", 0),
            "success": objection is None,
            "command": request.get("command", ""),
        }
        if objection is not None:
            answer |= {"message": objection, "body": {"error": {"id": 1, "format": objection}}}
        elif body is not None:
            answer["body"] = body
        try:
            pending.send(encode(answer))
        except OSError:
            objection = "gone"
        if objection is not None:
            self._dismiss(pending)
        return objection is None

    def _dismiss(self, pending: _PendingConnection) -> None:
        self._forget(pending)
        pending.connection.detach()
        pending.own.close()

    def _forget(self, pending: _PendingConnection) -> None:
        handle = pending.own.number
        self._pending.pop(handle, None)
        self.watched.pop(handle, None)


def _ends_showing(certificate: Shown) -> "Callable[[], Tls]":
    """Return the local end of a TLS connection."""
    from .tls import Tls, server_context

    context = server_context(*certificate)
    return lambda: Tls(context, serves=True)


def _may_begin(data: bytes) -> bool:
    """Return whether a connection may begin like this."""
    beginning = data[: len(_BEGINNING)].lower()
    return _BEGINNING.startswith(beginning) and len(data) <= limits.TOKEN_MESSAGE_BYTES


def _arguments(request: Json) -> Json:
    arguments = request.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def _listening(place: ListenAddress, *, allow_remote: bool) -> _socket.socket:
    if isinstance(place, str):
        return local_socket.listen(place)
    host, port = place
    if not allow_remote and host not in _LOOPBACK and not host.startswith("127."):
        raise ValueError(f"{host} can be reached from other machines: listen on 127.0.0.1, or say allow_remote=True")
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    listening = _socket.socket(family, _socket.SOCK_STREAM)
    listening.setblocking(False)  # noqa: FBT003 - takes no keywords
    try:
        listening.setsockopt(_socket.SOL_SOCKET, REUSE_OPTION, 1)
        listening.bind((host, port))
        listening.listen(limits.BACKLOG_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    return listening
