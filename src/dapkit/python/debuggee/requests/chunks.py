"""Requests that take long in the link's thread, done in slices, so that others are answered meanwhile.

Requests that only look are answered between two slices. All others wait, in their order: a client may send the request
that continues the program, without waiting for its earlier breakpoints.
"""

from collections.abc import Callable, Generator
from time import monotonic
from typing import Final

from ..connection.framing import Json
from ..connection.link import Link
from ..connection.request import DEFERRED, Deferred, IncomingRequest
from ..interpreter import limits
from ..interpreter.thread_checks import in_link_thread
from .handler import Handler

type Slices = Generator[None, None, Json]
"""Work that yields wherever it may be interrupted for others, and returns the body of the response."""

OVERTAKING: Final = frozenset(
    {
        "breakpointLocations",
        "cancel",
        "completions",
        "dapkit/outputTaken",
        "disassemble",
        "disconnect",
        "exceptionInfo",
        "gotoTargets",
        "loadedSources",
        "locations",
        "modules",
        "pause",
        "readMemory",
        "scopes",
        "source",
        "stackTrace",
        "stepInTargets",
        "terminate",
        "threads",
        "variables",
    }
)
"""Requests that need not wait for an earlier one: they only read, or they stop or end the program."""


class Chunked(Deferred):
    """The answer of a handler whose work takes long."""

    def __init__(self, slices: Slices) -> None:
        self.slices = slices


class ChunkedRequests:
    """The requests that are done in slices, and those that wait for them.

    Invariant: while a request is under way, each request that may not overtake it is in `_waiting`.
    """

    def __init__(self, link: Link, answer: Callable[[IncomingRequest, Handler], None]) -> None:
        self._link = link
        self._answer = answer
        self._under_way: list[IncomingRequest] = []
        self._waiting: list[tuple[IncomingRequest, Handler]] = []

    @in_link_thread
    def keeps(self, request: IncomingRequest, handler: Handler) -> bool:
        """Return whether a request must wait; it is answered when its turn comes."""
        if not self._under_way or request.message["command"] in OVERTAKING:
            return False
        self._waiting.append((request, handler))
        return True

    @in_link_thread
    def begin(self, request: IncomingRequest, work: Chunked) -> None:
        """Do the first slice of a request, and the others later."""
        self._under_way.append(request)
        self._go_on(request, work.slices)

    @in_link_thread
    def cancel(self, seq: object) -> None:
        """Drop the work for a request, if it is not done yet."""
        for request in [*self._under_way, *(request for request, _ in self._waiting)]:
            if request.message["seq"] == seq:
                request.refuse("cancelled")
        self._look()

    def _go_on(self, request: IncomingRequest, slices: Slices) -> None:
        if not request.answered:
            request.answer_with(lambda: _slice_of(slices))
        if request.answered:
            self._look()
        else:
            self._link.after(0, lambda: self._go_on(request, slices))

    def _look(self) -> None:
        """Answer those that need not wait any more."""
        self._under_way = [request for request in self._under_way if not request.answered]
        while self._waiting and not self._under_way:
            request, handler = self._waiting.pop(0)
            if not request.answered:
                self._answer(request, handler)


def _slice_of(slices: Slices) -> Json | Deferred:
    """Do a part of some work; return the body of the response if that was the last."""
    end = monotonic() + limits.SLICE_SECONDS
    try:
        while monotonic() < end:
            next(slices)
    except StopIteration as done:
        body: Json = done.value
        return body
    return DEFERRED
