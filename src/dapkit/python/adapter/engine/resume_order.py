"""The order of the engine's messages: whether a stop or a continuation came first.

A client may ask to go on at the very moment at which the program stops for another reason, say twice for one stop. The
engine continues from the new stop then. The client has to receive that stop before the answer: else it would take a
running program for a stopped one. But stops wait here for the program's earlier output, and answers do not.
So each of the two waits for the other, in the order in which the engine said them.
"""

from collections import deque
from collections.abc import Awaitable

from dapkit.adapter.session import current_request
from dapkit.endpoint import RESUMING, EventReceived, Happening, ResponseReceived
from dapkit.protocol import Request, StoppedEvent
from dapkit.transport import StateChange

_GOING_ON = frozenset(RESUMING) - {"restart"}  # which leads to a program with an order of its own


_ANSWERED_KEPT = 8
"""Requests that the engine has answered and whose answers may not have gone to the client: one, as clients wait."""


class _Asked:
    """A request to continue; `stops` is how many stops the engine had reported before it answered, once it has."""

    def __init__(self, command: str, request: Request | None) -> None:
        self.command = command
        self.request = request
        self.stops: int | None = None


class ResumeOrder:
    """The stops of one program, and the requests that set it going.

    Invariant: of the stops that were received, the first `_passed_on` were passed on to the client.
    """

    def __init__(self) -> None:
        self._asked: list[_Asked] = []
        self._answered: deque[Request | None] = deque(maxlen=_ANSWERED_KEPT)
        self._received = 0
        self._passed_on = 0
        self._is_over = False
        self._updates = StateChange()

    def observe(self, happening: Happening) -> None:
        """Note the engine's messages as they are read."""
        match happening:
            case EventReceived(event) if isinstance(event.body, StoppedEvent):
                self._received += 1
            case ResponseReceived(request) if request.command in _GOING_ON:
                # The engine answers these at once, one after the other.
                waiting = (
                    earlier for earlier in self._asked if earlier.command == request.command and earlier.stops is None
                )
                if (waiting_request := next(waiting, None)) is not None:
                    waiting_request.stops = self._received

    async def answer[B](self, command: str, answer: Awaitable[B]) -> B:
        """Return an answer of the engine once all stops were passed on that it had reported before."""
        if command not in _GOING_ON:
            return await answer
        request = _Asked(command, current_request.get())
        self._asked.append(request)
        try:
            body = await answer
            await self._updates.until(lambda: self._is_over or self._passed_on >= (request.stops or 0))
            self._answered.append(request.request)
            return body
        finally:
            self._asked.remove(request)

    def has_stop_before(self, request: Request) -> bool:
        """Return whether the next stop comes before the answer to a request of the client."""
        answered = [
            earlier.request for earlier in self._asked if earlier.stops is not None and earlier.stops <= self._passed_on
        ]
        is_answered = any(earlier is request for earlier in (*answered, *self._answered))
        return request.command in _GOING_ON and not is_answered

    def pass_on(self) -> None:
        """Record that a stop was passed on, or that the client is not to receive it."""
        self._passed_on += 1
        self._updates.notify()

    def end(self) -> None:
        """End all waits: there will be no more stops."""
        self._is_over = True
        self._updates.notify()
