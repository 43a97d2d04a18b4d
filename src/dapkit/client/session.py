"""A debug session as its client sees it: one adapter, one program, from initialize to disconnect.

This module joins the parts and owns the tasks; what they decide is theirs:
`routes` how an adapter is reached, `handshake` the order of a start, `state` what
the program is doing, `breaking` what is to stop it, `events` who is told,
`reverse` what the adapter may ask of us.

All state follows the order of the wire: each message brings it up to date before
anybody who waits for it is woken.
"""

import codecs
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapkit import limits
from dapkit.client.breaking import Breaking
from dapkit.client.breakpoints import SET_COMMANDS, Breakpoints
from dapkit.client.errors import AdapterDied, ProgramEnded, WaitExpired
from dapkit.client.events import CustomEvent, SessionEvent
from dapkit.client.fields import check_fields
from dapkit.client.handshake import introduction, shake_hands
from dapkit.client.listening import Listener
from dapkit.client.opening import Opening
from dapkit.client.output import TextLog
from dapkit.client.reverse import REVERSE_COMMANDS, Adopts, Reverse, everybody
from dapkit.client.routes import Reached, Route
from dapkit.client.state import Ended, Starting
from dapkit.client.terminal import Terminal
from dapkit.client.waiting import Waiting
from dapkit.endpoint import (
    CapabilityMissing,
    ConversationEnded,
    Endpoint,
    EventReceived,
    Happening,
    LocalProtocolError,
    ResponseReceived,
    Role,
    Violation,
)
from dapkit.protocol import (
    Arguments,
    AttachRequestArguments,
    BreakpointEvent,
    Capabilities,
    DapkitError,
    DisconnectArguments,
    Event,
    EventBody,
    InitializedEvent,
    InvalidValue,
    LaunchRequestArguments,
    OutputEvent,
    RawJson,
    decode_as,
    encode_value,
)
from dapkit.transport import ChildProcess, Connection, ConversationLost, Recorder, background_tasks

log = logging.getLogger(__name__)


class Session(Opening, Breaking, Waiting):
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
        transcript: Path | None = None,
        breakpoints: Breakpoints | None = None,
        adopts: Adopts = everybody,
        program_input: Path | None = None,
        listener: Listener | None = None,
        ends_program: Callable[[], bool] | None = None,
    ) -> None:
        Breaking.__init__(self, breakpoints)
        Waiting.__init__(self)
        self.output = TextLog()
        self._route = route
        self._adapter_id = adapter_id
        self._adopts = adopts
        self._listener = listener
        self._transcript = transcript
        self._ends_program = self._launched if ends_program is None else ends_program
        self._endpoint = Endpoint(Role.CLIENT, serves=REVERSE_COMMANDS)
        self._reverse = Reverse(
            new_child=self._new_child,
            adopts=adopts,
            pulse=self._pulse,
            wrote=self._wrote,
            program_input=program_input,
        )
        self._initialized = False
        self._start: LaunchRequestArguments | AttachRequestArguments | None = None
        self._farewell_said = False
        self._disconnected = False
        self._lets_go = False
        self._closing = anyio.Event()
        self._exit = AsyncExitStack()
        self._process: ChildProcess | None = None
        self._connection: Connection | None = None

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

        In a task of its own, which is shielded: a user who is cancelled must not cut off the farewell.
        """
        with anyio.CancelScope() as scope:
            async with (
                self._route.open() as reached,
                self._conversation(reached) as self._connection,
                background_tasks() as terminals,
            ):
                try:
                    async with background_tasks() as children:
                        terminals.start_soon(self._serve, self._connection, terminals, children, reached.again)
                        await self._ask(introduction(self._adapter_id))
                        scope.shield = True
                        task_status.started()
                        await self._closing.wait()
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._leave()
                    if reached.process is not None:
                        reached.process.takes_along = self._left_program()

    @asynccontextmanager
    async def _conversation(self, reached: Reached) -> AsyncIterator[Connection]:
        self._process = reached.process
        if reached.process is not None and not reached.process.on_stdio:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            reached.process.tell(lambda data: self._wrote(None, decoder.decode(data)))
        with ExitStack() as stack:
            record = None
            if self._transcript is not None:
                record = stack.enter_context(Recorder(self._transcript, role=Role.CLIENT))
            async with Connection(reached.stream, self._endpoint, tap=record, watch=self._watch) as connection:
                yield connection

    async def _leave(self) -> None:
        if self._endpoint.ended is not None:
            return
        if self._farewell_said:
            with anyio.move_on_after(limits.CLOSE_SECONDS):
                await self._pulse.until(lambda: self._disconnected or self._endpoint.ended is not None)
            return
        try:
            await self._ask(self._farewell(), deadline=limits.CLOSE_SECONDS)
        except DapkitError as error:
            log.debug("the adapter did not take the disconnect request: %s", error)

    def _farewell(self) -> DisconnectArguments:
        if not self.capabilities.support_terminate_debuggee:
            return DisconnectArguments()
        return DisconnectArguments(terminate_debuggee=self._ends_program())

    def _left_program(self) -> bool:
        """Whether the adapter is gone, or deaf, and has neither ended nor released the program that it launched."""
        ended = isinstance(self.state, Ended) and not self.state.adapter_lost
        return self._ends_program() and not (ended or self._disconnected or self._lets_go)

    def _launched(self) -> bool:
        return isinstance(self._start, LaunchRequestArguments)

    def _new_child(self, route: Route, *, adopted: bool) -> "Session":
        return Session(
            route,
            adapter_id=self._adapter_id,
            transcript=self._transcript_of_child(),
            breakpoints=self._wishes.for_another() if adopted else Breakpoints.none(),
            adopts=self._adopts,
            listener=self._listener if adopted else None,
            ends_program=self._ends_program if adopted else lambda: False,
        )

    def _transcript_of_child(self) -> Path | None:
        """Name a file beside our own: `run.jsonl`, `run.1.jsonl`, `run.1.1.jsonl`."""
        if self._transcript is None:
            return None
        return self._transcript.with_suffix(f".{len(self.children) + 1}{self._transcript.suffix}")

    # Starting

    async def launch(self, configuration: Mapping[str, object], *, deadline: float = limits.REQUEST_SECONDS) -> None:
        """Start the program and send the breakpoints; returns when the adapter says that it runs.

        `configuration` holds the adapter's own keys, such as `program` and `args`, by their wire names.

        Raises:
            StartRefused: the adapter answered with an error.

        """
        await self._begin(decode_as(LaunchRequestArguments, encode_value(dict(configuration)), "$"), deadline)

    async def attach(self, configuration: Mapping[str, object], *, deadline: float = limits.REQUEST_SECONDS) -> None:
        """Attach to a running program; otherwise as `launch`."""
        await self._begin(decode_as(AttachRequestArguments, encode_value(dict(configuration)), "$"), deadline)

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
        """Let the program run on without a debugger, its children and its terminal too.

        Raises:
            CapabilityMissing: it was launched, and the adapter cannot let it go.

        """
        able = self.capabilities.support_terminate_debuggee
        if self._ends_program() and not able:
            raise CapabilityMissing("detach from a launched program", "supportTerminateDebuggee", "adapter")
        for child in self.children:
            if not isinstance(child.state, Ended):
                await child.detach(deadline=deadline)
        for terminal in self.terminals:
            terminal.release()
        self._lets_go = True
        await self.disconnect(terminate_debuggee=False if able else None, deadline=deadline)

    async def _begin(self, arguments: LaunchRequestArguments | AttachRequestArguments, deadline: float) -> None:
        self._start = arguments
        await shake_hands(
            arguments.command,
            start=lambda: self._ask(arguments, deadline=deadline),
            configure=self._configure,
            initialized=lambda: self._initialized,
            under_way=lambda: not isinstance(self.state, Starting),
            pulse=self._pulse,
        )
        self._program.started()
        self._pulse.beat()

    # Asking

    async def request[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the adapter and wait for its answer.

        Raises:
            RequestFailed: the adapter answered with an error.
            DeadlineExceeded: it did not answer in time; it was told to give up, if it understands that.
            AdapterDied: it is gone.
            CapabilityMissing: it did not announce that it can do this; nothing was sent.
            OutOfOrder: this is not the time for it; nothing was sent.
            InvalidValue: an argument, or the body of the answer, is not what the specification allows.

        """
        if arguments.command not in SET_COMMANDS:
            return await self._ask(arguments, deadline=deadline)
        async with self._setting:
            take_back = self._wishes.asked(arguments)
            try:
                return await self._ask(arguments, deadline=deadline)
            except (LocalProtocolError, InvalidValue):
                take_back()
                raise

    async def request_custom(
        self, command: str, arguments: object = None, *, deadline: float = limits.REQUEST_SECONDS
    ) -> object:
        """Ask with a command of the adapter's own; arguments and body are plain JSON. Raises: as `request`."""
        try:
            raw = await self._alive.request_custom(command, arguments, deadline=deadline)
        except ConversationLost as lost:
            raise await self._death(lost) from lost
        return None if raw is None else decode_as(object, raw)

    async def _ask[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        check_fields(arguments, self.capabilities)
        self._program.asked(arguments, position=self._events.position)
        self._farewell_said = self._farewell_said or arguments.command == "disconnect"
        try:
            return await self._alive.request(arguments, deadline=deadline)
        except (LocalProtocolError, InvalidValue):
            self._program.refused(arguments)
            raise
        except ConversationLost as lost:
            raise await self._death(lost) from lost

    @property
    def _alive(self) -> Connection:
        if self._connection is None:
            raise ConversationLost("the session is not open: use it in `async with`")
        return self._connection

    async def _death(self, lost: ConversationLost) -> AdapterDied:
        """Error that says how the adapter ended, which may take a moment."""
        process = self._process
        if process is None:
            return AdapterDied(str(lost))
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await process.wait()
        return AdapterDied(str(lost), exit_code=process.returncode, stderr=process.stderr_tail())

    async def _ending(self, ended: Ended) -> DapkitError:
        if ended.adapter_lost:
            problem = None if self._endpoint.ended is None else self._endpoint.ended.problem
            why = problem or "it closed the connection before the program had ended"
            return await self._death(ConversationLost(why))
        return ProgramEnded(ended.exit_code)

    # What is known

    @property
    def capabilities(self) -> Capabilities:
        """What the adapter announced that it can do, by its `initialize` response and `capabilities` events."""
        return self._endpoint.capabilities

    @property
    def _over(self) -> bool:
        return isinstance(self.state, Ended)

    @property
    def initialized(self) -> bool:
        """Whether the adapter has said that it takes breakpoints now (event `initialized`)."""
        return self._initialized

    @property
    def configured(self) -> bool:
        """Whether the breakpoints are being sent, or were."""
        return self._configured

    @property
    def children(self) -> Sequence["Session"]:
        """Sessions of child processes, oldest first; those that ended stay."""
        return tuple(self._reverse.children)

    @property
    def terminals(self) -> Sequence[Terminal]:
        """Terminals that the adapter asked for, oldest first."""
        return tuple(self._reverse.terminals)

    @property
    def adapter_pid(self) -> int | None:
        """Process of the adapter; None if it is not ours."""
        return None if self._process is None else self._process.pid

    @property
    def adapter_exit_code(self) -> int | None:
        """Exit code of its process, or minus the signal that killed it; None while it runs, or if it is not ours."""
        return None if self._process is None else self._process.returncode

    @property
    def adapter_stderr(self) -> str:
        """What the adapter wrote there last; if it speaks on a socket, also to stdout, as programs under delve do."""
        return "" if self._process is None else self._process.stderr_tail()

    @property
    def violations(self) -> Sequence[Violation]:
        """What the adapter did against the protocol and was forgiven."""
        return tuple(self._endpoint.violations.kept)

    async def wait_for_children(
        self, count: int = 1, *, deadline: float = limits.REQUEST_SECONDS
    ) -> Sequence["Session"]:
        """Wait until there were at least so many children.

        Raises:
            WaitExpired: there were not.

        """
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: len(self.children) >= count)
        if len(self.children) < count:
            raise WaitExpired(f"child session {count}", deadline)
        return self.children

    async def wait_for_terminal(self, *, deadline: float = limits.REQUEST_SECONDS) -> Terminal:
        """Wait until the adapter has asked for a terminal, and return the latest.

        Raises:
            WaitExpired: it has not.

        """
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: bool(self.terminals))
        if not self.terminals:
            raise WaitExpired("a terminal", deadline)
        return self.terminals[-1]

    # Hearing

    async def _serve(
        self, connection: Connection, terminals: TaskGroup, children: TaskGroup, again: Route | None
    ) -> None:
        await self._reverse.serve(connection, terminals, children, again)
        self._end()

    def _watch(self, happening: Happening) -> None:
        heard: SessionEvent | None = None
        match happening:
            case EventReceived(event):
                heard = self._told(event)
            case ResponseReceived(request, response) if response.success:
                self._wishes.answered(request.arguments, response.body)
                self._program.answered(request, response.body)
                self._disconnected = self._disconnected or request.command == "disconnect"
            case ResponseReceived(request):
                self._program.refused(request.arguments)
            case ConversationEnded():
                self._end()
                return
        self._tell_listener(heard)
        self._pulse.beat()

    def _told(self, event: Event) -> SessionEvent:
        body = event.body
        heard = body if isinstance(body, EventBody) else CustomEvent(event.event, _plain(body))
        self._events.add(heard)
        self._program.told(heard, position=self._events.position)
        match heard:
            case InitializedEvent():
                self._initialized = True
            case OutputEvent():
                self.output.append(heard.output, heard.category or "console")
            case BreakpointEvent():
                self._wishes.told(heard)
            case _:
                pass
        return heard

    def _wrote(self, terminal: Terminal | None, text: str) -> None:
        if self._listener is not None:
            self._listener.wrote(self, terminal, text)

    def _end(self) -> None:
        self._program.end(adapter_lost=not self._disconnected)
        self._events.close()
        self._tell_listener(None)
        self._pulse.beat()

    def _tell_listener(self, event: SessionEvent | None) -> None:
        if self._listener is not None:
            self._listener.changed(self, event)


def _plain(raw: object) -> object:
    return decode_as(object, raw) if isinstance(raw, RawJson) else None
