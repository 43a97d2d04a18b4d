"""A program that clients come to: what is behind `dapkit.listen`, `connect` and their like.

One thread listens for clients, or serves the one debugger that was connected to. Each client gets an engine of its
own, which ends with it; then the program runs at full speed, and the next one may come. A client that
leaves the program suspended leaves its engine as well, until the next takes the stopped threads over.
"""

import _socket
import atexit
import os
import sys
from collections.abc import Callable

from . import limits
from .connection import current, tokens
from .connection.descriptor import OwnDescriptor
from .connection.listener import AUTHENTICATE, AcceptedClient, ClientListener, ListenAddress, user_behind
from .connection.thread import start_thread
from .connection.wire import FrameReader, Json, encode
from .engine import Engine
from .errors import MalformedFrame
from .requests.dispatch import Dispatcher
from .unseen import unseen


class AttachableProgram:
    """The one of this process.

    Attributes:
        listener: where clients connect; None where the program connects.

    """

    def __init__(self) -> None:
        self.listener: ClientListener | None = None
        self._held: Engine | None = None
        self._token_file = ""
        self._token_handle: OwnDescriptor | None = None
        self._prepared = False
        self._main = 0

    def open(self, place: ListenAddress, token: str | None, folder: str, *, allow_remote: bool) -> ListenAddress:
        """Listen, and serve the clients that connect."""
        self._need_nobody()
        made = None if token is not None or isinstance(place, str) else tokens.make()
        self.listener = ClientListener(place, token or made, allow_remote=allow_remote)
        where = self.listener.place
        if made is not None and not isinstance(where, str):
            try:
                self._token_file, handle = tokens.leave(made, where[1], folder)
                self._token_handle = OwnDescriptor(handle)
            except BaseException:
                self.listener.close()
                self.listener = None
                raise
        address = where if isinstance(where, str) else f"{where[0]}:{where[1]}"
        hint = f"; the token is in {self._token_file}" if self._token_file else ""
        _report(f"dapkit: listening at {address}{hint}\n")
        self._start(self._serve_visitors)
        return where

    def reach(self, place: ListenAddress, token: str | None) -> None:
        """Connect to a debugger that waits, and return when it has configured its session."""
        self._need_nobody()
        client = _connected(place, token)
        waiter = current.expect()
        self._start(unseen(lambda: self._serve(client)))
        current.wait_for(waiter)

    def _need_nobody(self) -> None:
        if current.expects_clients:
            raise RuntimeError("the program listens for clients, or is connected to one, already")

    def _start(self, serve: Callable[[], None]) -> None:
        if not self._prepared:
            self._prepared = True
            os.register_at_fork(after_in_child=self._forget_in_child)
            atexit.register(self._finish)
        current.expects_clients = True
        self._main = current.main_thread()
        start_thread(unseen(lambda: self._live(serve)))

    @unseen
    def _live(self, serve: Callable[[], None]) -> None:
        try:
            serve()
        finally:
            current.expects_clients = False
            current.settle(came=False)

    @unseen
    def _serve_visitors(self) -> None:
        while self.listener is not None:
            client = self.listener.wait()
            if client is None:
                return
            self._serve(client)

    @unseen
    def _serve(self, client: AcceptedClient) -> None:
        """Serve a client until it leaves."""
        before, self._held = self._held, None
        engine = Engine(
            client.connection,
            sys.argv[0] if getattr(sys, "argv", None) else "",
            Dispatcher,
            main=self._main,
            said=client.said,
            before=before,
        )
        current.engine = engine
        others = {} if self.listener is None else self.listener.watched
        engine.serve_attached(others)
        if engine.is_suspended:
            self._held = engine
        else:
            current.engine = None
        engine.link.discard()

    def _finish(self) -> None:
        """Send the last messages, and remove the files, when the program ends."""
        if current.engine is not None:
            current.engine.finish()
        place = self.listener.place if self.listener is not None else None
        left = place if isinstance(place, str) else self._token_file
        if left:
            try:
                os.unlink(left)
            except OSError:
                return  # it was removed already

    def _forget_in_child(self) -> None:
        """Stop serving in the child of a fork: no client can attach to it."""
        current.expects_clients = False
        self._token_file = ""
        if self._token_handle is not None:
            self._token_handle.close()
            self._token_handle = None
        if self.listener is not None:
            if isinstance(self.listener.place, str):
                self.listener.place = ("", 0)  # the file is the parent's
            self.listener.close()
            self.listener = None
        if current.engine is not None and not current.engine.owned:
            current.engine.forget_in_child()
            current.engine = None


_attachable = AttachableProgram()


def listen(place: ListenAddress, *, token: str | None, folder: str, allow_remote: bool) -> ListenAddress:
    """Let clients attach; return where. A port for which no token is given gets one, which is left in a folder."""
    return _attachable.open(place, token, folder, allow_remote=allow_remote)


def connect(place: ListenAddress, token: str | None) -> None:
    """Connect to a debugger that waits, and return when it has configured its session."""
    _attachable.reach(place, token)


def _connected(place: ListenAddress, token: str | None) -> AcceptedClient:
    """Connect, and have both ends prove that they know the token if there is one.

    Raises:
        OSError: no debugger listens there.
        RuntimeError: it does not know the token, or refuses ours; or it is a stranger's.

    """
    if isinstance(place, str):
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    else:
        family = _socket.AF_INET6 if ":" in place[0] else _socket.AF_INET
        connection = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    address: object = place
    try:
        connection.settimeout(limits.TOKEN_SECONDS)
        connection.connect(address)  # type: ignore[arg-type]  # one or the other kind
        if isinstance(place, str):
            _need_own_user(connection, place)
        else:
            _introduce(connection, token, place[1])
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return AcceptedClient(connection, b"")


def _need_own_user(connection: _socket.socket, path: str) -> None:
    if (user := user_behind(connection)) not in {0, os.geteuid()}:
        raise RuntimeError(f"user {user} listens at {path}, expected user {os.geteuid()}")


def _introduce(connection: _socket.socket, token: str | None, port: int) -> None:
    if token is None:
        raise RuntimeError(f"there is no token for port {port}: no debugger has left one, and none was given")
    ours = tokens.make_nonce()
    body = _asked(connection, 1, {"nonce": ours}).get("body")
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
    _asked(connection, 2, {"proof": tokens.proof_of("client", token, port, ours, theirs)})


def _asked(connection: _socket.socket, number: int, arguments: Json) -> Json:
    """Put a request to a debugger that has not accepted us yet; return the response."""
    connection.sendall(encode({"seq": number, "type": "request", "command": AUTHENTICATE, "arguments": arguments}))
    reader = FrameReader()
    answers: list[Json] = []
    while not answers:
        # Byte by byte: nothing behind the frame may be swallowed.
        data = connection.recv(1)
        try:
            answers = reader.feed(data)
        except MalformedFrame as error:
            raise RuntimeError(f"the peer is not a debugger: {error}") from error
        if not data:
            raise RuntimeError("the debugger closed the connection before it had proved the token, or taken our proof")
    if answers[0].get("success") is not True:
        raise RuntimeError(f"the debugger refused: {answers[0].get('message')}")
    return answers[0]


def _report(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
