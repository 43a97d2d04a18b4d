"""The one pump between a byte stream and an endpoint.

Three rules that keep a session alive when a part of it is slow:

* the reader only reads: what has to be done with a request or an event is done
  by whoever iterates over `incoming`;
* the writer only writes: responses overtake output, and a sender of output
  waits while too much of it is queued;
* every wait has a way out: an answer, a deadline, a cancellation, the end.
"""

import logging
import math
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Literal, Self, cast

import anyio
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits
from dapkit.endpoint import (
    CancelRequested,
    ConversationEnded,
    Endpoint,
    EventReceived,
    Happening,
    LateResponse,
    ProgressCancelRequested,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    ResponseUnusable,
)
from dapkit.protocol import (
    Arguments,
    DapkitError,
    ErrorBody,
    EventBody,
    Message,
    OutputEvent,
    ProtocolObject,
    RawJson,
    Request,
    Response,
)
from dapkit.transport.errors import ConversationLost, DeadlineExceeded

log = logging.getLogger(__name__)

type Incoming = RequestReceived | EventReceived | CancelRequested | ProgressCancelRequested
"""What the owner of a connection has to deal with; responses find their askers by themselves."""

type Tap = Callable[[Literal["sent", "received"], bytes], None]
"""Told of all bytes as they pass, before they are understood; must not raise."""

type Watch = Callable[[Happening], None]
"""Told of all happenings in the order of the wire, before anybody who waits for one is woken; must not raise."""


class _Answer:
    """A response on its way to the one who asked."""

    def __init__(self) -> None:
        self.ready = anyio.Event()
        self.response: Response | None = None
        self.problem: DapkitError | None = None


class Connection:
    """A conversation over a stream; an async context manager that owns both.

    Leaving the context ends the reader and the writer and closes the stream.

    Args:
        stream: bytes to and from the peer.
        endpoint: the conversation; nobody else may feed it.
        tap: is told of all bytes, for recording.
        watch: is told of all happenings, for state that has to follow their order.

    Invariant: `_answers` has an entry for each request that somebody here waits for.

    """

    def __init__(
        self, stream: ByteStream, endpoint: Endpoint, *, tap: Tap | None = None, watch: Watch | None = None
    ) -> None:
        self.endpoint = endpoint
        self._stream = stream
        self._tap = tap
        self._watch = watch
        self._answers: dict[int, _Answer] = {}
        self._send_incoming, self._incoming = anyio.create_memory_object_stream[Incoming](math.inf)
        self._wake = anyio.Event()
        self._drained = anyio.Event()
        self._ended = anyio.Event()
        self._lost: str | None = None
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Start to read and to write."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._read)
        self._tasks.start_soon(self._write)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Write what is queued, then end everything."""
        tasks, self._tasks = self._tasks, None
        if tasks is None:
            return None
        with anyio.move_on_after(limits.CLOSE_SECONDS, shield=True):
            await self.flush()
        self._end("the connection was closed")
        tasks.cancel_scope.cancel()
        try:
            return await tasks.__aexit__(kind, error, trace)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(limits.CLOSE_SECONDS):
                await self._stream.aclose()

    async def incoming(self) -> AsyncIterator[Incoming]:
        """Iterate over what the peer asks and tells, in order, until the conversation ends."""
        async for happening in self._incoming:
            yield happening

    @property
    def ended(self) -> ConversationEnded | None:
        """How the peer's side ended, if it has."""
        return self.endpoint.ended

    async def wait_ended(self) -> None:
        """Wait until nothing more comes from the peer or can be sent to it."""
        await self._ended.wait()

    # Asking

    async def request[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the peer and wait for its answer.

        A caller that is cancelled, or whose deadline (in seconds) passes, cancels the
        request at the peer too, if that can be asked to.

        Raises:
            RequestFailed: the peer answered with an error.
            DeadlineExceeded: it did not answer in time.
            ConversationLost: it is gone.
            LocalProtocolError: the request is not legal now, or not supported by the peer.
            InvalidValue: an argument, or the body of the answer, is wrong.

        """
        return cast("B", await self._answer_to(self._ask(lambda: self.endpoint.request(arguments)), deadline))

    async def request_custom(
        self,
        command: str,
        arguments: object = None,
        *,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> RawJson | None:
        """Ask with a command of the peer's own, or pass arguments on as they are; the body comes undecoded.

        Raises: as `request`.
        """
        body = await self._answer_to(self._ask(lambda: self.endpoint.request_custom(command, arguments)), deadline)
        return body if isinstance(body, RawJson) else None

    def _ask(self, make: Callable[[], Request]) -> Request:
        self._check_alive()
        request = make()
        self._answers[request.seq] = _Answer()
        self._notify()
        return request

    async def _answer_to(self, request: Request, deadline: float) -> ProtocolObject | RawJson | None:
        answer = self._answers[request.seq]
        try:
            with anyio.fail_after(deadline):
                await answer.ready.wait()
        except TimeoutError:
            self._give_up(request)
            raise DeadlineExceeded(request.command, deadline) from None
        except anyio.get_cancelled_exc_class():
            self._give_up(request)
            raise
        finally:
            self._answers.pop(request.seq, None)
        if answer.problem is not None:
            raise answer.problem
        if answer.response is None:
            raise ConversationLost(f"{request.command} was not answered: {self._lost}")
        if not answer.response.success:
            raise _failure(answer.response)
        return answer.response.body

    def _give_up(self, request: Request) -> None:
        if not self._ended.is_set():
            self.endpoint.cancel(request)
            self._notify()
        self.endpoint.forget(request)

    # Answering and telling

    def respond(self, request: Request, body: ProtocolObject | RawJson | None = None) -> None:
        """Answer a request of the peer (see `Endpoint.respond`)."""
        self.endpoint.respond(request, body)
        self._notify()

    def fail(self, request: Request, failure: RequestFailed) -> None:
        """Answer a request of the peer with an error."""
        error = failure.error if failure.error is not None else Message(id=1, format=failure.text)
        self.endpoint.fail(request, failure.message, error)
        self._notify()

    def send_event(self, body: EventBody) -> bool:
        """Tell the peer without waiting (see `Endpoint.send_event`)."""
        sent = self.endpoint.send_event(body)
        self._notify()
        return sent

    async def send_output(self, body: OutputEvent) -> None:
        """Tell of output; wait while more than `limits.OUTPUT_BACKLOG_BYTES` of it are on their way.

        Raises:
            ConversationLost: there is nobody to tell.

        """
        self.send_event(body)
        while self.endpoint.output_backlog > limits.OUTPUT_BACKLOG_BYTES:
            self._check_alive()
            self._drained = anyio.Event()
            await self._drained.wait()

    def send_custom_event(self, event: str, body: object = None) -> None:
        """Tell the peer something of our own."""
        self.endpoint.send_custom_event(event, body)
        self._notify()

    async def flush(self) -> None:
        """Wait until everything that may leave has left, or nothing can leave any more."""
        while self.endpoint.has_bytes_to_send() and not self._ended.is_set():
            self._drained = anyio.Event()
            await self._drained.wait()

    # The pump

    async def _read(self) -> None:
        while not self._ended.is_set():
            try:
                data = await self._stream.receive(limits.READ_CHUNK_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                happenings = self.endpoint.receive_eof()
            else:
                if self._tap is not None:
                    self._tap("received", data)
                happenings = self.endpoint.receive(data)
            for happening in happenings:
                self._deliver(happening)
            if self.endpoint.has_bytes_to_send():
                self._notify()

    def _deliver(self, happening: Happening) -> None:
        if self._watch is not None:
            self._watch(happening)
        match happening:
            case ResponseReceived(request, response):
                self._settle(request, response, None)
            case ResponseUnusable(request, problem):
                self._settle(request, None, problem)
            case LateResponse(response):
                log.debug("a response to %s came late", response.command)
            case ConversationEnded(problem):
                self._end("the peer closed the connection" if problem is None else problem)
            case _:
                self._send_incoming.send_nowait(happening)

    def _settle(self, request: Request, response: Response | None, problem: DapkitError | None) -> None:
        answer = self._answers.get(request.seq)
        if answer is not None:
            answer.response, answer.problem = response, problem
            answer.ready.set()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            while data := self.endpoint.bytes_to_send():
                if self._tap is not None:
                    self._tap("sent", data)
                try:
                    with anyio.fail_after(limits.SEND_SECONDS):
                        await self._stream.send(data)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return self._end("the peer closed the connection")
                except TimeoutError:
                    return self._end(f"the peer took nothing for {limits.SEND_SECONDS:g} s")
                self._drained.set()
            self._drained.set()

    def _notify(self) -> None:
        self._wake.set()

    def _check_alive(self) -> None:
        if self._lost is not None:
            raise ConversationLost(self._lost)

    def _end(self, reason: str) -> None:
        if self._lost is None:
            self._lost = reason
        self._ended.set()
        self._drained.set()
        for answer in self._answers.values():
            answer.ready.set()
        self._send_incoming.close()


def _failure(response: Response) -> RequestFailed:
    """Error for a failed response, with the best text that the peer gave."""
    error = response.body.error if isinstance(response.body, ErrorBody) else None
    message = response.message or ""
    text = _filled_in(error) if error is not None else message
    return RequestFailed(text or f"{response.command} failed", message=message, error=error)


def _filled_in(error: Message) -> str:
    """Text of a structured message, its `{variables}` put in (`Message.format`)."""
    text = error.format
    for name, value in (error.variables or {}).items():
        text = text.replace("{" + name + "}", value)
    return text
