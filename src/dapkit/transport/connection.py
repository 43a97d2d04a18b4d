"""The one pump between a byte stream and an endpoint.

Three rules that keep a session alive when a part of it is slow:

* the reader only reads: work for a request or an event is done by tasks of others, which iterate over `incoming` or are
  begun by `on_incoming`;
* the writer only writes (`writer`): responses overtake output, and a sender of output
  waits while too much of it is queued;
* every wait has a way out: an answer, a deadline, a cancellation, the end.
"""

import contextlib
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Self, cast

import anyio
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint

from dapkit import limits as shared_limits
from dapkit.endpoint import (
    CancelRequested,
    ConversationEnded,
    Endpoint,
    EventReceived,
    Happening,
    LateResponse,
    Overtakes,
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
    OutputEvent,
    ProtocolObject,
    RawJson,
    Request,
    Response,
    error_message,
    error_text,
)
from dapkit.transport import limits
from dapkit.transport.errors import ConversationLost, DeadlineExceeded
from dapkit.transport.state_change import StateChange
from dapkit.transport.tasks import background_tasks
from dapkit.transport.writer import Tap, Writer

log = logging.getLogger(__name__)

type Incoming = RequestReceived | EventReceived | CancelRequested | ProgressCancelRequested
"""Messages that the owner of a connection must handle; responses find their callers by themselves."""

type Watch = Callable[[Happening], None]
"""Told of each happening as it is read, before those who wait for it continue; must not raise."""

type OnIncoming = Callable[[Incoming], None]
"""Called with the peer's requests and events, as they are read; must not raise."""


class _Answer:
    """A response on its way to the one who asked."""

    def __init__(self) -> None:
        self.ready = anyio.Event()
        self.response: Response | None = None
        self.problem: DapkitError | None = None


class Connection:
    """A conversation over a stream; an async context manager that owns both.

    Leaving the block writes the queued messages (for at most `limits.CLOSE_SECONDS`), ends the reader and the writer
    and closes the stream. An error of the block comes out as it is.

    Args:
        stream: bytes to and from the peer.
        endpoint: the conversation; only the connection may feed it.
        tap: gets all bytes, for recording.
        watch: gets all happenings, for state that must be right when a request returns.
        on_incoming: is called with incoming messages, in place of an iteration over `incoming`.

    Attributes:
        endpoint: the conversation.
        unanswered: how many requests of ours have passed their deadline since the peer's last response.

    Invariant: `_answers` has an entry for each request for which a caller waits; once `_lost` is set no new one is
    made, and once `_ended` is set all are ready.

    """

    def __init__(
        self,
        stream: ByteStream,
        endpoint: Endpoint,
        *,
        tap: Tap | None = None,
        watch: Watch | None = None,
        on_incoming: OnIncoming | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.unanswered = 0
        self._stream = stream
        self._tap = tap
        self._watch = watch
        self._on_incoming = on_incoming
        self._answers: dict[int, _Answer] = {}
        # Unbounded: a reader that waits for its dispatcher keeps responses from the tasks for which the dispatcher
        # waits.
        self._incoming: deque[Incoming] = deque()
        self._arrived = StateChange()
        self._writer = Writer(stream, endpoint, tap)
        self._lost: str | None = None
        self._how_ended: ConversationEnded | None = None
        self._ended = anyio.Event()
        self._exit = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start to read and to write."""
        self._exit.push_async_callback(self._close_stream)
        tasks = await self._exit.enter_async_context(background_tasks())
        tasks.start_soon(self._read)
        tasks.start_soon(self._write)
        self._exit.push_async_callback(self._finish)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Write the queued messages, then end everything."""
        return await self._exit.__aexit__(kind, error, trace)

    async def _finish(self) -> None:
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS, shield=True):
            await self.flush()
        self._end(ConversationEnded(None), "the connection was closed")

    async def _close_stream(self) -> None:
        self._incoming.clear()
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS, shield=True):
            await self._stream.aclose()

    async def incoming(self) -> AsyncIterator[Incoming]:
        """Iterate over the peer's requests and events, in order, until the conversation ends."""
        while True:
            await self._arrived.until(lambda: bool(self._incoming) or self._ended.is_set())
            if not self._incoming:
                return
            for _ in range(limits.HAPPENINGS_AT_ONCE):
                if not self._incoming:
                    break
                yield self._incoming.popleft()
            else:
                await checkpoint()

    @property
    def ended(self) -> ConversationEnded | None:
        """How the conversation ended, if it has; after closing it ourselves as after an orderly end."""
        return self._how_ended

    async def wait_ended(self) -> None:
        """Wait until nothing more comes from the peer."""
        await self._ended.wait()

    # Asking

    async def request[B](self, arguments: Arguments[B], *, deadline: float = shared_limits.REQUEST_SECONDS) -> B:
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
        self._check_alive()
        return cast("B", await self._answer_to(self.endpoint.request(arguments), deadline))

    async def request_custom(
        self,
        command: str,
        arguments: object = None,
        *,
        deadline: float = shared_limits.REQUEST_SECONDS,
    ) -> RawJson | None:
        """Ask with a command of the peer's own, or pass arguments on as they are; the body comes undecoded.

        Raises: as `request`.
        """
        self._check_alive()
        body = await self._answer_to(self.endpoint.request_custom(command, arguments), deadline)
        return body if isinstance(body, RawJson) else None

    def refuse_waiting(self, text: str) -> None:
        """Let all waiting requests fail, as if the peer had refused them; later responses to them are dropped."""
        for answer in self._answers.values():
            answer.problem = RequestFailed(text)
            answer.ready.set()

    async def _answer_to(self, request: Request, deadline: float) -> ProtocolObject | RawJson | None:
        answer = self._answers[request.seq] = _Answer()
        try:
            self._notify()
            if deadline == math.inf:
                await answer.ready.wait()
            else:
                with anyio.CancelScope(deadline=anyio.current_time() + deadline):
                    await answer.ready.wait()
        finally:
            del self._answers[request.seq]
            if not answer.ready.is_set():
                self._give_up(request)
        if not answer.ready.is_set():
            self.unanswered += 1
            raise DeadlineExceeded(request.command, deadline, unanswered=self.unanswered)
        if answer.problem is not None:
            raise answer.problem
        if answer.response is None:
            raise ConversationLost(f"{request.command} was not answered: {self._lost}")
        if not answer.response.success:
            raise _failure(answer.response)
        return answer.response.body

    def _give_up(self, request: Request) -> None:
        if self._lost is None:
            self.endpoint.cancel(request)
            self._writer.notify()
        self.endpoint.forget(request)

    # Answering and telling

    def respond(self, request: Request, body: ProtocolObject | RawJson | None = None) -> None:
        """Answer a request of the peer (see `Endpoint.respond`)."""
        self.endpoint.respond(request, body)
        self._notify()

    def fail(self, request: Request, failure: RequestFailed) -> None:
        """Answer a request of the peer with an error."""
        error = failure.error if failure.error is not None else error_message(failure.text, show_user=failure.show_user)
        self.endpoint.fail(request, failure.message, error)
        self._notify()

    def send_event(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> bool:
        """Tell the peer without waiting (see `Endpoint.send_event`)."""
        was_sent = self.endpoint.send_event(body, overtakes=overtakes)
        if isinstance(body, OutputEvent):
            self._writer.notify_later()  # joined with the next message
        else:
            self._notify()
        return was_sent

    async def send_output(self, body: OutputEvent) -> None:
        """Tell of output; wait while more than `limits.OUTPUT_BACKLOG_BYTES` of it are on their way.

        Raises:
            ConversationLost: the peer is gone.

        """
        self._check_alive()
        self.send_event(body)
        await self._writer.until(
            lambda: self._lost is not None or self.endpoint.output_backlog <= limits.OUTPUT_BACKLOG_BYTES
        )
        self._check_alive()

    def send_custom_event(self, event: str, body: object = None) -> None:
        """Tell the peer something of our own."""
        self.endpoint.send_custom_event(event, body)
        self._writer.notify_later()

    def _notify(self) -> None:
        """Write at once, unless other requests are under way: then with all that is said in this turn of the loop.

        So many requests at once cost one system call for each turn, and a single one waits for no turn. An event that
        is sent just before a response leaves after it.
        """
        if self.endpoint.owes_responses or len(self._answers) > 1:
            self._writer.notify_later()
        else:
            self._writer.notify()

    async def flush(self) -> None:
        """Wait until everything that may leave has left, or nothing can leave any more."""
        await self._writer.flush()

    # The pump

    async def _read(self) -> None:
        while not self._ended.is_set():
            try:
                data = await self._stream.receive(shared_limits.READ_CHUNK_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                happenings = self.endpoint.receive_eof()
            else:
                if self._tap is not None:
                    self._tap("received", data)
                happenings = self.endpoint.receive(data)
            for happening in happenings:
                if not self._ended.is_set():
                    self._deliver(happening)
            self._writer.notify()  # the endpoint's own responses
            for _ in range(len(happenings) // limits.HAPPENINGS_AT_ONCE):
                await checkpoint()  # a dispatcher that is not waiting itself takes a batch: so it is not outrun

    def _deliver(self, happening: Happening) -> None:
        if isinstance(happening, ConversationEnded):
            self._end(happening, happening.problem or "the peer closed the connection")
            return
        if self._watch is not None:
            self._watch(happening)
        if isinstance(happening, ResponseReceived | ResponseUnusable | LateResponse):
            self.unanswered = 0
        match happening:
            case ResponseReceived(request, response):
                self._settle(request, response, None)
            case ResponseUnusable(request, problem):
                self._settle(request, None, problem)
            case LateResponse(response):
                log.debug("a response to %s came late", response.command)
            case _ if self._on_incoming is not None:
                self._on_incoming(happening)
            case _:
                self._incoming.append(happening)
                self._arrived.notify()

    def _settle(self, request: Request, response: Response | None, problem: DapkitError | None) -> None:
        answer = self._answers.get(request.seq)
        if answer is not None:
            answer.response, answer.problem = response, problem
            answer.ready.set()

    async def _write(self) -> None:
        problem = await self._writer.run()
        self._lost = self._lost or problem
        self._writer.notify()
        # A peer that died has often said why before: read that to its end.
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS):
            await self._ended.wait()
        self._end(ConversationEnded(problem), problem)

    def _check_alive(self) -> None:
        if self._lost is not None:
            raise ConversationLost(self._lost)

    def _end(self, how: ConversationEnded, reason: str) -> None:
        if self._ended.is_set():
            return
        self._how_ended = how
        self._lost = self._lost or reason
        self._ended.set()
        self._writer.notify()
        for answer in self._answers.values():
            answer.ready.set()
        self._arrived.notify()
        if self._watch is not None:  # all of the above continues after it: nothing was awaited
            self._watch(how)


def _failure(response: Response) -> RequestFailed:
    """Error for a failed response, with the best text that the peer gave."""
    error = response.body.error if isinstance(response.body, ErrorBody) else None
    message = response.message or ""
    text = error_text(error) if error is not None else message
    return RequestFailed(text or f"{response.command} failed", message=message, error=error)
