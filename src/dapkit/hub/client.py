"""The callers' end: one call to the hub, which is started where none runs.

Commands live for milliseconds, so that this module and what it imports are the
standard library's quickest parts alone, and the connection is a plain blocking
socket. Decided here: when a hub is started, how long is waited for it, and what
a caller is told that gets no answer. What the calls mean is left to the hub.

A call is sent at most once. Whatever is lost before the hub has it (the hub was
just ending, another caller was starting one) is tried again until a deadline;
a connection that is lost after it is an error, since the call may have begun.
"""

import contextlib
import fcntl
import os
import sys
import time

from dapkit import limits
from dapkit.hub import wire
from dapkit.hub.connection import HubConnection, OnProgress
from dapkit.hub.errors import CallRefused, HubLost, HubSilent, HubUnavailable, OtherVersion
from dapkit.hub.folder import LOCK, LOG, SOCKET, runtime_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMAND = (sys.executable, "-P", "-m", "dapkit.agent")
"""What is started as the hub."""

_VARIABLES = "DAPKIT_"


def call(
    name: str,
    arguments: "Mapping[str, object]",
    *,
    project: str,
    session: str | None = None,
    read_only: bool = False,
    timeout: float = limits.HUB_CALL_SECONDS,
    on_progress: OnProgress | None = None,
) -> dict[str, object]:
    """Have the hub do one call and return its result.

    Ctrl-C gives the call up and is raised again.

    Args:
        name: of an action.
        arguments: of the action.
        project: absolute path of the folder whose sessions are meant.
        session: name of the session; None for the only one.
        read_only: refuse actions that change anything.
        timeout: seconds that a hub which runs has for it; the action has a deadline of its own, which comes first.
        on_progress: told what the call is doing.

    Raises:
        HubError: no hub could be reached, or it did not answer.

    """
    return HubClient().call(
        name,
        arguments,
        project=project,
        session=session,
        read_only=read_only,
        timeout=timeout,
        on_progress=on_progress,
    )


@contextlib.contextmanager
def hold_session(session: str, *, project: str) -> "Iterator[None]":
    """Let a session, which may be yet to come, end with this block at the latest, or with this process.

    Raises:
        HubError: no hub could be reached.

    """
    front = HubClient()
    message = call_message(wire.HOLD_SESSION, {}, project=project, session=session, read_only=False)
    with front.reach() as line:
        line.begin(message, time.monotonic() + limits.HUB_START_SECONDS)
        yield


def status() -> dict[str, object] | None:
    """Ask the hub how it is; None if none runs."""
    return HubClient().status()


def stop() -> bool:
    """End the hub with all its sessions and wait until it has gone; False if none runs.

    One that does not answer, or does not end, is killed; what it had started ends all the same.
    """
    return HubClient().stop()


class HubClient:
    """The way to the hub of one folder.

    Args:
        folder: where its socket is; None for the user's own.
        command: what to start where no hub runs.

    """

    def __init__(self, folder: str | None = None, *, command: "Sequence[str]" = COMMAND) -> None:
        self._folder = runtime_folder() if folder is None else folder
        self._command = command

    def call(
        self,
        name: str,
        arguments: "Mapping[str, object]",
        *,
        project: str,
        session: str | None = None,
        read_only: bool = False,
        timeout: float = limits.HUB_CALL_SECONDS,
        on_progress: OnProgress | None = None,
    ) -> dict[str, object]:
        """Do one call (see `dapkit.hub.call`)."""
        message = call_message(name, arguments, project=project, session=session, read_only=read_only)
        patience = time.monotonic() + limits.HUB_START_SECONDS
        while True:
            with self.reach() as line:
                try:
                    return line.ask(message, time.monotonic() + timeout, on_progress)
                except CallRefused as refusal:
                    if refusal.code != wire.ENDING or time.monotonic() > patience:
                        raise
            time.sleep(limits.CONNECT_RETRY_SECONDS)

    def status(self) -> dict[str, object] | None:
        """Ask how the hub is (see `dapkit.hub.status`)."""
        deadline = time.monotonic() + limits.HUB_START_SECONDS
        try:
            line = self._connected(deadline)
            if line is None:
                return None
            with line:
                return line.ask({"call": wire.STATUS}, deadline)
        except HubLost:
            return None

    def stop(self) -> bool:
        """End the hub (see `dapkit.hub.stop`)."""
        deadline = time.monotonic() + limits.CLOSE_SECONDS
        line = HubConnection.to(self._path(SOCKET), deadline)
        if line is None:
            return False
        with line:
            line.watch()
            try:
                line.greet(deadline)
                line.ask({"call": wire.STOP}, deadline)
            except HubSilent:
                line.kill()
            except (HubLost, CallRefused):  # it is ending already
                pass
            if not line.wait_for_end(limits.ORDERLY_END_SECONDS):
                line.kill()
                line.wait_for_end(limits.CLOSE_SECONDS)
        return True

    def reach(self) -> HubConnection:
        """Connect to the hub, start one where none runs, send an idle one of another version away."""
        deadline = time.monotonic() + limits.HUB_START_SECONDS
        while time.monotonic() < deadline:
            try:
                line = self._connected(deadline) or self._started(deadline)
            except HubLost:  # it was just ending; its socket goes last
                line = None
            if line is not None:
                if _speaks_our_version(line):
                    return line
                with line:
                    _send_away(line, deadline)
            time.sleep(limits.CONNECT_RETRY_SECONDS)
        raise HubUnavailable(
            f"no hub was ready within {limits.HUB_START_SECONDS:g} s", hint=f"Its log is {self._path(LOG)}."
        )

    def _connected(self, deadline: float) -> HubConnection | None:
        """Connect to a hub that runs; None if nobody listens."""
        line = HubConnection.to(self._path(SOCKET), deadline)
        if line is None:
            return None
        try:
            line.greet(deadline)
        except BaseException:
            line.close()
            raise
        return line

    def _started(self, deadline: float) -> HubConnection | None:
        """Start a hub and connect to it; None if somebody else is starting one."""
        path = self._path(LOCK)
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise HubUnavailable(f"{path} cannot be opened: {error.strerror}") from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            line = self._connected(deadline)  # somebody may have started one since we looked
            if line is None:
                from dapkit.hub.spawn import spawn_hub

                spawn_hub(self._command, self._folder, lock=lock, deadline=deadline)
                line = self._connected(deadline)
            return line
        finally:
            os.close(lock)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def call_message(
    name: str, arguments: "Mapping[str, object]", *, project: str, session: str | None, read_only: bool
) -> dict[str, object]:
    """Make the message of a call, with what the hub has to know of this process."""
    message: dict[str, object] = {
        "call": name,
        "arguments": arguments,
        "project": project,
        "session": session,
        "read_only": read_only,
        "overrides": {key: value for key, value in os.environ.items() if key.startswith(_VARIABLES)},
    }
    if name in wire.STARTING:
        message["env"] = dict(os.environ)
    return message


def _speaks_our_version(line: HubConnection) -> bool:
    return line.greeting.get("protocol") == wire.PROTOCOL and line.greeting.get("version") == wire.VERSION


def _send_away(line: HubConnection, deadline: float) -> None:
    """Have a hub of another version end, if nothing depends on it."""
    answer = line.ask({"call": wire.STOP, "arguments": {"if_idle": True}}, deadline)
    if not answer.get("stopping"):
        raise OtherVersion(
            f"the hub that runs (process {line.pid}) is dapkit {line.greeting.get('version')} and holds sessions, "
            f"this is dapkit {wire.VERSION}",
            hint="Terminate those sessions, or end the hub with: dapkit hub stop",
        )
