"""Requests of the adapter to the client: terminals for its programs, and sessions for their children.

A child session is reached as its parent was, unless the adapter says otherwise:
debugpy names host and port in the child's configuration. The request is answered
before the child is reached, since the adapter may be waiting for that. A child
that is not wanted is attached to and released, or it would wait for us forever.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from dapkit.client import limits
from dapkit.client.errors import WaitExpired
from dapkit.client.routes import Reached, Route, Tcp, Unix
from dapkit.client.terminal import OnOutput, Terminal, open_terminal
from dapkit.endpoint import EventReceived, RequestFailed, RequestReceived
from dapkit.protocol import (
    DapkitError,
    Event,
    RawJson,
    Request,
    RunInTerminalBody,
    RunInTerminalRequestArguments,
    StartDebuggingRequestArguments,
    decode_as,
)
from dapkit.transport import CannotStart, Connection, StateChange

log = logging.getLogger(__name__)

REVERSE_COMMANDS = ("runInTerminal", "startDebugging")
"""Requests of the adapter that are answered here."""

_UNKNOWN = (
    "nothing is run in a terminal for an adapter at a port that asks for no token, where any user of the machine could "
    "listen: have the adapter started, or let it listen at a unix socket"
)

type Adopts = Callable[[StartDebuggingRequestArguments], bool]
"""Says whether a child session is wanted."""


def adopt_all(_: StartDebuggingRequestArguments) -> bool:
    """Want every child session."""
    return True


class ChildSession(Protocol):
    """The handling of a child's session."""

    async def __aenter__(self) -> object:
        """Reach the adapter."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End everything that it started."""
        ...

    async def start(self, command: str, configuration: Mapping[str, object], *, deadline: float) -> None:
        """Launch or attach."""
        ...

    async def detach(self) -> None:
        """Let the program keep running."""
        ...

    async def wait_until_ended(self, *, deadline: float) -> object:
        """Wait until debugging is over."""
        ...


class NewChild[S: ChildSession](Protocol):
    """Makes the session of a child, not yet open."""

    def __call__(self, route: Route, *, adopted: bool) -> S:
        """Give it the breakpoints of its parent if it is adopted, else none."""
        ...


class ReverseRequestHandler[S: ChildSession]:
    """Terminals and children of one session.

    Invariant: each entry of both lists is closed by the task group of its task,
    and stays in the list, so that its output can be read.
    """

    def __init__(
        self,
        *,
        new_child: NewChild[S],
        adopts: Adopts,
        updates: StateChange,
        wrote: OnOutput,
        program_input: Path | None = None,
    ) -> None:
        self.terminals: list[Terminal] = []
        self.children: list[S] = []
        self._again: Route | None = None
        self._is_known = False
        self._new_child = new_child
        self._adopts = adopts
        self._updates = updates
        self._wrote = wrote
        self._program_input = program_input

    async def wait_for_children(self, count: int, *, deadline: float) -> Sequence[S]:
        """See `Session.wait_for_children`."""
        with anyio.move_on_after(deadline):
            await self._updates.until(lambda: len(self.children) >= count)
        if len(self.children) < count:
            raise WaitExpired(f"child session {count}", deadline)
        return tuple(self.children)

    async def wait_for_terminal(self, *, deadline: float) -> Terminal:
        """See `Session.wait_for_terminal`."""
        with anyio.move_on_after(deadline):
            await self._updates.until(lambda: bool(self.terminals))
        if not self.terminals:
            raise WaitExpired("a terminal", deadline)
        return self.terminals[-1]

    async def serve(self, connection: Connection, terminals: TaskGroup, children: TaskGroup, reached: Reached) -> None:
        """Answer until the conversation ends; terminals and children live in these groups.

        An adapter of which it is not known whose it is has nothing run: it could be a stranger's.
        """
        self._again, self._is_known = reached.again, reached.is_known
        async for incoming in connection.incoming():
            match incoming:
                case RequestReceived(Request(arguments=RunInTerminalRequestArguments() as run) as request):
                    terminals.start_soon(self._run_in_terminal, connection, request, run)
                case RequestReceived(Request(arguments=StartDebuggingRequestArguments() as start) as request):
                    connection.respond(request)
                    children.start_soon(self._host, start)
                case EventReceived(Event(event="debugpyAttach", body=RawJson() as body)):
                    # debugpy before it knew startDebugging
                    configuration = decode_as(dict[str, object], body)
                    start = StartDebuggingRequestArguments(configuration=configuration, request="attach")
                    children.start_soon(self._host, start)
                case _:  # events were watched as they came
                    pass

    async def _run_in_terminal(
        self, connection: Connection, request: Request, arguments: RunInTerminalRequestArguments
    ) -> None:
        if not self._is_known:
            connection.fail(request, RequestFailed(_UNKNOWN))
            return
        try:
            async with open_terminal(arguments, on_output=self._wrote, program_input=self._program_input) as terminal:
                self.terminals.append(terminal)
                connection.respond(request, RunInTerminalBody(process_id=terminal.pid))
                self._updates.notify()
                await anyio.sleep_forever()  # until the session closes
        except CannotStart as error:
            connection.fail(request, RequestFailed(str(error)))

    async def _host(self, arguments: StartDebuggingRequestArguments) -> None:
        route = self._route_to(arguments.configuration)
        if route is None:
            log.warning("a child session was asked for, but its adapter takes no second session on this stream")
            return
        adopted = self._adopts(arguments)
        child = self._new_child(route, adopted=adopted)
        try:
            async with child:
                if adopted:
                    self.children.append(child)
                    self._updates.notify()
                    await child.start(arguments.request, arguments.configuration, deadline=limits.CHILD_START_SECONDS)
                    await child.wait_until_ended(deadline=math.inf)
                else:
                    await child.start(arguments.request, arguments.configuration, deadline=limits.CHILD_START_SECONDS)
                    await child.detach()
        except DapkitError as error:
            log.info("the session of a child process was lost, which may have ended: %s", error)

    def _route_to(self, configuration: Mapping[str, object]) -> Route | None:
        match configuration:
            case {"adapterSocket": str(path)} if self._is_known:  # dapkit.python: its process serves children as well
                return Unix(Path(path))
            case {"connect": {"host": str(host), "port": int(port)}}:
                return Tcp(host, port, is_known=self._is_known)
            case _:
                return self._again
