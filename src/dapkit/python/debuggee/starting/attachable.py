"""A program to which clients attach: the work behind `dapkit.listen`, `connect` and their like.

One thread listens for clients, or serves the one debugger that was connected to, or that has invited this process, a
child of such a program (`children.invitations`). Each client gets an engine of its
own, which ends with it; then the program runs at full speed, and the next one may come. A client that
leaves the program suspended leaves its engine as well, until the next takes the stopped threads over.
"""

import _socket
import atexit
import os
import sys
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from time import monotonic, sleep

from ..children.invitations import invitations
from ..connection import current_engine, tokens
from ..connection.debugger_handshake import connected
from ..connection.descriptor import HeldFile
from ..connection.framing import Json, body_of
from ..connection.listener import AcceptedClient, ClientListener, ListenAddress, Shown
from ..connection.thread import start_thread
from ..engine import child, interpreter_checks
from ..interpreter import limits
from ..interpreter.hidden_frames import hidden_frame
from ..loader import load, prepare_all
from ..system import CLOSE_IN_CHILDREN, IS_WINDOWS, at_fork
from ..values.error_text import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.engine import Engine

_LOADED_AT_ONCE = ("requests.breakpoints", "values.variables")
"""Modules that bring a third of the engine; the rest is loaded when a client comes.

More would take memory in programs that no client ever comes to. Less would make a client wait, whose breakpoint may
be meant for the 64 ranks of a job.
"""

_LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python", "/dapkit/python/debuggee/", "<frozen ")
"""Parts of the names of files that are not the program's own."""
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


class ProgramIdentity:
    """The state of a program that was started so that clients can attach.

    Attributes:
        name: the name that the client shows; empty for the first word of the command line.
        file: which counts as code of the program, wherever it lies.
        text: the text that `python -c` runs.
        exit_code: how it has ended, once that is known.
        end_file: a file that gets the exit code and the last exception; empty for no such file.

    """

    def __init__(self) -> None:
        self.name = self.file = self.text = self.end_file = ""
        self.exit_code: int | None = None

    def note_exit_code(self, code: int) -> None:
        """Record how the program ends."""
        self.exit_code = code

    def write_end(self) -> None:
        """Write the end of the program into its file, if there is one."""
        if self.end_file:
            end: Json = {"code": self.exit_code or 0, "error": _last_error() if self.exit_code else ""}
            try:
                handle = os.open(self.end_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | CLOSE_IN_CHILDREN, 0o600)
                os.write(handle, body_of(end))
                os.close(handle)
            except OSError:
                return  # its folder was removed


class AttachableProgram:
    """The one of this process.

    Attributes:
        listener: where clients connect; None where the program connects.
        identity: which program it is.

    """

    def __init__(self) -> None:
        self.listener: ClientListener | None = None
        self.identity = ProgramIdentity()
        self._held: Engine | None = None
        self._token_file = ""
        self._token_handle: HeldFile | None = None
        self._process = 0
        """The process that has set the hooks at its forks and its end."""
        self._main = 0

    def open(
        self,
        place: ListenAddress,
        token: str | None,
        folder: str,
        *,
        allow_remote: bool,
        certificate: Shown | None,
        main: int,
    ) -> ListenAddress:
        """Listen, and serve the clients that connect; `main` is the main thread, if the caller knows it."""
        interpreter_checks.check()
        self._need_nobody()
        invitations.refuse()
        new_token = None if token is not None or isinstance(place, str) else tokens.make()
        self.listener = ClientListener(place, token or new_token, allow_remote=allow_remote, certificate=certificate)
        where = self.listener.place
        if new_token is not None and not isinstance(where, str):
            try:
                self._token_file, handle = tokens.leave(new_token, where, folder)
                self._token_handle = HeldFile(handle)
            except BaseException:
                self.listener.close()
                self.listener = None
                raise
        if folder and current_engine.config["subProcess"]:
            child.found_family(folder, keeps=True)  # before a client comes, whose session follows children too
        for name in _LOADED_AT_ONCE:
            load(name)
        prepare_all()
        self._start(self._serve_visitors, main)
        return where

    @property
    def whereabouts(self) -> str:
        """Messages for the user about the address where it listens."""
        where = self.listener.place if self.listener is not None else ""
        address = where if isinstance(where, str) else f"{where[0]}:{where[1]}"
        hint = f"; the token is in {self._token_file}" if self._token_file else ""
        return f"listening at {address}{hint}"

    def reach(self, place: ListenAddress, token: str | None, *, authority: str | None, waits: bool, main: int) -> None:
        """Connect to a debugger that waits, and return when it has configured its session, if that is wanted."""
        interpreter_checks.check()
        self._need_nobody()
        invitations.refuse()
        client = connected(place, token, authority)
        waiter = current_engine.expect()
        self._start(hidden_frame(lambda: self._serve(client)), main)
        if waits:
            current_engine.wait_for(waiter)

    def visit(self, place: str, main: int) -> None:
        """Go to an adapter that wants to debug this program, and serve it.

        Raises:
            RuntimeError: another debugger does.
            OSError: no debugger waits there any more.

        """
        interpreter_checks.check()
        current_engine.need_no_launcher()
        if self.listener is not None:
            where = self.listener.place
            raise RuntimeError(f"it listens for clients: attach to {where if isinstance(where, str) else where[1]}")
        self._wait_until_nobody_is_served()
        client = connected(place, None)
        child.found_family(os.path.dirname(place), keeps=False)
        self._start(hidden_frame(lambda: self._serve(client)), main)

    def hold(self, engine: "Engine") -> None:
        """Keep an engine that was left suspended, for the next client."""
        self._held = engine

    def serve_as_child(self, connection: _socket.socket, name: str, main: int) -> None:
        """Serve an adapter that has invited this process, in the calling thread, until it leaves."""
        self.identity.name = name
        self._prepare(main)
        current_engine.expects_clients = True
        self._live(partial(self._serve, AcceptedClient(connection, b"")))

    def _wait_until_nobody_is_served(self) -> None:
        """Wait a moment for the thread that has served a client that has left.

        Raises:
            RuntimeError: the client is still there.

        """
        until = monotonic() + limits.LEAVE_SECONDS
        while current_engine.expects_clients:
            if monotonic() > until:
                raise RuntimeError("another client is attached to the program, and only one can be")
            sleep(limits.LEAVE_TICK_SECONDS)

    def _need_nobody(self) -> None:
        if current_engine.expects_clients:
            raise RuntimeError("the program listens for clients, or is connected to one, already")

    def _start(self, serve: Callable[[], None], main: int = 0) -> None:
        self._prepare(main)
        current_engine.expects_clients = True
        start_thread(hidden_frame(lambda: self._live(serve)))

    def _prepare(self, main: int) -> None:
        if not self._process:
            at_fork(after_in_child=self._forget_in_child)
            atexit.register(self._finish)
        self._process = os.getpid()
        self._main = main or current_engine.main_thread()

    @hidden_frame
    def _live(self, serve: Callable[[], None]) -> None:
        try:
            serve()
        finally:
            current_engine.expects_clients = False
            current_engine.settle(came=False)

    @hidden_frame
    def _serve_visitors(self) -> None:
        while self.listener is not None:
            client = self.listener.wait()
            if client is None:
                return
            self._serve(client)
            del client  # else its connection, which is closed, would be kept until the next comes

    @hidden_frame
    def _serve(self, client: AcceptedClient) -> None:
        """Serve a client until it leaves."""
        before, self._held = self._held, None
        identity = self.identity
        engine: Engine = load("engine.engine").Engine(
            client.connection,
            identity.name or (sys.argv[0] if getattr(sys, "argv", None) else ""),
            load("requests.dispatch").Dispatcher,
            main=self._main,
            early=client.said,
            protection=client.protection,
            before=before,
        )
        if identity.file:
            engine.sources.claim_for_program(identity.file)
        if identity.text:
            engine.shown.hints.append(identity.text)
        current_engine.engine = engine
        others = {} if self.listener is None else self.listener.watched
        engine.serve_attached(others)
        if before is not None:
            before.track_again()
        if engine.is_suspended:
            self._held = engine
            engine.link.discard()
        else:
            current_engine.engine = None
            if engine.options.closes_listener and self.listener is not None:
                self.listener.close()
                self.listener = None
            engine.discard()

    def _finish(self) -> None:
        """Send the last messages, and remove the files, when the program ends."""
        self.identity.write_end()
        if current_engine.engine is not None:
            current_engine.engine.finish(self.identity.exit_code)
        place = self.listener.place if self.listener is not None else None
        file = place if isinstance(place, str) else self._token_file
        if IS_WINDOWS and self._token_handle is not None:  # which removes no file that is open
            self._token_handle.close()
        if file:
            try:
                os.unlink(file)
            except OSError:
                return  # it was removed already

    def _forget_in_child(self) -> None:
        """Stop serving in the child of a fork, once: the thread that did it has stayed with the parent."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        current_engine.expects_clients = False
        self._token_file = self.identity.end_file = ""
        if self._token_handle is not None:
            self._token_handle.close()
            self._token_handle = None
        if self.listener is not None:
            if isinstance(self.listener.place, str):
                self.listener.place = ("", 0)  # the file is the parent's
            self.listener.close()
            self.listener = None
        if current_engine.engine is not None and not current_engine.engine.owned:
            current_engine.engine.forget_in_child()
            current_engine.engine = None


_attachable = AttachableProgram()
identity = _attachable.identity
"""Which program this process runs."""


def listen(
    place: ListenAddress,
    *,
    token: str | None,
    folder: str,
    allow_remote: bool,
    certificate: Shown | None = None,
    announce: bool = True,
    main: int = 0,
) -> ListenAddress:
    """Let clients attach; return where. A port for which no token is given gets one, which is left in a folder.

    With `announce` stderr says where; `main` is the main thread, 0 if the caller does not know it; `certificate` is the
    certificate of TLS.
    """
    where = _attachable.open(place, token, folder, allow_remote=allow_remote, certificate=certificate, main=main)
    if announce:
        _report(f"dapkit: {whereabouts()}\n")
    return where


def whereabouts() -> str:
    """Return the message for the user about the address where the program listens."""
    return _attachable.whereabouts


def connect(
    place: ListenAddress, token: str | None, *, authority: str | None = None, waits: bool = True, main: int = 0
) -> None:
    """Connect to a debugger that waits, and return when it has configured its session, if that is wanted.

    By TLS if there is an `authority`: a file of certificates that vouch for the debugger's.
    """
    _attachable.reach(place, token, authority=authority, waits=waits, main=main)


def hold(engine: "Engine") -> None:
    """Keep the engine of a child whose client has left it suspended, for the next client."""
    _attachable.hold(engine)


def serve_as_child(connection: _socket.socket, name: str, main: int) -> None:
    """Serve an adapter that has invited this process, in the calling thread, until it leaves."""
    _attachable.serve_as_child(connection, name, main)


def visit(place: str, main: int) -> None:
    """Go to an adapter that waits at a unix socket; `main` is the main thread, 0 if the caller does not know it."""
    _attachable.visit(place, main)


def _last_error() -> str:
    """Return the exception that has ended the program, with the innermost place in a file outside of libraries."""
    error: BaseException | None = getattr(sys, "last_exc", None)
    if error is None:
        return ""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not (file.startswith(_STANDARD_LIBRARY) or any(part in file.replace(os.sep, "/") for part in _LIBRARIES)):
            place = f" at {file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return say(error) + place


def _report(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
