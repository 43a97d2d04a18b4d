"""Events of the adapter: kept in order, replayed, and handed to every stream.

Each event has a position, counted from 0. Each stream reads from a position of
its own, so that none takes anything from another and nothing is lost between a
look back and a wait. History is kept by kind of event: a flood of one
kind never pushes out another. Events that a stream has not read yet are kept for it without limit, until it reads them
or is dropped.
"""

import heapq
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import anyio

from dapkit import limits as shared_limits
from dapkit.client import limits
from dapkit.client.errors import WaitExpired
from dapkit.protocol import EventBody, OutputEvent


@dataclass(frozen=True, slots=True)
class CustomEvent:
    """An event that the specification does not know."""

    event: str
    """Its name."""

    body: object
    """Its body, as plain JSON."""


type SessionEvent = EventBody | CustomEvent
"""Any event of an adapter."""


class EventLog:
    """All events of one session.

    Invariant: `position` is the number of events that ever came; every live
    stream has got each of them since it began.
    """

    def __init__(self) -> None:
        self.position = 0
        self.closed = False
        self._history: dict[type[SessionEvent], _History] = {}
        self._queues: weakref.WeakSet[_Queue] = weakref.WeakSet()

    def add(self, event: SessionEvent) -> None:
        """Keep an event and hand it to every stream."""
        history = self._history.get(type(event))
        if history is None:
            history = self._history[type(event)] = _History(type(event))
        history.add(self.position, event)
        self.position += 1
        for queue in self._queues:
            queue.put(event)

    def close(self) -> None:
        """Let every stream end after its unread events."""
        self.closed = True
        for queue in self._queues:
            queue.close()

    def stream(self, since: int | None = None) -> "EventStream":
        """Listen: to events from now on, or from an earlier position on, as far as history reaches."""
        events: list[SessionEvent] = []
        if since is not None:
            histories = [history.since(since) for history in self._history.values()]
            events = [event for _, event in heapq.merge(*histories, key=lambda entry: entry[0])]
        queue = _Queue(events, closed=self.closed)
        self._queues.add(queue)
        return EventStream(queue)


class EventStream:
    """An async iterator over typed events that ends with the conversation."""

    def __init__(self, queue: "_Queue") -> None:
        self._queue = queue

    @property
    def unread(self) -> tuple[SessionEvent, ...]:
        """The events that came and were not read yet."""
        return tuple(self._queue.unread)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        event = await self._queue.take()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        deadline: float = shared_limits.REQUEST_SECONDS,
    ) -> E:
        """Wait for the next event of a kind; others on the way are skipped.

        Raises:
            WaitExpired: none came in time.
            EndOfEvents: none can come any more.

        """
        try:
            with anyio.fail_after(deadline):
                async for event in self:
                    if isinstance(event, kind) and where(event):
                        return event
        except TimeoutError:
            raise WaitExpired(_name(kind), deadline) from None
        raise EndOfEvents(_name(kind))


class EndOfEvents(Exception):  # noqa: N818 - the session says why, in an error of its own
    """The conversation ended before the event that was waited for."""


class _Queue:
    """Events that one stream has not read yet."""

    def __init__(self, events: list[SessionEvent], *, closed: bool) -> None:
        self.unread = deque(events)
        self._closed = closed
        self._changed = anyio.Event()

    def put(self, event: SessionEvent) -> None:
        self.unread.append(event)
        self._changed.set()

    def close(self) -> None:
        self._closed = True
        self._changed.set()

    async def take(self) -> SessionEvent | None:
        """Wait for the next event; None at the end."""
        while not self.unread:
            if self._closed:
                return None
            self._changed = anyio.Event()
            await self._changed.wait()
        return self.unread.popleft()


class _History:
    """The latest events of one kind with their positions."""

    def __init__(self, kind: type[SessionEvent]) -> None:
        self._entries: deque[tuple[int, SessionEvent]] = deque()
        self._spent = 0
        self._budget = shared_limits.OUTPUT_KEPT_CHARACTERS if kind is OutputEvent else limits.EVENTS_KEPT

    def add(self, position: int, event: SessionEvent) -> None:
        self._entries.append((position, event))
        self._spent += _cost(event)
        while self._spent > self._budget and len(self._entries) > 1:
            self._spent -= _cost(self._entries.popleft()[1])

    def since(self, position: int) -> list[tuple[int, SessionEvent]]:
        return [entry for entry in self._entries if entry[0] >= position]


def _cost(event: SessionEvent) -> int:
    return len(event.output) + 1 if isinstance(event, OutputEvent) else 1


def _name(kind: type[object]) -> str:
    return f"event {kind.event}" if issubclass(kind, EventBody) else "the custom event"
