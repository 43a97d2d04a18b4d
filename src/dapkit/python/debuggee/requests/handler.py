"""The common form of the handlers of all requests. How they read arguments is in `connection.request`.

A handler takes the engine and the request, and returns the body of the response,
raises RequestRefused, or returns DEFERRED if a stopped thread will answer. Work that must follow a response (a program
that continues) is put into `request.afterwards`. Handlers of one topic live in one module of this package, with a table
HANDLERS of their own; `dispatch` puts the tables together.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..connection.framing import Json
from ..connection.request import Deferred, IncomingRequest

if TYPE_CHECKING:
    from ..engine.engine import Engine


type Handler = Callable[["Engine", IncomingRequest], Json | Deferred | None]
