"""One session of an adapter: requests become handler calls, results of handlers become responses.

Each request is answered by a task of its own, with a cancel scope of its own, which is begun as the request
is read, and gets one response however its handler ends. Serial requests are answered by one task, in the order
of arrival. The session ends with `disconnect`, with the end of input, or when the
scope it runs in is cancelled; each way goes through the same steps, once:

    cancel pending requests -> disconnect (if asked for) -> closing() -> the last response -> cancel background tasks

Requests after the end of the program are answered without a handler (`after_the_end`).
The endpoint decides which requests are legal at a given time; `handlers` decides how a handler is called.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.adapter.after_the_end import answer_after_the_end
from dapkit.adapter.definition import Definition
from dapkit.adapter.errors import CANCELLED, failure_of, to_show
from dapkit.adapter.handlers import Handlers, ResponseBody, Served, check_body
from dapkit.adapter.progress import Progress
from dapkit.endpoint import (
    CancelRequested,
    Endpoint,
    EventReceived,
    OutOfOrder,
    Overtakes,
    Phase,
    ProgressCancelRequested,
    RequestFailed,
    RequestReceived,
    Role,
)
from dapkit.protocol import EventBody, InvalidValue, OutputEvent, ProgressStartEvent, Request, TerminatedEvent
from dapkit.transport import Connection, ConversationLost, EagerTasks, Incoming, StateChange, Tap, background_tasks

log = logging.getLogger(__name__)

type Proceed = Callable[[Request], Awaitable[ResponseBody]]
"""The rest of the way to the handler."""

type Layer = Callable[[Request, Proceed], Awaitable[ResponseBody]]
"""Something to be done around every request: it calls `proceed`, once or not at all, and returns the body."""

current_request: ContextVar[Request | None] = ContextVar("current_request", default=None)
"""The request that the running coroutine answers; None in background tasks."""


class _Pending:
    """A request on its way to its response."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.scope = anyio.CancelScope()
        self.has_started = False
        self.is_answered = False


class AdapterSession:
    """One adapter and its client.

    Args:
        adapter: answers the requests.
        definition: of the class of the adapter.
        layers: the layers around every request, the outermost first.
        stream: bytes to and from the client.
        tap: receives all bytes, for recording.

    Invariant: `_pending` has an entry for each request that was received and has no response yet.

    """

    def __init__(
        self, adapter: Served, definition: Definition, layers: Sequence[Layer], stream: ByteStream, tap: Tap | None
    ) -> None:
        self.endpoint = Endpoint(Role.ADAPTER, serves={"initialize", *definition.handlers})
        self.connection = Connection(stream, self.endpoint, tap=tap, on_incoming=self._receive)
        self._adapter = adapter
        self._handlers = Handlers(adapter, definition, self.send_event)
        self._handle: Proceed = self._handlers.handle
        for layer in reversed(layers):
            self._handle = _layered(layer, self._handle)
        self._tasks: EagerTasks | None = None
        self._crash: Exception | None = None
        self._receiving = anyio.CancelScope()
        self._disconnect: Request | None = None
        self._pending: dict[int, _Pending] = {}
        self._settled = StateChange()
        self._serial_send, self._serial = anyio.create_memory_object_stream[_Pending](float("inf"))
        self._progresses: dict[str, Progress] = {}
        self._progress_count = 0

    async def run(self, over: anyio.Event) -> None:
        """Converse until the session ends; set `over` when the client has received everything.

        Raises:
            Exception: a background task raised it, and it ended the session.

        """
        async with background_tasks() as watch:
            watch.start_soon(self._stop_when_cancelled)
            # Cancelled from outside, the conversation still ends in order: it takes the connection to do so.
            with anyio.CancelScope(shield=True), self._serial_send, self._serial:
                async with background_tasks() as group:
                    self._tasks = EagerTasks(group)
                    group.start_soon(self._answer_serial)
                    try:
                        async with self.connection:
                            await self._converse()
                    finally:
                        over.set()
                        await self._end_handlers()
        if self._crash is not None:
            raise self._crash

    async def _stop_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self._receiving.cancel()

    async def _converse(self) -> None:
        try:
            with self._receiving:
                await self.connection.wait_ended()
            ended = self.connection.ended
            if self._disconnect is None and ended is not None and ended.problem is not None:
                log.error("the conversation ended: %s", ended.problem)
        finally:
            self._receiving.cancel()
            await self._end(self._disconnect)

    # For the adapter

    def send_event(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> bool:
        """Report an event to the client without waiting."""
        self._handlers.note_event(body)
        return self.connection.send_event(body, overtakes=overtakes)

    async def send_output(self, body: OutputEvent) -> bool:
        """Report output to the client, waiting while too much is queued."""
        await self.connection.send_output(body)
        return True

    def progress(self, title: str, **details: Any) -> Progress:  # noqa: ANN401 - fields of ProgressStartEvent
        """Prepare the progress of an operation; the progress of a request names the request."""
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
        scope = anyio.CancelScope()
        self._started().group.start_soon(self._in_background, scope, function, arguments)
        return scope

    def _started(self) -> EagerTasks:
        if self._tasks is None:
            raise RuntimeError("the session has not begun")
        return self._tasks

    # Receiving

    def _receive(self, incoming: Incoming) -> None:
        """Begin to answer a request; with that to disconnect, receive no more."""
        if self._receiving.cancel_called:
            return
        match incoming:
            case RequestReceived(request) if request.command == "disconnect":
                self._disconnect = request
                self._receiving.cancel()
            case RequestReceived(request) if self.endpoint.phase is Phase.OVER:
                self._answer_after_the_end(request)
            case RequestReceived(request):
                pending = self._pending[request.seq] = _Pending(request)
                if self._handlers.is_serial(request.command):
                    self._serial_send.send_nowait(pending)
                else:
                    self._started().start(self._answer, pending)
            case CancelRequested(request):
                self._cancel(request.seq)
            case ProgressCancelRequested(progress_id):
                if (progress := self._progresses.get(progress_id)) is not None:
                    progress.cancel()
            case EventReceived(event):
                log.debug("clients send no events, this one sent %s", event.event)

    def _cancel(self, seq: int) -> None:
        if (pending := self._pending.get(seq)) is not None:
            pending.scope.cancel()
            if not pending.has_started:
                self._settle(pending)

    # Answering

    async def _answer_serial(self) -> None:
        async for pending in self._serial:
            await self._answer(pending)

    async def _answer(self, pending: _Pending) -> None:
        """Give a request its one response, unless it was cancelled before its turn came."""
        if pending.is_answered:
            return
        request = pending.request
        pending.has_started = True
        current_request.set(request)
        try:
            with pending.scope:
                self._respond(request, await self._handle(request))
        except Exception as error:  # noqa: BLE001 - whatever a handler raises becomes the response
            self._fail(request, failure_of(request.command, error))
        finally:
            self._settle(pending)

    def _answer_after_the_end(self, request: Request) -> None:
        try:
            self._respond(request, answer_after_the_end(request.command, request.arguments))
        except RequestFailed as failure:
            self._fail(request, failure)

    def _settle(self, pending: _Pending) -> None:
        """Close the account of a request; without a response by now, it was cancelled."""
        self._fail(pending.request, CANCELLED)
        del self._pending[pending.request.seq]
        pending.is_answered = True
        self._settled.notify()

    def _respond(self, request: Request, body: ResponseBody) -> None:
        if not self.endpoint.is_unanswered(request):
            return
        check_body(request.command, body)
        self.connection.respond(request, body)
        self._handlers.note_response(request.command)

    def _fail(self, request: Request, failure: RequestFailed) -> None:
        """Answer with an error, unless there was an answer: a cancelled handler may end after the session."""
        if not self.endpoint.is_unanswered(request):
            return
        try:
            self.connection.fail(request, to_show(request.command, failure))
        except InvalidValue as error:  # in the Message that the handler made
            self.connection.fail(request, failure_of(request.command, error))

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
            with suppress(OutOfOrder):  # nothing was started, or that was said before
                self.send_event(TerminatedEvent())
            self._receiving.cancel()

    # Ending

    async def _end(self, disconnect: Request | None) -> None:
        """End the session in order; no step is skipped because one before it failed."""
        await self._cancel_pending()
        failure = None
        if disconnect is not None:
            failure = await self._call_disconnect(disconnect)
        with anyio.move_on_after(limits.CLOSING_SECONDS) as scope:
            try:
                await self._adapter.closing()
            except Exception:
                log.exception("closing() failed")
        if scope.cancelled_caught:
            log.error("closing() took longer than %g s and was given up", limits.CLOSING_SECONDS)
        for request in self.endpoint.unanswered:
            if request.seq in self._pending:
                self._fail(request, CANCELLED)
            elif request.command != "disconnect":
                self._answer_after_the_end(request)
        if disconnect is not None and failure is None:
            self.connection.respond(disconnect)
        elif failure is not None:
            for request in self.endpoint.unanswered:
                self._fail(request, failure)

    async def _cancel_pending(self) -> None:
        """Cancel all but `initialize`: a client that disconnects at once still gets our capabilities."""
        pending = list(self._pending.values())
        for entry in pending:
            if entry.request.command != "initialize":
                self._cancel(entry.request.seq)
        with anyio.move_on_after(limits.CLOSE_SECONDS) as scope:
            await self._settled.until(lambda: all(entry.is_answered for entry in pending))
        if scope.cancelled_caught:
            stuck = ", ".join(entry.request.command for entry in self._pending.values())
            log.error("handlers did not end when they were cancelled: %s", stuck)

    async def _end_handlers(self) -> None:
        """Wait for the handlers that are left, however long they take to end."""
        for seq in list(self._pending):
            self._cancel(seq)
        await self._settled.until(lambda: not self._pending)

    async def _call_disconnect(self, request: Request) -> RequestFailed | None:
        """Call the author's handler; return how it failed, if it did."""
        current_request.set(request)
        try:
            with anyio.fail_after(limits.CLOSING_SECONDS):
                await self._handle(request)
        except TimeoutError:
            return RequestFailed(f"disconnect took longer than {limits.CLOSING_SECONDS:g} s and was given up")
        except Exception as error:  # noqa: BLE001 - whatever a handler raises becomes the response
            return failure_of(request.command, error)
        return None


def _layered(layer: Layer, proceed: Proceed) -> Proceed:
    return lambda request: layer(request, proceed)
