"""The order in which messages leave.

Two lanes. *Answers* (responses, and outgoing requests) leave first and in order.
*Events* keep their own order behind them; an event may have to wait for the
responses of requests that it must not overtake, and then everything behind it
waits too. Neighbouring output of one category is joined. Two kinds of response
take the lane of the events: that to `disconnect`, which is the last word, and that to a
request that sets the program going, if a stop was reported before and has not left.

Responses get their `seq` when they are added and events when they leave, so that the peer sees numbers that increase by
one, as the specification demands ("Base protocol", `ProtocolMessage.seq`).
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dapkit.endpoint import limits
from dapkit.endpoint.conversion import Formats
from dapkit.endpoint.lifecycle import Lifecycle
from dapkit.protocol import Event, EventBody, OutputEvent, RawJson, Request, Response, encode, encode_frame


@dataclass(slots=True)
class _Waiting:
    """A place in the event lane; the content is typed as long as the client's formats are not known.

    `output` is the size of the text that it shows.
    """

    name: str
    content: EventBody | RawJson | None
    all_threads: bool
    output: int = 0
    after: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Output:
    """Plain output of one category, in pieces that leave as one event."""

    category: str | None
    pieces: list[str]
    size: int


@dataclass(slots=True)
class _Behind:
    """A response behind the events that were reported before it; `all_threads` says whether it concerns all of them."""

    request: Request
    body: RawJson | None
    all_threads: bool = True


class Outbox:
    """Messages on their way out.

    Invariant: every event before the head of the event lane has left; `_held`
    names for each request the events that wait for its response.
    """

    def __init__(self) -> None:
        self._answers: deque[bytes] = deque()
        self._events: deque[_Waiting | _Output | _Behind] = deque()
        self._held: dict[int, list[_Waiting]] = {}
        self._seq = 0
        self.output_backlog = 0

    def put_request(self, command: str, arguments: RawJson | None) -> int:
        """Queue a request; return its number."""
        self._seq += 1
        self._answers.append(encode_frame(encode(Request(self._seq, command, arguments))))
        return self._seq

    def put_response(self, request: Request, *, success: bool, message: str | None, body: RawJson | None) -> None:
        """Queue a response, and let the events go that waited for it."""
        self._seq += 1
        response = Response(self._seq, request.seq, success, request.command, message, body)
        self._answers.append(encode_frame(encode(response)))
        self._let_go(request)

    def put_behind(self, request: Request, body: RawJson | None, *, all_threads: bool = True) -> None:
        """Queue the response to a request that succeeded behind the events, but for those that wait for it.

        The lifecycle takes note as it leaves.
        """
        waiting = (
            index
            for index, queued in enumerate(self._events)
            if isinstance(queued, _Waiting) and request.seq in queued.after
        )
        self._events.insert(next(waiting, len(self._events)), _Behind(request, body, all_threads))
        self._let_go(request)

    def _let_go(self, request: Request) -> None:
        for waiting in self._held.pop(request.seq, ()):
            waiting.after.discard(request.seq)

    def stops_before(self, request: Request) -> bool:
        """Whether a stop was reported that has not left, and does not wait for the response to this request."""
        return any(
            isinstance(waiting, _Waiting) and waiting.name == "stopped" and request.seq not in waiting.after
            for waiting in self._events
        )

    def put_event(
        self,
        name: str,
        content: EventBody | RawJson | None,
        *,
        all_threads: bool = True,
        output: int = 0,
        after: Iterable[int] = (),
    ) -> None:
        """Queue an event behind the others.

        It leaves once the requests in `after` are answered; `all_threads` says whether it
        concerns all of them, and `output` how much text it shows.
        """
        waiting = _Waiting(name, content, all_threads, output, set(after))
        self.output_backlog += output
        for request_seq in waiting.after:
            self._held.setdefault(request_seq, []).append(waiting)
        self._events.append(waiting)

    def put_output(self, text: str, category: str | None) -> None:
        """Queue plain output, joined to the output before it if that has not left."""
        size = len(text)
        self.output_backlog += size
        match self._events[-1] if self._events else None:
            case _Output() as last if last.category == category and last.size + size <= limits.OUTPUT_EVENT_BYTES:
                last.pieces.append(text)
                last.size += size
            case _:
                self._events.append(_Output(category, [text], size))

    def convert_events(self, formats: Formats) -> None:
        """Rewrite the events that were queued before the client said how it wants positions and paths."""
        for waiting in self._events:
            if isinstance(waiting, _Waiting) and isinstance(waiting.content, EventBody):
                waiting.content = formats.outward(waiting.content)

    def drop_events(self) -> None:
        """Forget the events that have not left."""
        self._events.clear()
        self._held.clear()
        self.output_backlog = 0

    def has_bytes(self, lifecycle: Lifecycle) -> bool:
        """Whether `take` would give anything."""
        return bool(self._answers) or (bool(self._events) and lifecycle.introduced and self._head_may_leave())

    def take(self, limit: int, lifecycle: Lifecycle) -> bytes:
        """Frames that may leave now, at least one and then up to `limit` bytes.

        Events leave after initialize was answered; the lifecycle records each that does.
        """
        frames: list[bytes] = []
        size = 0
        while size < limit:
            if self._answers:
                frame = self._answers.popleft()
            elif self._events and lifecycle.introduced and self._head_may_leave():
                frame = self._next_event(lifecycle)
            else:
                break
            frames.append(frame)
            size += len(frame)
        return b"".join(frames)

    def _head_may_leave(self) -> bool:
        match self._events[0]:
            case _Waiting(after=after):
                return not after
            case _:
                return True

    def _next_event(self, lifecycle: Lifecycle) -> bytes:
        self._seq += 1
        message: Event | Response
        match self._events.popleft():
            case _Waiting(name, content, all_threads, output):
                self.output_backlog -= output
                lifecycle.note("event", name, all_threads=all_threads)
                message = Event(self._seq, name, content)
            case _Output(category, pieces, size):
                self.output_backlog -= size
                message = Event(self._seq, "output", OutputEvent(output="".join(pieces), category=category))
            case _Behind(request, body, all_threads):
                lifecycle.note("response", request.command, all_threads=all_threads)
                message = Response(self._seq, request.seq, True, request.command, None, body)  # noqa: FBT003 - a wire value
        return encode_frame(encode(message))
