"""A debug session as its client sees it: one adapter, one program, from initialize to disconnect.

This module joins the parts and owns the tasks; what they decide is theirs:
`routes` how an adapter is reached, `handshake` the order of a start, `state` what
the program is doing, `breaking` what is to stop it, `events` who is told,
`reverse` what the adapter may ask of us.

All state follows the order of the wire: each message brings it up to date before
anybody who waits for it is woken.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.client.breaking import Breaking
from dapkit.client.breakpoints import SET_COMMANDS, Breakpoints
from dapkit.client.errors import AdapterDied, ProgramEnded, WaitExpired
from dapkit.client.events import CustomEvent, EndOfEvents, EventLog, EventStream
from dapkit.client.fields import check_fields
from dapkit.client.handshake import shake_hands
from dapkit.client.output import TextLog
from dapkit.client.pulse import Pulse
from dapkit.client.routes import Given, Reached, Route, Spawned, Tcp, Unix
from dapkit.client.state import Ended, KnownThread, Program, Starting, State, Stopped
from dapkit.endpoint import (
    ConversationEnded,
    Endpoint,
    EventReceived,
    Happening,
    LocalProtocolError,
    OutOfOrder,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    Role,
    Violation,
)
from dapkit.protocol import (
    Arguments,
    AttachRequestArguments,
    BreakpointEvent,
    Capabilities,
    ContinueArguments,
    DapkitError,
    DisconnectArguments,
    Event,
    EventBody,
    InitializedEvent,
    InitializeRequestArguments,
    InvalidValue,
    LaunchRequestArguments,
    OutputEvent,
    RawJson,
    decode_as,
    encode_value,
)
from dapkit.transport import Connection, ConversationLost, Tap
from dapkit.transport.tasks import background_tasks

log = logging.getLogger(__name__)


class Session(Breaking):
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
        tap: Tap | None = None,
        breakpoints: Breakpoints | None = None,
    ) -> None:
        super().__init__(breakpoints)
        self.output = TextLog()
        self._route = route
        self._adapter_id = adapter_id
        self._tap = tap
        self._endpoint = Endpoint(Role.CLIENT, serves=("runInTerminal", "startDebugging"))
        self._program = Program()
        self._events = EventLog()
        self._pulse = Pulse()
        self._initialized = False
        self._start: LaunchRequestArguments | AttachRequestArguments | None = None
        self._disconnected = False
        self._exit = AsyncExitStack()
        self._reached: Reached | None = None
        self._connection: Connection | None = None

    # Opening and closing

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        adapter_id: str = "dapkit",
        tap: Tap | None = None,
    ) -> Self:
        """Session with an adapter that is started and speaks on its stdin and stdout."""
        return cls(Spawned(argv, cwd, env), adapter_id=adapter_id, tap=tap)

    @classmethod
    def connect(cls, host: str, port: int, *, adapter_id: str = "dapkit", tap: Tap | None = None) -> Self:
        """Session with an adapter that listens on a TCP port."""
        return cls(Tcp(host, port), adapter_id=adapter_id, tap=tap)

    @classmethod
    def connect_unix(cls, path: Path, *, adapter_id: str = "dapkit", tap: Tap | None = None) -> Self:
        """Session with an adapter that listens on a unix socket."""
        return cls(Unix(path), adapter_id=adapter_id, tap=tap)

    @classmethod
    def over(cls, stream: ByteStream, *, adapter_id: str = "dapkit", tap: Tap | None = None) -> Self:
        """Session over a stream that the session closes."""
        return cls(Given(stream), adapter_id=adapter_id, tap=tap)

    async def __aenter__(self) -> Self:
        """Reach the adapter and initialize it."""
        async with AsyncExitStack() as stack:
            self._reached = await stack.enter_async_context(self._route.open())
            self._connection = await stack.enter_async_context(
                Connection(self._reached.stream, self._endpoint, tap=self._tap, watch=self._watch)
            )
            tasks = await stack.enter_async_context(background_tasks())
            tasks.start_soon(self._serve, self._connection)
            stack.push_async_callback(self._leave)
            await self._ask(_introduction(self._adapter_id))
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

    async def _leave(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._endpoint.ended is None and not self._disconnected:
                try:
                    await self._ask(self._farewell(), deadline=limits.CLOSE_SECONDS)
                except DapkitError as error:
                    log.debug("the adapter did not take the disconnect request: %s", error)

    def _farewell(self) -> DisconnectArguments:
        if not self.capabilities.support_terminate_debuggee:
            return DisconnectArguments()
        return DisconnectArguments(terminate_debuggee=isinstance(self._start, LaunchRequestArguments))

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
        process = None if self._reached is None else self._reached.process
        if process is None:
            return AdapterDied(str(lost))
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await process.wait()
        return AdapterDied(str(lost), exit_code=process.returncode, stderr=process.stderr_tail())

    # What is known

    @property
    def capabilities(self) -> Capabilities:
        """What the adapter announced that it can do, by its `initialize` response and `capabilities` events."""
        return self._endpoint.capabilities

    @property
    def state(self) -> State:
        """What the program is doing."""
        return self._program.state

    @property
    def known_threads(self) -> Mapping[int, KnownThread]:
        """Threads by id, as far as events and `threads` responses told of them."""
        return dict(self._program.threads)

    @property
    def children(self) -> Sequence["Session"]:
        """Sessions of child processes, oldest first."""
        return ()

    @property
    def violations(self) -> Sequence[Violation]:
        """What the adapter did against the protocol and was forgiven."""
        return tuple(self._endpoint.violations.kept)

    # Waiting

    @property
    def position(self) -> int:
        """Number of events that came so far: a place in their order, for `events` and `wait_for`."""
        return self._events.position

    def events(self, *, since: int | None = None) -> EventStream:
        """Listen to events: an async iterator of its own, from now or from an earlier position on.

        It ends with the conversation. Any number of listeners get every event each.
        """
        return self._events.stream(since)

    async def wait_for[E: (EventBody, CustomEvent)](
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

        """
        stream = self._events.stream(self._program.resumed_at if since is None else since)
        try:
            return await stream.next(kind, where=where, deadline=deadline)
        except EndOfEvents:
            raise ProgramEnded(self._program.exit_code) from None

    async def next_stop(self, *, deadline: float = limits.REQUEST_SECONDS) -> Stopped:
        """Wait until the program stands still; the present stop if it does already.

        After a request that resumes the program only a later stop counts, however fast it comes.

        Raises:
            ProgramEnded: it ended instead.
            WaitExpired: it still runs.

        """
        match await self.settled(deadline=deadline):
            case Stopped() as stop:
                return stop
            case Ended(exit_code):
                raise ProgramEnded(exit_code)
            case _:
                raise WaitExpired("a stop", deadline)

    async def resume(
        self, arguments: Arguments[object] | None = None, *, deadline: float = limits.REQUEST_SECONDS
    ) -> State:
        """Continue, or step with `arguments`, and wait for what comes of it: `Stopped`, `Ended`, or still `Running`.

        A stop that somebody else resumes at once is not missed. Raises: as `request`.
        """
        epoch = self._program.epoch
        ends = anyio.current_time() + deadline
        await self.request(arguments or ContinueArguments(thread_id=self._standing_thread()), deadline=deadline)
        return await self._settled_after(epoch, deadline=ends - anyio.current_time())

    async def settled(self, *, deadline: float = limits.REQUEST_SECONDS) -> State:
        """Wait until the program does not run any more; at the deadline return the state that it is in."""
        if isinstance(self.state, Stopped | Ended):
            return self.state
        return await self._settled_after(self._program.epoch, deadline=deadline)

    async def wait_until_ended(self, *, deadline: float = limits.REQUEST_SECONDS) -> Ended:
        """Wait until debugging is over.

        Raises:
            WaitExpired: it is not.

        """
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: isinstance(self.state, Ended))
        if isinstance(state := self.state, Ended):
            return state
        raise WaitExpired("the end of the program", deadline)

    async def _settled_after(self, epoch: int, *, deadline: float) -> State:
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: self._program.epoch > epoch or isinstance(self.state, Ended))
        stop = self._program.last_stop
        return self.state if stop is None or stop.epoch <= epoch else stop

    def _standing_thread(self) -> int:
        match self.state:
            case Stopped() as stop:
                return stop.thread_id
            case state:
                raise OutOfOrder(f"nothing can be continued: the program is {type(state).__name__.lower()}")

    # Hearing

    async def _serve(self, connection: Connection) -> None:
        async for incoming in connection.incoming():
            match incoming:
                case RequestReceived(request):
                    connection.fail(request, RequestFailed("to come"))
                case _:
                    pass
        self._end()

    def _watch(self, happening: Happening) -> None:
        match happening:
            case EventReceived(event):
                self._told(event)
            case ResponseReceived(request, response) if response.success:
                self._wishes.answered(request.arguments, response.body)
                self._program.answered(request, response.body)
                self._disconnected = self._disconnected or request.command == "disconnect"
            case ResponseReceived(request):
                self._program.refused(request.arguments)
            case ConversationEnded():
                self._end()
        self._pulse.beat()

    def _told(self, event: Event) -> None:
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

    def _end(self) -> None:
        self._program.end()
        self._events.close()
        self._pulse.beat()


def _introduction(adapter_id: str) -> InitializeRequestArguments:
    """Say what this client can do, and nothing that it cannot."""
    return InitializeRequestArguments(
        client_id="dapkit",
        client_name="dapkit",
        adapter_id=adapter_id,
        locale="en-US",
        lines_start_at1=True,
        columns_start_at1=True,
        path_format="path",
        supports_variable_type=True,
        supports_variable_paging=True,
        supports_run_in_terminal_request=True,
        supports_memory_references=True,
        supports_progress_reporting=True,
        supports_invalidated_event=True,
        supports_memory_event=True,
        supports_start_debugging_request=True,
    )


def _plain(raw: object) -> object:
    return decode_as(object, raw) if isinstance(raw, RawJson) else None
