"""A request of the adapter: answered once, and how its single arguments are read."""

import _thread
from collections.abc import Callable
from typing import Final

from ..interpreter import limits
from ..interpreter.errors import RequestRefused, TimeIsUp
from ..interpreter.gc_tracking import untrack
from .framing import Json
from .link import Link


class Deferred:
    """The answer of a handler that leaves it to a stopped thread, or to a later moment."""


DEFERRED: Final = Deferred()


class IncomingRequest:
    """A request of the adapter, on its way to exactly one response.

    Invariant: of all calls of `answer` and `refuse` the first one sends, the others do nothing.
    """

    def __init__(self, message: Json, link: Link) -> None:
        untrack(self)
        self.message = message
        self.arguments: Json = {}
        self._link = link
        self._open = _thread.allocate_lock()
        self.afterwards: Callable[[], None] | None = None
        """Work after the response has left: it may cause an event."""

    def answer(self, body: Json | None) -> None:
        """Answer with success, then do the work that follows."""
        if self._open.acquire(blocking=False):
            self._link.response(self.message, success=True, body=body)
            afterwards, self.afterwards = self.afterwards, None  # which may hold the request
            if afterwards is not None:
                afterwards()

    def answer_with(self, make: Callable[[], Json | Deferred | None]) -> Deferred | None:
        """Answer with the body that a function makes, or with the reason for which it raises.

        Return its result instead if that is deferred. An error of the work after the response goes to the user: it
        has no other response.
        """
        try:
            body = make()
        except RequestRefused as refusal:
            self.refuse(str(refusal))
        except TimeIsUp:
            self.refuse("it took too long and was interrupted")
        except BaseException as error:
            self.fail(error)
        else:
            if isinstance(body, Deferred):
                return body
            try:
                self.answer(body)
            except Exception as error:
                self._link.errors.show(error, f"{self.label}, after its response")
        return None

    def fail(self, error: BaseException) -> None:
        """Answer that the engine has an error, whose traceback goes to the adapter's log."""
        self._link.errors.log(error, self.label)
        self.refuse(f"internal error of the debugger: {type(error).__name__}: {error}")

    @property
    def label(self) -> str:
        """The name of the request in a log."""
        return f"request {self.message['seq']} {self.message['command']}"

    def refuse(self, reason: str) -> None:
        """Answer with an error, which the adapter makes a structured one of."""
        if self._open.acquire(blocking=False):
            self._link.response(self.message, success=False, message=reason[: limits.MESSAGE_CHARS])

    @property
    def answered(self) -> bool:
        """Return whether the response has left."""
        return self._open.locked()


def flag(request: IncomingRequest, name: str, *, default: bool) -> bool:
    """Return a boolean argument.

    Raises:
        RequestRefused: if it is something else.

    """
    value = request.arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise RequestRefused(f"{name} is {value!r:.200}, expected true or false")
    return value


def number(request: IncomingRequest, name: str) -> int:
    """Return an argument that counts something, 0 if it is not there.

    Raises:
        RequestRefused: if it is not a number from 0 on.

    """
    value = request.arguments.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RequestRefused(f"{name} is {value!r:.200}, expected a number from 0 on")
    return value


def text(request: IncomingRequest, name: str) -> str:
    """Return an argument that is a text and must be there.

    Raises:
        RequestRefused: if it is missing or something else.

    """
    value = request.arguments.get(name)
    if not isinstance(value, str):
        raise RequestRefused(f"{name} is {value!r:.200}, expected a text")
    return value
