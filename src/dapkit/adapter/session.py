"""One session of an adapter: requests become handlers, what handlers return becomes responses.

Each request has a cancel scope of its own, and gets one response however its
handler ends. Handlers run side by side, each in the task that heard its request;
serial ones run in the order of arrival. The session ends with `disconnect`, with
the end of input, or when the scope it runs in is cancelled; each way goes
through the same steps, once:

    cancel what is pending -> disconnect (if asked for) -> closing() -> the last response -> cancel background tasks

Which requests are legal when is the endpoint's business.
"""

import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits
from dapkit.adapter.definition import Definition
from dapkit.adapter.failures import CANCELLED, bad_arguments, failure_of
from dapkit.adapter.progress import Progress
from dapkit.endpoint import (
    CancelRequested,
    Endpoint,
    EventReceived,
    Overtakes,
    ProgressCancelRequested,
    RequestFailed,
    RequestReceived,
    Role,
)
from dapkit.protocol import (
    COMMANDS,
    EventBody,
    InitializedEvent,
    InvalidValue,
    OutputEvent,
    ProgressStartEvent,
    ProtocolObject,
    RawJson,
    Request,
    RestartArguments,
    TerminatedEvent,
    decode_as,
    encode_value,
)
from dapkit.transport import Connection, ConversationLost, Pulse, Tap, background_tasks

if TYPE_CHECKING:
    from dapkit.adapter.adapter import Adapter

log = logging.getLogger(__name__)

type ResponseBody = ProtocolObject | RawJson | None
"""What a handler returns."""

type Proceed = Callable[[Request], Awaitable[ResponseBody]]
"""The rest of the way to the handler."""

type Middleware = Callable[["Adapter[Any, Any]", Request, Proceed], Awaitable[ResponseBody]]
"""Something to be done around every request: it calls `proceed`, once or not at all, and returns the body."""

current_request: ContextVar[Request | None] = ContextVar("current_request", default=None)
"""The request that the running coroutine answers; None in background tasks."""


class _Running:
    """A request on its way to its response."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.scope = anyio.CancelScope()
        self.has_started = False
        self.is_answered = False


class AdapterSession:
    """One adapter and its client.

    Invariant: `_running` has an entry for each request that was received and has no response yet.
    """

    def __init__(
        self, adapter: "Adapter[Any, Any]", definition: Definition, stream: ByteStream, tap: Tap | None
    ) -> None:
        self.endpoint = Endpoint(Role.ADAPTER, serves={"initialize", *definition.handlers})
        self.connection = Connection(stream, self.endpoint, tap=tap)
        self._adapter = adapter
        self._definition = definition
        self._tasks: TaskGroup | None = None
        self._crash: Exception | None = None
        self._listening = anyio.CancelScope()
        self._ear = anyio.Lock(fast_acquire=True)
        self._incoming = self.connection.incoming()
        self._is_relieved = False  # by a task that waits to listen
        self._heard_all = anyio.Event()
        self._farewell: Request | None = None
        self._running: dict[int, _Running] = {}
        self._settled = Pulse()
        self._serial_send, self._serial = anyio.create_memory_object_stream[_Running](float("inf"))
        self._initialized = False
        self._configured = anyio.Event()
        self._ended_early = False
        self._start: str | None = None
        self._progresses: dict[str, Progress] = {}
        self._progress_count = 0

    async def run(self, over: anyio.Event) -> None:
        """Converse until the session ends; set `over` when the client has heard all.

        Raises:
            Exception: what a background task raised; it ended the session.

        """
        async with background_tasks() as watch:
            watch.start_soon(self._stop_when_cancelled)
            # Cancelled from outside, the conversation still ends in order: it takes the connection to do so.
            with anyio.CancelScope(shield=True), self._serial_send, self._serial:
                async with background_tasks() as self._tasks:
                    try:
                        async with self.connection:
                            await self._converse(self._tasks)
                    finally:
                        over.set()
        if self._crash is not None:
            raise self._crash

    async def _stop_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self._listening.cancel()

    async def _converse(self, tasks: TaskGroup) -> None:
        tasks.start_soon(self._work_off_serial)
        self.start_soon(self._attend)
        try:
            with self._listening:
                await self._heard_all.wait()
            ended = self.connection.ended
            if self._farewell is None and ended is not None and ended.problem is not None:
                log.error("the conversation ended: %s", ended.problem)
        finally:
            self._heard_all.set()
            await self._end(self._farewell)

    # For the adapter

    def send_event(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> bool:
        """Tell the client without waiting."""
        self._initialized |= isinstance(body, InitializedEvent)
        if isinstance(body, TerminatedEvent) and not self._configured.is_set():
            # No configurationDone is legal any more, and launch or attach must not wait for it.
            self._ended_early = True
            self._configured.set()
        return self.connection.send_event(body, overtakes=overtakes)

    async def send_output(self, body: OutputEvent) -> bool:
        """Tell the client of output, waiting while too much is queued."""
        await self.connection.send_output(body)
        return True

    def progress(self, title: str, **details: Any) -> Progress:  # noqa: ANN401 - fields of ProgressStartEvent
        """Prepare the progress of an operation; that of a request names it."""
        self._progress_count += 1
        request = current_request.get()
        start = ProgressStartEvent(
            progress_id=f"progress-{self._progress_count}",
            title=title,
            request_id=None if request is None else request.seq,
            **details,
        )
        return Progress(start, tell=self.connection.send_event, running=self._progresses)

    def start_soon(self, function: Callable[..., Awaitable[object]], *arguments: object) -> anyio.CancelScope:
        """Run a background task, which can be cancelled by its scope; if it raises, the session ends."""
        if self._tasks is None:
            raise RuntimeError("the session has not begun")
        scope = anyio.CancelScope()
        self._tasks.start_soon(self._in_background, scope, function, arguments)
        return scope

    # Listening

    async def _attend(self) -> None:
        """Answer what was heard, while another task like this one listens.

        To start one for each request would take longer than most of them do. There are as many as there were requests
        at once; one that is done ends if another waits for its turn to listen.
        """
        while not self._is_relieved:
            self._is_relieved = True
            async with self._ear:
                self._is_relieved = False
                running = await self._listen()
            if running is None:
                self._heard_all.set()
                return
            if not self._is_relieved:
                self.start_soon(self._attend)
            await self._answer(running)

    async def _listen(self) -> _Running | None:
        """Wait for a request that is to be answered now; None if nothing more is to be heard."""
        async for happening in self._incoming:
            if self._heard_all.is_set():
                break
            match happening:
                case RequestReceived(request) if request.command == "disconnect":
                    self._farewell = request
                    return None
                case RequestReceived(request):
                    if (running := self._begun(request)) is not None:
                        return running
                case CancelRequested(request):
                    self._cancel(request.seq)
                case ProgressCancelRequested(progress_id):
                    if (progress := self._progresses.get(progress_id)) is not None:
                        progress.cancel()
                case EventReceived(event):
                    log.debug("clients send no events, this one sent %s", event.event)
        return None

    def _begun(self, request: Request) -> _Running | None:
        """Take note of a request; return it unless it has to wait for its turn."""
        running = self._running[request.seq] = _Running(request)
        handler = self._definition.handlers.get(request.command)
        if handler is not None and handler.is_serial:
            self._serial_send.send_nowait(running)
            return None
        return running

    async def _work_off_serial(self) -> None:
        async for running in self._serial:
            await self._answer(running)

    def _cancel(self, seq: int) -> None:
        if (running := self._running.get(seq)) is not None:
            running.scope.cancel()
            if not running.has_started:
                self._settle(running)

    # Answering

    async def _answer(self, running: _Running) -> None:
        """Give a request its one response, unless it was cancelled before its turn came."""
        if running.is_answered:
            return
        request = running.request
        running.has_started = True
        current_request.set(request)
        try:
            with running.scope:
                self._respond(request, await self._through_middleware(request))
        except Exception as error:  # noqa: BLE001 - whatever a handler raises becomes the response
            self._fail(request, failure_of(request.command, error))
        finally:
            self._settle(running)

    def _settle(self, running: _Running) -> None:
        """Close the account of a request; without a response by now, it was cancelled."""
        self._fail(running.request, CANCELLED)
        del self._running[running.request.seq]
        running.is_answered = True
        self._settled.beat()

    def _fail(self, request: Request, failure: RequestFailed) -> None:
        """Answer with an error, unless there was an answer: a cancelled handler may end after the session."""
        if not self.endpoint.is_unanswered(request):
            return
        try:
            self.connection.fail(request, failure)
        except InvalidValue as error:  # in the Message that the handler made
            self.connection.fail(request, failure_of(request.command, error))

    async def _through_middleware(self, request: Request) -> ResponseBody:
        proceed: Proceed = self._handle
        for layer in reversed(self._adapter.middleware):
            proceed = _layered(layer, self._adapter, proceed)
        return await proceed(request)

    def _respond(self, request: Request, body: ResponseBody) -> None:
        if not self.endpoint.is_unanswered(request):
            return
        spec = COMMANDS.get(request.command)
        if spec is not None and not isinstance(body, (spec.body or type(None), RawJson)):
            expected = "None" if spec.body is None else spec.body.__name__
            raise TypeError(f"the handler returned {type(body).__name__}, expected {expected}")
        self.connection.respond(request, body)
        match request.command:
            case "initialize" if self._adapter.initialized_after == "initialize":
                self.send_event(InitializedEvent())
            case "configurationDone":
                self._configured.set()

    async def _handle(self, request: Request) -> ResponseBody:
        """Call the handler of a request."""
        match request.command:
            case "initialize":
                return self._definition.capabilities
            case "launch" | "attach":
                return await self._handle_start(request)
            case "restart":
                return await self._call(request, self._restart_arguments(request))
            case _:
                return await self._call(request, self._arguments(request))

    async def _call(self, request: Request, arguments: object) -> ResponseBody:
        handler = self._definition.handlers[request.command]
        # Looked up on the class: an attribute of the instance may have taken the name.
        method = getattr(type(self._adapter), handler.method)
        takes_arguments = handler.arguments is not None
        body: ResponseBody = await (method(self._adapter, arguments) if takes_arguments else method(self._adapter))
        return body

    async def _handle_start(self, request: Request) -> ResponseBody:
        """Call the handler of launch or attach, and see the configuration through.

        DAP overview, "Launch sequencing": the response comes after that of `configurationDone`.
        """
        self._start = request.command
        try:
            await self._call(request, _read_as(self._definition.starts[request.command], request))
            if not self._initialized:
                self.send_event(InitializedEvent())
            if self._adapter.holds_launch:
                await self._wait_until_configured(request)
        except BaseException:
            # Another launch or attach may follow, with a configuration of its own.
            self._initialized, self._configured = False, anyio.Event()
            raise
        return None

    async def _wait_until_configured(self, request: Request) -> None:
        await self._configured.wait()
        if self._ended_early:
            raise RequestFailed(f"{request.command}: the program ended before it was configured")

    def _arguments(self, request: Request) -> object:
        handler = self._definition.handlers[request.command]
        if handler.is_custom and handler.arguments is not None:
            return _read_as(handler.arguments, request)
        return request.arguments

    def _restart_arguments(self, request: Request) -> object:
        match request.arguments:
            case RestartArguments(arguments=dict() as configuration):
                kind = self._definition.starts[self._start or "launch"]
                return _read(request.command, kind, RawJson(encode_value(configuration)), "$.arguments.arguments")
            case _:
                return None

    # Background tasks

    async def _in_background(
        self, scope: anyio.CancelScope, function: Callable[..., Awaitable[object]], arguments: tuple[object, ...]
    ) -> None:
        current_request.set(None)
        try:
            with scope:
                await function(*arguments)
        except ConversationLost as error:
            log.debug("a background task ended with the conversation: %s", error)
        except Exception as error:
            log.exception("a background task failed, so the session ends")
            self._crash = error
            text = f"internal error of the debug adapter: {type(error).__name__}: {error}\n"
            self.connection.send_event(OutputEvent(output=text, category="stderr"))
            self._listening.cancel()

    # Ending

    async def _end(self, farewell: Request | None) -> None:
        """End the session in order; no step is skipped because one before it failed."""
        await self._cancel_pending()
        failure = None
        if farewell is not None:
            failure = await self._disconnect(farewell)
        with anyio.move_on_after(limits.CLOSING_SECONDS) as scope:
            try:
                await self._adapter.closing()
            except Exception:
                log.exception("closing() failed")
        if scope.cancelled_caught:
            log.error("closing() took longer than %g s and was given up", limits.CLOSING_SECONDS)
        for request in self.endpoint.unanswered:
            if request.seq in self._running:
                self._fail(request, CANCELLED)
            elif request is not farewell:
                self._fail(request, RequestFailed(f"{request.command} came after disconnect"))
        if farewell is not None and failure is not None:
            self._fail(farewell, failure)
        elif farewell is not None:
            self.connection.respond(farewell)

    async def _cancel_pending(self) -> None:
        """Cancel all but `initialize`: a client that disconnects at once still gets our capabilities."""
        pending = list(self._running.values())
        for running in pending:
            if running.request.command != "initialize":
                self._cancel(running.request.seq)
        with anyio.move_on_after(limits.CLOSE_SECONDS) as scope:
            await self._settled.until(lambda: all(running.is_answered for running in pending))
        if scope.cancelled_caught:
            stuck = ", ".join(running.request.command for running in self._running.values())
            log.error("handlers did not end when they were cancelled: %s", stuck)

    async def _disconnect(self, request: Request) -> RequestFailed | None:
        """Let the author's handler act; return how it failed, if it did."""
        current_request.set(request)
        try:
            with anyio.fail_after(limits.CLOSING_SECONDS):
                await self._through_middleware(request)
        except TimeoutError:
            return RequestFailed(f"disconnect took longer than {limits.CLOSING_SECONDS:g} s and was given up")
        except Exception as error:  # noqa: BLE001 - whatever a handler raises becomes the response
            return failure_of(request.command, error)
        return None


def _layered(layer: Middleware, adapter: "Adapter[Any, Any]", proceed: Proceed) -> Proceed:
    return lambda request: layer(adapter, request, proceed)


def _read_as(kind: type | None, request: Request) -> object:
    return _read(request.command, kind, RawJson(encode_value(request.arguments)), "$.arguments")


def _read(command: str, kind: type | None, raw: RawJson, at: str) -> object:
    if kind is None:
        return None
    try:
        return decode_as(kind, raw, at)
    except InvalidValue as error:
        raise bad_arguments(command, error) from None
