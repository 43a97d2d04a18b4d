"""A caller's end: one call to the hub, which is started if none runs.

A command takes milliseconds, so this module and its imports use only the quickest parts of the standard library, and
the connection is a plain blocking socket. Decided here: when a hub is started, how long a caller waits for it, and
which error a caller gets without an answer. The hub knows the meaning of the calls.

A call is sent at most once. If the connection is lost before the hub has the call
(the hub was just ending, another caller was starting one), it is tried again until
a deadline; if it is lost afterwards, that is an error, since the call may have begun.
"""

import os
import sys
import time

from dapkit import limits
from dapkit.hub import wire
from dapkit.hub.connection import HubConnection, OnPart, OnProgress, Stranger
from dapkit.hub.errors import CallRefused, HubLost, HubSilent, HubUnavailable, OtherVersion
from dapkit.hub.folder import LOCK, LOG, SOCKET, runtime_folder
from dapkit.system.files import CLOSE_IN_CHILDREN, NO_LINK, lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMAND = (sys.executable, "-P", "-m", "dapkit.agent")
"""The command that starts the hub."""

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
    on_part: OnPart | None = None,
    stdin: str | None = None,
) -> dict[str, object]:
    """Send one call to the hub and return its result.

    Ctrl-C gives the call up and is raised again.

    Args:
        name: of an action.
        arguments: of the action.
        project: absolute path of the folder whose sessions are meant.
        session: name of the session; None for the only one.
        read_only: refuse actions that change anything.
        timeout: seconds that a hub which runs has for it; the action has a deadline of its own, which comes first.
        on_progress: called with the current step of the call.
        on_part: called with each part of the answer that comes before the whole.
        stdin: where our standard input can be opened, if a program that is started is to read that.

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
        on_part=on_part,
        stdin=stdin,
    )


def status() -> dict[str, object] | None:
    """Return the state of the hub; None if none runs."""
    return HubClient().status()


def stop() -> bool:
    """End the hub with all its sessions and wait until its process has ended; False if none runs.

    A hub that does not answer, or does not end, is killed; its children end all the same.
    """
    return HubClient().stop()


class HubClient:
    """Calls the hub of one folder, and starts it if none runs.

    Args:
        folder: where its socket is; None for the user's own.
        command: the command that starts a hub if no hub runs.

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
        on_part: OnPart | None = None,
        stdin: str | None = None,
    ) -> dict[str, object]:
        """Do one call (see `dapkit.hub.call`)."""
        message = call_message(name, arguments, project=project, session=session, read_only=read_only)
        if stdin is not None:
            message["stdin"] = stdin
        patience = time.monotonic() + limits.HUB_START_SECONDS
        while True:
            with self.connect() as connection:
                try:
                    return connection.ask(message, time.monotonic() + timeout, on_progress, on_part)
                except CallRefused as refusal:
                    if refusal.code != wire.ENDING or time.monotonic() > patience:
                        raise
            time.sleep(limits.CONNECT_RETRY_SECONDS)

    def status(self) -> dict[str, object] | None:
        """Return the state of the hub (see `dapkit.hub.status`)."""
        deadline = time.monotonic() + limits.HUB_START_SECONDS
        try:
            connection = self._try_to_connect(deadline)
            if connection is None:
                return None
            with connection:
                return connection.ask({"call": wire.STATUS}, deadline)
        except HubLost:
            return None

    def stop(self) -> bool:
        """End the hub (see `dapkit.hub.stop`)."""
        deadline = time.monotonic() + limits.CLOSE_SECONDS
        connection = HubConnection.to(self._path(SOCKET), deadline)
        if connection is None:
            return False
        with connection:
            connection.watch()
            try:
                connection.greet(deadline)
                connection.watch()
                connection.ask({"call": wire.STOP}, deadline)
            except Stranger:
                if not connection.is_listener():
                    return False
            except HubSilent:
                if not connection.pid:
                    raise
                connection.kill()
            except (HubLost, CallRefused):  # it is ending already
                pass
            if not connection.wait_for_end(limits.ORDERLY_END_SECONDS):
                connection.kill()
                connection.wait_for_end(limits.CLOSE_SECONDS)
        return True

    def connect(self) -> HubConnection:
        """Connect to the hub; start one if none runs, and replace an idle one of another version."""
        deadline = time.monotonic() + limits.HUB_START_SECONDS
        while time.monotonic() < deadline:
            try:
                connection = self._try_to_connect(deadline) or self._start(deadline)
            except HubLost:  # it was just ending; its socket is removed last
                connection = None
            if connection is not None:
                if _speaks_our_version(connection):
                    return connection
                with connection:
                    _end_if_idle(connection, deadline)
            time.sleep(limits.CONNECT_RETRY_SECONDS)
        raise HubUnavailable(
            f"no hub was ready within {limits.HUB_START_SECONDS:g} s", hint=f"Its log is {self._path(LOG)}."
        )

    def _try_to_connect(self, deadline: float) -> HubConnection | None:
        """Connect to a hub that runs; None if none listens."""
        connection = HubConnection.to(self._path(SOCKET), deadline)
        if connection is None:
            return None
        try:
            connection.greet(deadline)
        except Stranger:
            connection.close()
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _start(self, deadline: float) -> HubConnection | None:
        """Start a hub and connect to it; None if another caller is starting one."""
        path = self._path(LOCK)
        try:
            lock_file = os.open(path, os.O_RDWR | os.O_CREAT | CLOSE_IN_CHILDREN | NO_LINK, 0o600)
        except OSError as error:
            raise HubUnavailable(f"{path} cannot be opened: {error.strerror}") from error
        try:
            if not lock(lock_file, waits=False):
                return None
            connection = self._try_to_connect(deadline)  # another caller may have started one meanwhile
            if connection is None:
                from dapkit.hub.spawn import spawn_hub

                spawn_hub(self._command, self._folder, lock=lock_file, deadline=deadline)
                connection = self._try_to_connect(deadline)
            return connection
        finally:
            os.close(lock_file)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def call_message(
    name: str, arguments: "Mapping[str, object]", *, project: str, session: str | None, read_only: bool
) -> dict[str, object]:
    """Make the message of a call, with the hub's facts about this process."""
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


def _speaks_our_version(connection: HubConnection) -> bool:
    return connection.greeting.get("protocol") == wire.PROTOCOL and connection.greeting.get("version") == wire.VERSION


def _end_if_idle(connection: HubConnection, deadline: float) -> None:
    """End a hub of another version, if nothing depends on it."""
    answer = connection.ask({"call": wire.STOP, "arguments": {"if_idle": True}}, deadline)
    if not answer.get("stopping"):
        raise OtherVersion(
            f"the hub that runs (process {connection.pid}) is dapkit {connection.greeting.get('version')}"
            f" and holds sessions, this is dapkit {wire.VERSION}",
            hint="Terminate those sessions, or end the hub with: dapkit hub stop",
        )
