"""Events of the adapter: kept in order, replayed, and handed to every listener.

Each event has a position, counted from 0. Whoever listens reads from a position
of his own, so that no listener takes anything from another and nothing is lost
between a look back and a wait. History is kept by kind of event: a flood of one
kind never pushes out another. What a listener has not read yet is kept for it
without limit, until it reads or is dropped.
"""

import heapq
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import anyio

from dapkit import limits
from dapkit.client.errors import WaitExpired
from dapkit.protocol import EventBody, OutputEvent


@dataclass(frozen=True, slots=True)
class CustomEvent:
    """An event that the specification does not know; `body` is plain JSON."""

    event: str
    body: object


type SessionEvent = EventBody | CustomEvent


class EventLog:
    """All events of one session.

    Invariant: `position` is the number of events that ever came; every live
    stream has got each of them since it began.
    """

    def __init__(self) -> None:
        self.position = 0
        self.closed = False
        self._history: dict[type[SessionEvent], _History] = {}
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()

    def add(self, event: SessionEvent) -> None:
        """Keep an event and hand it to every listener."""
        history = self._history.get(type(event))
        if history is None:
            history = self._history[type(event)] = _History(type(event))
        history.add(self.position, event)
        self.position += 1
        for stream in self._streams:
            stream._add(event)  # noqa: SLF001 - the log and its streams are one thing

    def close(self) -> None:
        """Let every listener end after what it has not read yet."""
        self.closed = True
        for stream in self._streams:
            stream._wake()  # noqa: SLF001 - as above

    def stream(self, since: int | None = None) -> "EventStream":
        """Listen: to what comes from now on, or from an earlier position on, as far as history reaches."""
        kept: list[SessionEvent] = []
        if since is not None:
            histories = [history.since(since) for history in self._history.values()]
            kept = [event for _, event in heapq.merge(*histories, key=lambda entry: entry[0])]
        stream = EventStream(self, kept)
        self._streams.add(stream)
        return stream


class EventStream:
    """One listener: an async iterator over typed events that ends with the conversation."""

    def __init__(self, log: EventLog, kept: list[SessionEvent]) -> None:
        self._log = log
        self._unread = deque(kept)
        self._arrived = anyio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        while not self._unread:
            if self._log.closed:
                raise StopAsyncIteration
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._unread.popleft()

    async def next[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        deadline: float = limits.REQUEST_SECONDS,
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

    def _add(self, event: SessionEvent) -> None:
        self._unread.append(event)
        self._wake()

    def _wake(self) -> None:
        self._arrived.set()


class EndOfEvents(Exception):  # noqa: N818 - the session says why, in an error of its own
    """The conversation ended before the event that was waited for."""


class _History:
    """The latest events of one kind with their positions."""

    def __init__(self, kind: type[SessionEvent]) -> None:
        self._entries: deque[tuple[int, SessionEvent]] = deque()
        self._spent = 0
        self._budget = limits.OUTPUT_KEPT_CHARACTERS if kind is OutputEvent else limits.EVENTS_KEPT

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
