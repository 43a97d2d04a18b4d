"""What the handlers of all requests share: their shape, and reading single arguments.

A handler runs in the link's thread, takes the engine and the request, and returns the body of the response,
raises RequestRefused, or returns LATER if a stopped thread will answer. What must follow a
response (a program going on) is put into `request.afterwards`. Handlers of one topic live in one
module `requests_TOPIC`, with a table HANDLERS of their own; `dispatch` puts the tables together.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..connection.wire import Json
from ..errors import RequestRefused
from ..execution.jobs import Request

if TYPE_CHECKING:
    from ..engine import Engine


class Later:
    """The answer of a handler that leaves it to a stopped thread."""


LATER: Final = Later()

type Handler = Callable[["Engine", Request], Json | Later | None]


def flag(request: Request, name: str, *, default: bool) -> bool:
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


def number(request: Request, name: str) -> int:
    """Return an argument that counts something, 0 if it is not there.

    Raises:
        RequestRefused: if it is no number from 0 on.

    """
    value = request.arguments.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RequestRefused(f"{name} is {value!r:.200}, expected a number from 0 on")
    return value


def text(request: Request, name: str) -> str:
    """Return an argument that is a text and has to be there.

    Raises:
        RequestRefused: if it is missing or something else.

    """
    value = request.arguments.get(name)
    if not isinstance(value, str):
        raise RequestRefused(f"{name} is {value!r:.200}, expected a text")
    return value
