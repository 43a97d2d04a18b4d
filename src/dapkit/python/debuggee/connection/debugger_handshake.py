"""The way of a program to a debugger that waits for it: who is there, and who we are, before the session begins.

The exchange is the one in `listener`, with the program as the client.
"""

import _socket

from ..interpreter import limits
from ..interpreter.errors import MalformedFrame
from ..system import user
from . import local_socket, tokens
from .framing import FrameReader, Json, encode
from .listener import AUTHENTICATE, AcceptedClient, ListenAddress
from .sealing import RecordSeal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .listener import Protection
    from .tls import Tls


def connected(place: ListenAddress, token: str | None, authority: str | None = None) -> AcceptedClient:
    """Connect, and have both ends prove that they know the token if there is one.

    Raises:
        OSError: no debugger listens there, or its certificate is not vouched for.
        RuntimeError: it does not know the token, or refuses ours; or it is a stranger's.

    """
    if isinstance(place, str):
        connection = local_socket.connect(place)
        if (owner := local_socket.user_of(connection)) not in {0, user()}:
            connection.close()
            raise RuntimeError(f"user {owner} listens at {place}, expected user {user()}")
        return AcceptedClient(connection, b"")
    family = _socket.AF_INET6 if ":" in place[0] else _socket.AF_INET
    connection = _socket.socket(family, _socket.SOCK_STREAM)
    connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    try:
        connection.settimeout(limits.TOKEN_SECONDS)
        connection.connect(place)
        peer = _Peer(connection)
        if authority is not None:
            peer.secure(authority, place[0])
        seal = _introduce(peer, token, place[1])
        if authority is None:
            peer.protection, peer.said = seal, seal.take(peer.said)
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return AcceptedClient(connection, peer.said, peer.protection)


class _Peer:
    """A connected debugger: `said` has its unread data."""

    def __init__(self, connection: _socket.socket) -> None:
        self._connection = connection
        self.tls: Tls | None = None
        self.protection: Protection | None = None
        self.said = b""

    def secure(self, authority: str, host: str) -> None:
        """Speak TLS from now on."""
        from .tls import Tls, client_context

        self.tls = self.protection = Tls(client_context(authority), serves=False, host=host)
        self._connection.sendall(self.tls.begin())
        while not self.tls.is_open:
            self._receive()

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self._connection.sendall(data if self.tls is None else self.tls.wrap(data))

    def message(self) -> Json:
        """Return the next message."""
        reader = FrameReader()
        while True:
            while self.said:  # byte by byte: data after the frame belongs to the session
                first, self.said = self.said[:1], self.said[1:]
                try:
                    messages = reader.feed(first)
                except MalformedFrame as error:
                    raise RuntimeError(f"the peer is not a debugger: {error}") from error
                if messages:
                    return messages[0]
            self._receive()

    def _receive(self) -> None:
        data = self._connection.recv(1 << 16)
        if not data:
            raise RuntimeError("the debugger closed the connection before it had proved the token, or taken our proof")
        if self.tls is not None:
            data = self.tls.take(data)
            self._connection.sendall(self.tls.outgoing())
        self.said += data


def _introduce(peer: _Peer, token: str | None, port: int) -> RecordSeal:
    """Prove that both ends know the token; return the seal of the records that may follow."""
    if token is None:
        raise RuntimeError(f"there is no token for port {port}: no debugger has left one, and none was given")
    ours = tokens.make_nonce()
    body = _asked(peer, 1, {"nonce": ours}).get("body")
    theirs, proof = (body.get("nonce"), body.get("proof")) if isinstance(body, dict) else (None, None)
    if (
        not isinstance(theirs, str)
        or not tokens.is_nonce(theirs)
        or not tokens.same(proof, tokens.proof_of("server", token, port, ours, theirs))
    ):
        raise RuntimeError(
            "the peer did not prove that it knows the token: another program may have taken the port of the "
            "debugger, or the port is forwarded from one of another number; nothing was sent to it"
        )
    _asked(peer, 2, {"proof": tokens.proof_of("client", token, port, ours, theirs)})
    client_key, server_key = tokens.record_keys(token, port, ours, theirs)
    return RecordSeal(client_key, server_key)


def _asked(peer: _Peer, number: int, arguments: Json) -> Json:
    """Put a request to a debugger that has not accepted us yet; return the response."""
    peer.send(encode({"seq": number, "type": "request", "command": AUTHENTICATE, "arguments": arguments}))
    answer = peer.message()
    if answer.get("success") is not True:
        raise RuntimeError(f"the debugger refused: {answer.get('message')}")
    return answer
