"""A debug session as its client sees it: one adapter, one program, from initialize to disconnect.

This module joins the parts and owns the tasks; each part decides one question: `routes` how to reach an adapter,
`adapter_connection` how to send requests, `received_state` the state of the program, `life` how the program starts and
ends, `breakpoint_sync` where it stops, `waits` which events are awaited, `reverse` which requests of the adapter are
allowed.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Self, Unpack

import anyio
from anyio.abc import ByteStream, TaskGroup, TaskStatus

from dapkit import limits
from dapkit.client.adapter_connection import AdapterConnection
from dapkit.client.breakpoint_sync import BreakpointSync
from dapkit.client.breakpoints import Breakpoints, SessionBreakpoint
from dapkit.client.events import EventStream, SessionEvent
from dapkit.client.handshake import introduction as usual_introduction
from dapkit.client.life import SessionLife
from dapkit.client.open_options import Listener, OpenOptions
from dapkit.client.received_state import ReceivedState
from dapkit.client.requests import RequestMethods
from dapkit.client.reverse import REVERSE_COMMANDS, Adopts, ReverseRequestHandler, adopt_all
from dapkit.client.routes import Given, Listening, Reached, Route, Spawned, Tcp, Unix
from dapkit.client.state import Ended, KnownThread, State
from dapkit.client.terminal import Terminal
from dapkit.client.waits import Waits
from dapkit.endpoint import Violation
from dapkit.protocol import (
    Arguments,
    AttachRequestArguments,
    Capabilities,
    InitializeRequestArguments,
    LaunchRequestArguments,
    ProcessEvent,
    StoppedEvent,
    decode_as,
    encode_value,
)
from dapkit.protocol.specs import BREAKPOINT_COMMANDS
from dapkit.transport import Connection, Tap, background_tasks

# Methods of a session that one of its parts has, under the session's name for them.


def forwarded[T, **P, R](part: str, method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that calls the method of the same name on a part of the object."""

    @functools.wraps(method)
    def call(self: object, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(getattr(self, part), *args, **kwargs)

    return call


class Session(RequestMethods):
    """A conversation with a debug adapter; an async context manager.

    Entering reaches the adapter and initializes it. Leaving disconnects, which
    ends a launched program and releases an attached one, and leaves no process
    behind, whatever happened in the block. All times are in seconds.

    Example:
        async with Session.spawn(["python", "-m", "debugpy.adapter"]) as session:
            await session.add_breakpoint("program.py", 3)
            await session.launch({"program": "program.py"})
            stop = await session.next_stop()

    """

    def __init__(
        self,
        route: Route,
        *,
        adapter_id: str = "dapkit",
        introduction: InitializeRequestArguments | None = None,
        transcript: Path | None = None,
        breakpoints: Breakpoints | None = None,
        adopts: Adopts = adopt_all,
        program_input: Path | None = None,
        listener: Listener["Session"] | None = None,
        new_tap: Callable[[], Tap] | None = None,
        parent: BreakpointSync | None = None,
        ends_program: Callable[[], bool] | None = None,
    ) -> None:
        """Take any route; the constructors by other names take the usual ones."""
        self._route = route
        self._introduction = usual_introduction(adapter_id) if introduction is None else introduction
        self._transcript = transcript
        self._adopts = adopts
        self._listener = listener
        self._new_tap = new_tap
        self._state = ReceivedState(Breakpoints() if breakpoints is None else breakpoints, changed=self._changed)
        self._adapter = AdapterConnection(self._state, serves=REVERSE_COMMANDS)
        self._breakpoints = BreakpointSync(self._state, self._adapter, parent=parent)
        self._life = SessionLife(self._adapter, self._breakpoints, self._state, ends_program=ends_program)
        self._waits = Waits(self._state, self._adapter)
        self._reverse = ReverseRequestHandler(
            new_child=self._new_child,
            adopts=adopts,
            updates=self._state.updates,
            wrote=self._wrote,
            program_input=program_input,
        )
        self.output = self._state.output
        self._closing = anyio.Event()
        self._exit = AsyncExitStack()

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **options: Unpack[OpenOptions["Session"]],
    ) -> Self:
        """Session with an adapter that is started and speaks on its stdin and stdout."""
        return cls(Spawned(argv, cwd, env), **options)

    @classmethod
    def spawn_listening(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **options: Unpack[OpenOptions["Session"]],
    ) -> Self:
        """Session with an adapter that is started and speaks on a socket.

        Its command says where, by `${port}`, `${socket}` or, if it connects to us, `${callback}`.
        """
        return cls(Listening(argv, cwd, env), **options)

    @classmethod
    def connect(
        cls, host: str, port: int, *, token: str | None = None, **options: Unpack[OpenOptions["Session"]]
    ) -> Self:
        """Session with an adapter that listens on a TCP port.

        One of dapkit's asks for a token. It is found where the adapter has left it on this machine, unless it is given.
        """
        return cls(Tcp(host, port, token), **options)

    @classmethod
    def connect_unix(cls, path: Path, **options: Unpack[OpenOptions["Session"]]) -> Self:
        """Session with an adapter that listens on a unix socket."""
        return cls(Unix(path), **options)

    @classmethod
    def over(cls, stream: ByteStream, **options: Unpack[OpenOptions["Session"]]) -> Self:
        """Session over a stream that the session closes."""
        return cls(Given(stream), **options)

    # Opening and closing

    async def __aenter__(self) -> Self:
        """Reach the adapter and initialize it."""
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(background_tasks())
            await tasks.start(self._live)
            stack.callback(self._closing.set)
            self._exit = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Disconnect and end everything that the session started."""
        return await self._exit.__aexit__(kind, error, trace)

    async def _live(self, *, task_status: TaskStatus[None]) -> None:
        """Own everything that the session opens, from the first byte to the last.

        In a task of its own, which is shielded: a user who is cancelled must not cut off the `disconnect` request.
        """
        with anyio.CancelScope() as scope:
            async with (
                self._route.open() as reached,
                self._adapter.open(
                    reached,
                    transcript=self._transcript,
                    tap=None if self._new_tap is None else self._new_tap(),
                    printed=lambda text: self._wrote(None, text, "stdout"),
                ) as connection,
                background_tasks() as terminals,
            ):
                try:
                    async with background_tasks() as children:
                        terminals.start_soon(self._serve, connection, terminals, children, reached)
                        await self._adapter.request_checked(self._introduction)
                        scope.shield = True
                        task_status.started()
                        await self._closing.wait()
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._life.leave()
                    if reached.process is not None:
                        reached.process.takes_along = self._life.left_program

    async def _serve(self, connection: Connection, terminals: TaskGroup, children: TaskGroup, reached: Reached) -> None:
        await self._reverse.serve(connection, terminals, children, reached)
        self._state.end()

    def _new_child(self, route: Route, *, adopted: bool) -> "Session":
        ours = self._state.breakpoints
        return Session(
            route,
            introduction=self._introduction,
            transcript=self._transcript_of_child(),
            breakpoints=ours.for_another() if adopted else Breakpoints.none(),
            adopts=self._adopts,
            listener=self._listener if adopted else None,
            new_tap=self._new_tap if adopted else None,
            parent=self._breakpoints if adopted else None,
            ends_program=self._life.ends_program if adopted else lambda: False,
        )

    def _transcript_of_child(self) -> Path | None:
        """Name a file beside our own: `run.jsonl`, `run.1.jsonl`, `run.1.1.jsonl`."""
        if self._transcript is None:
            return None
        return self._transcript.with_suffix(f".{len(self.children) + 1}{self._transcript.suffix}")

    def _changed(self, event: SessionEvent | None) -> None:
        if self._listener is not None:
            self._listener.changed(self, event)

    def _wrote(self, terminal: Terminal | None, text: str, category: str) -> None:
        if self._listener is not None:
            self._listener.wrote(self, terminal, text, category)

    # Starting and detaching

    async def launch(self, configuration: Mapping[str, object], *, deadline: float = limits.REQUEST_SECONDS) -> None:
        """Start the program and send the breakpoints; returns when the adapter says that it runs.

        `configuration` holds the adapter's own keys, such as `program` and `args`, by their wire names.

        Raises:
            StartRefused: the adapter answered with an error.

        """
        arguments = decode_as(LaunchRequestArguments, encode_value(dict(configuration)), "$")
        await self._life.start(arguments, deadline=deadline)

    async def attach(self, configuration: Mapping[str, object], *, deadline: float = limits.REQUEST_SECONDS) -> None:
        """Attach to a running program; otherwise as `launch`."""
        arguments = decode_as(AttachRequestArguments, encode_value(dict(configuration)), "$")
        await self._life.start(arguments, deadline=deadline)

    async def start(
        self,
        command: str,
        configuration: Mapping[str, object],
        *,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> None:
        """Launch or attach, as `command` says."""
        await (self.attach if command == "attach" else self.launch)(configuration, deadline=deadline)

    async def detach(self, *, deadline: float = limits.REQUEST_SECONDS) -> None:
        """Let the program keep running without a debugger, its children and its terminal too.

        Raises:
            CapabilityMissing: it was launched, and the adapter cannot let it go.

        """
        self._life.check_release()
        for child in self.children:
            if not isinstance(child.state, Ended):
                await child.detach(deadline=deadline)
        for terminal in self.terminals:
            terminal.release()
        await self._life.release(deadline=deadline)

    # Requests

    async def request[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the adapter and wait for its answer.

        Raises:
            RequestFailed: the adapter answered with an error.
            DeadlineExceeded: it did not answer in time; it was asked to give up, if it understands that.
            AdapterDied: it is gone.
            CapabilityMissing: it did not announce that it can do this; nothing was sent.
            OutOfOrder: this is not the time for it; nothing was sent.
            InvalidValue: an argument, or the body of the response, violates the specification.

        """
        if arguments.command in BREAKPOINT_COMMANDS:
            return await self._breakpoints.ask(arguments, deadline=deadline)
        return await self._adapter.request_checked(arguments, deadline=deadline)

    request_custom = forwarded("_adapter", AdapterConnection.ask_custom)

    # Breakpoints

    add_breakpoint = forwarded("_breakpoints", BreakpointSync.add_on_line)
    add_function_breakpoint = forwarded("_breakpoints", BreakpointSync.add_on_function)
    add_data_breakpoint = forwarded("_breakpoints", BreakpointSync.add_on_data)
    add_instruction_breakpoint = forwarded("_breakpoints", BreakpointSync.add_on_instruction)
    add_breakpoint_spec = forwarded("_breakpoints", BreakpointSync.add)
    remove_breakpoint = forwarded("_breakpoints", BreakpointSync.remove)
    clear_breakpoints = forwarded("_breakpoints", BreakpointSync.clear)
    break_on_exceptions = forwarded("_breakpoints", BreakpointSync.break_on_exceptions)

    @property
    def breakpoints(self) -> tuple[SessionBreakpoint, ...]:
        """All breakpoints in the present state, in the order in which they were added."""
        return tuple(self._state.breakpoints)

    @property
    def exception_breakpoint_ids(self) -> frozenset[int]:
        """The adapter's numbers for the exceptions that stop, as `hit_breakpoint_ids` of a stop may name them."""
        return self._state.breakpoints.exception_ids

    def breakpoint(self, number: int) -> SessionBreakpoint | None:
        """Look up the present state of a breakpoint; None if no breakpoint has this number."""
        return self._state.breakpoints.get(number)

    def breakpoints_for_another(self) -> Breakpoints:
        """Copy the breakpoints, for a session that debugs the program once more.

        Data and instruction breakpoints stay behind: their addresses mean nothing in another process.
        """
        return self._state.breakpoints.for_another()

    # Waiting

    next_stop = forwarded("_waits", Waits.next_stop)
    resume = forwarded("_waits", Waits.resume)
    settled = forwarded("_waits", Waits.settled)
    wait_until_ended = forwarded("_waits", Waits.wait_until_ended)

    async def wait_for[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        since: int | None = None,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> E:
        """Return the first event of a kind since the program was last set going.

        An event that came already counts, so that none can come too early: between
        `continue_` and `wait_for`, say. Set going means launch, attach, any request that
        resumes the program, and a `continued` event. `since` looks from another position
        on; 0 is the start of the session.

        Raises:
            WaitExpired: none came in time.
            ProgramEnded: none can come any more.
            AdapterDied: the adapter is gone.

        """
        return await self._waits.wait_for(kind, where=where, since=since, deadline=deadline)

    async def wait_for_children(
        self, count: int = 1, *, deadline: float = limits.REQUEST_SECONDS
    ) -> Sequence["Session"]:
        """Wait until there were at least so many children.

        Raises:
            WaitExpired: there were not.

        """
        return await self._reverse.wait_for_children(count, deadline=deadline)

    async def wait_for_terminal(self, *, deadline: float = limits.REQUEST_SECONDS) -> Terminal:
        """Wait until the adapter has asked for a terminal, and return the latest.

        Raises:
            WaitExpired: it has not.

        """
        return await self._reverse.wait_for_terminal(deadline=deadline)

    def events(self, *, since: int | None = None) -> EventStream:
        """Listen to events: an async iterator of its own, from now or from an earlier position on.

        It ends with the conversation. Any number of streams get every event each.
        """
        return self._state.events.stream(since)

    # State

    @property
    def state(self) -> State:
        """The state of the program."""
        return self._state.program.state

    @property
    def known_threads(self) -> Mapping[int, KnownThread]:
        """Threads by id, as far as events and `threads` responses reported them."""
        return dict(self._state.program.threads)

    @property
    def stops_beside(self) -> Mapping[int, StoppedEvent]:
        """Stops of single threads, by their ids, which came while another thread stood already and still hold."""
        return dict(self._state.program.beside)

    @property
    def debugged_process(self) -> ProcessEvent | None:
        """The process that is debugged, as far as the adapter reports it (event `process`)."""
        return self._state.program.process

    @property
    def position(self) -> int:
        """Number of events that came so far: a place in their order, for `events` and `wait_for`."""
        return self._state.events.position

    @property
    def initialized(self) -> bool:
        """Whether the adapter has reported that it takes breakpoints now (event `initialized`)."""
        return self._state.initialized

    @property
    def configured(self) -> bool:
        """Whether the breakpoints are being sent, or were."""
        return self._breakpoints.configured

    @property
    def children(self) -> Sequence["Session"]:
        """Sessions of child processes, oldest first; those that ended stay."""
        return tuple(self._reverse.children)

    @property
    def terminals(self) -> Sequence[Terminal]:
        """Terminals that the adapter asked for, oldest first."""
        return tuple(self._reverse.terminals)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities that the adapter announced, by its `initialize` response and `capabilities` events."""
        return self._adapter.capabilities

    @property
    def adapter_pid(self) -> int | None:
        """Process of the adapter; None if dapkit did not start it."""
        return self._adapter.pid

    @property
    def adapter_exit_code(self) -> int | None:
        """Exit code of its process, or minus the signal that killed it; None while it runs, or if it is not ours."""
        return self._adapter.exit_code

    async def wait_for_adapter_exit(self, *, deadline: float = limits.REQUEST_SECONDS) -> int | None:
        """Wait until the adapter's process has ended, at most `deadline` seconds; return the `adapter_exit_code`."""
        return await self._adapter.wait_for_exit(deadline)

    @property
    def adapter_stderr(self) -> str:
        """The end of the adapter's stderr.

        If it speaks on a socket, also of its stdout, since programs under delve write there.
        """
        return self._adapter.stderr

    @property
    def violations(self) -> Sequence[Violation]:
        """Violations of the protocol by the adapter that were tolerated."""
        return self._adapter.violations
