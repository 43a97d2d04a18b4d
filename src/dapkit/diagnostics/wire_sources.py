"""Where messages are read from: a session of the hub, or an MCP server by HTTP, over the protocol of the hub."""

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from dapkit import hub, limits
from dapkit.agent.results.diagnostics import WireRecords
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where, hub_runs
from dapkit.hub.client import HubClient, call_message
from dapkit.hub.connection import HubConnection
from dapkit.hub.folder import MCP_SOCKET, runtime_folder
from dapkit.hub.wire import ENDING
from dapkit.protocol import from_json_value

type Call = dict[str, object]

_PORT = re.compile(MCP_SOCKET.format(r"(\d+)"))


class WireSource(Protocol):
    """Where messages pass."""

    @property
    def title(self) -> str:
        """Its kind, for people."""
        ...

    def connect(self) -> HubConnection:
        """Connect to the process that keeps them. Raises: DiagnosticsError, HubError."""
        ...

    def call(self, arguments: Call, session: str | None) -> Call:
        """Make the call that asks for them; `session` is the session to which they were found to belong."""
        ...

    def details(self, result: Call) -> object:
        """Take the requested messages out of the result. Raises: DiagnosticsError."""
        ...

    def failure(self, error: hub.HubError) -> DiagnosticsError:
        """Return why the process that keeps them could not be asked."""
        ...


@dataclass(frozen=True, slots=True)
class SessionSource:
    """The messages between a session and its adapters."""

    where: Where

    @property
    def title(self) -> str:
        """The name of the session, if it is known."""
        return f"session {self.where.session}" if self.where.session else "session"

    def connect(self) -> HubConnection:
        """Connect to the hub, which is not started for that. Raises: DiagnosticsError, HubError."""
        if not hub_runs():
            raise DiagnosticsError("no_session", "There is no session: no hub runs.", "dapkit launch starts both.")
        return HubClient().connect()

    def call(self, arguments: Call, session: str | None) -> Call:
        """Make the call of the query."""
        session_name = session or self.where.session
        return call_message("wire_records", arguments, project=self.where.project, session=session_name, read_only=True)

    def details(self, result: Call) -> object:
        """Take the details out of the answer. Raises: DiagnosticsError."""
        if result["success"]:
            return result["details"]
        error: Any = result["error"]
        raise DiagnosticsError(error["code"], error["message"], error.get("hint", ""))

    def failure(self, error: hub.HubError) -> DiagnosticsError:
        """Say it in the words of the hub."""
        return DiagnosticsError.of_hub(error)


@dataclass(frozen=True, slots=True)
class ServerSource:
    """The requests and events of an MCP server by HTTP."""

    port: int

    @property
    def title(self) -> str:
        """The port that it listens on."""
        return f"MCP server, port {self.port}"

    def connect(self) -> HubConnection:
        """Connect to the server. Raises: DiagnosticsError, HubError."""
        deadline = time.monotonic() + limits.HUB_START_SECONDS
        connection = HubConnection.to(_path(self.port), deadline)
        if connection is None:
            raise DiagnosticsError("not_running", f"No MCP server listens on port {self.port}.", _START_A_SERVER)
        try:
            connection.greet(deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    def call(self, arguments: Call, session: str | None) -> Call:  # noqa: ARG002 - there are no sessions here
        """Make the call."""
        return {"call": "wire_records", "arguments": arguments}

    def details(self, result: Call) -> object:
        """Return the result, which is nothing else."""
        return result

    def failure(self, error: hub.HubError) -> DiagnosticsError:
        """Say it of the server."""
        match error:
            case hub.HubLost():
                text = f"The MCP server on port {self.port} has ended."
            case hub.HubSilent():
                text = f"The MCP server on port {self.port} did not answer in time."
            case _:
                text = f"The MCP server on port {self.port} cannot be asked: {error.args[0]}."
        return DiagnosticsError("not_running", text)


_ENDED = frozenset({ENDING, "cancelled"})
"""How a process refuses calls that ends: those that come, and those that it has not answered yet."""

_START_A_SERVER = "dapkit mcp --http starts one."


def servers() -> list[ServerSource]:
    """Return the MCP servers by HTTP of this user that live, by port. Raises: DiagnosticsError."""
    try:
        folder = Path(runtime_folder())
    except hub.HubError as error:
        raise DiagnosticsError.of_hub(error) from error
    matches = [_PORT.fullmatch(path.name) for path in folder.glob(MCP_SOCKET.format("*"))]
    return [ServerSource(port) for port in sorted(int(port[1]) for port in matches if port) if _listens(port)]


def server(port: int | None = None) -> ServerSource:
    """Return the server of a port, or the only one.

    Raises:
        DiagnosticsError: there is no session, or there are several.

    """
    if port is not None:
        return ServerSource(port)
    match servers():
        case [only]:
            return only
        case []:
            raise DiagnosticsError("not_running", "No MCP server by HTTP runs.", _START_A_SERVER)
        case several:
            ports = ", ".join(str(each.port) for each in several)
            raise DiagnosticsError("invalid_arguments", f"Several MCP servers run: say which by its port, {ports}.")


def _path(port: int) -> str:
    return str(Path(runtime_folder(), MCP_SOCKET.format(port)))


def _listens(port: int) -> bool:
    try:
        connection = HubConnection.to(_path(port), time.monotonic() + limits.CONNECT_RETRY_SECONDS)
    except hub.HubError:
        return False
    if connection is not None:
        connection.close()
    return connection is not None


class WireReader:
    """Reads messages over one connection, in one thread; another thread may end that.

    Raises of all methods but `interrupt`: DiagnosticsError.
    """

    def __init__(self, source: WireSource) -> None:
        self._source = source
        self._name: str | None = None
        self._interrupted = threading.Event()
        try:
            self._connection = source.connect()
        except hub.HubError as error:
            raise source.failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def interrupt(self) -> None:
        """End the read that another thread waits for, and every later one."""
        self._interrupted.set()
        self._connection.interrupt()

    def read(self, after: int = 0, *, follow: bool = False) -> WireRecords | None:
        """Return messages after one; None if no more can come, since the process that kept them has ended.

        Args:
            after: number of the last one that is known.
            follow: wait some time for a record if none exists yet.

        """
        arguments: Call = {"after": after, "follow": follow, "timeout": limits.WIRE_FOLLOW_SECONDS}
        deadline = time.monotonic() + limits.HUB_CALL_SECONDS
        try:
            result = self._connection.ask(self._source.call(arguments, self._name), deadline)
        except hub.HubLost:
            return None
        except hub.HubError as error:
            if error.code in _ENDED:
                return None
            raise self._source.failure(error) from error
        page = from_json_value(WireRecords, self._source.details(result))
        self._name = page.session
        return page

    def pages(self, *, follow: bool = False) -> Iterator[WireRecords]:
        """Yield the messages that are kept, and with `follow` those that come, with pages without any between them."""
        after, most = 0, None
        while not self._interrupted.is_set() and (page := self.read(after, follow=follow)) is not None:
            most = page.total if most is None else most
            after = page.records[-1].number if page.records else after
            yield page
            if page.total < after:  # another session has got the name
                return
            if (page.over and after >= page.total) if follow else (after >= most or not page.records):
                return
