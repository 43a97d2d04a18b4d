"""A caller's connection to the hub: blocking, with one call on it."""

import contextlib
import socket
import time

from dapkit import limits
from dapkit.hub import wire
from dapkit.hub.errors import CallRefused, HubLost, HubSilent, HubUnavailable
from dapkit.system import keyed_port
from dapkit.system.files import user
from dapkit.system.interface import ProcessHandle
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.signals import KILL, UNINTERRUPTED_SECONDS
from dapkit.system.socket_options import UNIX
from dapkit.system.this_system import SYSTEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

type OnPart = Callable[[str], None]
"""Called with each part of an answer that comes before the whole."""

type OnProgress = Callable[[str, float | None], None]
"""Called with the current step of a call, and its progress in percent if that is known."""


class Stranger(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """Another program listens at the port of a hub that has ended."""


class HubConnection:
    """A connection to a hub that listens.

    Args:
        connected: the socket.
        key: of the hub's port, which has to prove that it knows it; None for a unix socket.
        pid: the process that should listen, where the system does not tell which one does.

    Attributes:
        pid: the process that listens; 0 until `greet` where neither the system nor a file tells it.
        greeting: its first message, once `greet` has returned.

    """

    def __init__(self, connected: socket.socket, key: bytes | None = None, pid: int = 0) -> None:
        self._socket = connected
        self._key = key
        self._port = 0 if key is None else connected.getpeername()[1]
        self._lines = wire.LineBuffer()
        self._received: list[bytearray] = []
        self._process: ProcessHandle | None = None
        self.greeting: dict[str, object] = {}
        peer, uid = SYSTEM.peer_of(connected)
        self.pid = peer or pid
        if uid != user():
            self.close()
            raise HubUnavailable(f"the socket of the hub is held by user {uid}, expected user {user()}")

    @classmethod
    def to(cls, path: str, deadline: float) -> "Self | None":
        """Connect; None if no hub listens."""
        return cls._to_port(path, deadline) if IS_WINDOWS else cls._to_socket(path, deadline)

    @classmethod
    def _to_port(cls, path: str, deadline: float) -> "Self | None":
        try:
            port, key, pid = keyed_port.read(path)
            if pid and SYSTEM.is_exiting(pid):  # Wine may keep the socket of a process that was killed
                return None
            seconds = max(deadline - time.monotonic(), 0.001)
            return cls(socket.create_connection(("127.0.0.1", port), seconds), key, pid)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except PermissionError:  # its file is just being removed
            return None
        except OSError as error:
            raise HubUnavailable(f"the hub at {path} cannot be connected to: {error.strerror or error}") from error

    @classmethod
    def _to_socket(cls, path: str, deadline: float) -> "Self | None":
        connecting = socket.socket(UNIX, socket.SOCK_STREAM)
        connecting.setblocking(False)  # noqa: FBT003 - its only parameter
        while True:
            try:
                connecting.connect(path)
                return cls(connecting)
            except (FileNotFoundError, ConnectionRefusedError):
                connecting.close()
                return None
            except BlockingIOError as error:  # its queue is full: unlike with TCP nothing is under way
                if time.monotonic() > deadline:
                    connecting.close()
                    raise HubUnavailable(
                        "the hub accepts no connection", hint="End it with: dapkit hub stop"
                    ) from error
                time.sleep(limits.CONNECT_RETRY_SECONDS)
            except OSError as error:
                connecting.close()
                raise HubUnavailable(f"{path} cannot be connected to: {error.strerror}") from error

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; the hub gives up a call that is not answered yet."""
        self._socket.close()
        if self._process is not None:
            self._process.close()
            self._process = None

    def interrupt(self) -> None:
        """End a call that another thread waits for, with HubLost."""
        with contextlib.suppress(OSError):  # the hub has ended it already
            self._socket.shutdown(socket.SHUT_RDWR)

    def detach(self) -> socket.socket:
        """Give the socket to the caller; only `pid` and `greeting` are of use from then on."""
        return socket.socket(fileno=self._socket.detach())

    def greet(self, deadline: float) -> None:
        """Wait for its first message, which has its process as well: not every system tells that.

        Raises:
            Stranger: the process at its port does not prove that it is the hub, which may have ended.
            HubLost, HubSilent: no message came.

        """
        if self._key is not None:
            self._limit(deadline)
            try:
                keyed_port.prove(self._socket, self._key)
            except TimeoutError:
                raise silent(self.pid) from None
            except OSError:
                raise Stranger from None
        self.greeting = self._next(deadline)
        pid = self.greeting.get("pid")
        self.pid = self.pid or (pid if isinstance(pid, int) else 0)

    def ask(
        self,
        message: dict[str, object],
        deadline: float,
        on_progress: OnProgress | None = None,
        on_part: OnPart | None = None,
    ) -> dict[str, object]:
        """Send a call and wait for its result.

        Raises:
            CallRefused: the hub answered with an error.
            HubLost: the connection ended before.
            HubSilent: the deadline passed before.

        """
        try:
            self.begin(message, deadline)
            return self._answer(deadline, on_progress, on_part)
        except KeyboardInterrupt:
            self._give_up()
            raise

    def begin(self, message: dict[str, object], deadline: float) -> None:
        """Send a call without waiting for its result."""
        self._send({"id": 1, **message}, deadline)

    def watch(self) -> None:
        """Watch the hub's process, so that no other process can be taken for it later."""
        if self._process is not None or not self.pid:
            return
        with contextlib.suppress(ProcessLookupError):  # it has ended
            self._process = SYSTEM.open_process(self.pid)

    def wait_for_end(self, seconds: float) -> bool:
        """Wait until the process that is watched has ended; False if it has not in that time."""
        return self._process is None or self._process.has_ended(seconds)

    def kill(self) -> None:
        """End the process that is watched by force, if it listens."""
        if self._process is not None and self.is_listener():
            with contextlib.suppress(ProcessLookupError):
                self._process.send(KILL)

    def is_listener(self) -> bool:
        """Return whether the process that is watched has the port, as far as it is known by a file."""
        if self._key is None:
            return True
        return self._process is not None and SYSTEM.process_listening_on(self._port) == self._process.pid

    def _answer(
        self, deadline: float, on_progress: OnProgress | None, on_part: OnPart | None = None
    ) -> dict[str, object]:
        while True:
            result = result_in(self._next(deadline), on_progress, on_part)
            if result is not None:
                return result

    def _give_up(self) -> None:
        """Cancel the call and wait until the hub has given it up."""
        deadline = time.monotonic() + limits.CLOSE_SECONDS
        try:
            self._send({"cancel": 1}, deadline)
            self._answer(deadline, None)
        except (CallRefused, HubLost, HubSilent):
            return

    def _send(self, message: dict[str, object], deadline: float) -> None:
        self._limit(deadline)
        try:
            self._socket.sendall(wire.encode(message))
        except TimeoutError:
            raise silent(self.pid) from None
        except OSError:  # it has ended; its earlier data must still be read
            return

    def _next(self, deadline: float) -> dict[str, object]:
        has_ended = False
        while not self._received:
            self._limit(min(deadline, time.monotonic() + UNINTERRUPTED_SECONDS))
            try:
                data = self._socket.recv(limits.READ_CHUNK_BYTES)
            except TimeoutError:
                if has_ended:
                    raise lost(self.pid) from None
                if time.monotonic() >= deadline:
                    raise silent(self.pid) from None
                has_ended = self._has_ended()
                continue
            except OSError:
                data = b""
            if not data:
                raise lost(self.pid)
            self._received = self._lines.feed(data)
        return wire.decode(self._received.pop(0))

    def _has_ended(self) -> bool:
        """Return whether the hub's process has ended: Wine may keep the connections of a process that was killed."""
        self.watch()
        return self.pid != 0 and self.wait_for_end(0)

    def _limit(self, deadline: float) -> None:
        """Give the next operation of the socket until the deadline."""
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))


def result_in(
    message: dict[str, object], on_progress: OnProgress | None, on_part: OnPart | None = None
) -> dict[str, object] | None:
    """Read one message about the call: its result, or None if it is still under way.

    Raises:
        CallRefused: the hub answered with an error.

    """
    match message:
        case {"id": 1, "result": dict(result)}:
            return result
        case {"id": 1 | None, "error": {"code": str(code), "message": str(text), **more}}:
            raise CallRefused(code, text, hint=str(more.get("hint", "")))
        case {"id": 1, "progress": {"message": str(text), **more}} if on_progress is not None:
            percentage = more.get("percentage")
            on_progress(text, percentage if isinstance(percentage, int | float) else None)
        case {"id": 1, "part": str(text)} if on_part is not None:
            on_part(text)
    return None


def lost(pid: int) -> HubLost:
    """Make the error for a connection that ended before the answer."""
    return HubLost(
        f"the hub (process {pid}) ended before it answered",
        hint="Its sessions have ended with it; the next call starts another hub.",
    )


def silent(pid: int) -> HubSilent:
    """Make the error for an answer that did not come in time."""
    return HubSilent(
        f"the hub (process {pid}) did not answer in time",
        hint="The call was given up. A hub that no longer answers is ended by: dapkit hub stop",
    )
