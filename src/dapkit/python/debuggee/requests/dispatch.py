"""Requests of the adapter: a table from command to handler, and the responses.

`handler` defines a handler, and `capabilities` lists the handlers' capabilities.
The order on the wire and the start of a session are described in `entry`.
"""

from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import IncomingRequest
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import in_link_thread
from . import breakpoints as requests_breakpoints
from . import bytecode as requests_bytecode
from . import control as requests_control
from . import data_breakpoints as requests_data
from . import diagnostics as requests_diagnostics
from . import evaluation as requests_evaluation
from . import exceptions as requests_exceptions
from . import memory as requests_memory
from . import session as requests_session
from . import sources as requests_sources
from . import stacks as requests_stacks
from . import time_travel as requests_travel
from . import values as requests_values
from .capabilities import capabilities
from .chunks import Chunked, ChunkedRequests
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


class Dispatcher:
    """Answers every request exactly once."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._sliced = ChunkedRequests(engine.link, self.answer)

    @in_link_thread
    def handle(self, message: Json) -> None:
        """Take a message from the link. A message that is not a request gets no answer."""
        if message.get("type") != "request" or not isinstance(message.get("seq"), int):
            return
        request = IncomingRequest(message, self._engine.link)
        command = message.setdefault("command", "")
        try:
            handler = self._handler(command, request)
        except RequestRefused as refusal:
            request.refuse(str(refusal))
        else:
            if not self._sliced.keeps(request, handler):
                self.answer(request, handler)

    @in_link_thread
    def answer(self, request: IncomingRequest, handler: Handler) -> None:
        """Let a handler answer a request."""
        work = request.answer_with(lambda: handler(self._engine, request))
        if isinstance(work, Chunked):
            self._sliced.begin(request, work)

    def again(self, request: IncomingRequest) -> None:
        """Answer a request that was put off."""
        self.answer(request, self._handler(request.message["command"], request))

    @in_link_thread
    def cancel(self, seq: object) -> None:
        """Drop the work for a request, if it is not done yet."""
        self._engine.jobs.cancel(seq)
        self._sliced.cancel(seq)

    def _handler(self, command: object, request: IncomingRequest) -> Handler:
        handler = HANDLERS.get(command) if isinstance(command, str) else None
        if not self._engine.options.debugs:
            handler = requests_session.WITHOUT_DEBUGGING.get(str(command), handler)
        if handler is None:
            raise RequestRefused(f"unknown command {command!r}")
        arguments = request.message.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise RequestRefused(f"the arguments of {command} are {arguments!r:.200}, expected an object")
        request.arguments = arguments
        return handler


# The session


def initialize(engine: "Engine", request: IncomingRequest) -> Json:
    """Announce the capabilities of the engine."""
    request.afterwards = lambda: engine.link.event("initialized", {})
    return capabilities()


HANDLERS: Final[dict[str, Handler]] = {
    "initialize": initialize,
    **requests_breakpoints.HANDLERS,
    **requests_bytecode.HANDLERS,
    **requests_data.HANDLERS,
    **requests_exceptions.HANDLERS,
    **requests_diagnostics.HANDLERS,
    **requests_control.HANDLERS,
    **requests_session.HANDLERS,
    **requests_sources.HANDLERS,
    **requests_stacks.HANDLERS,
    **requests_evaluation.HANDLERS,
    **requests_memory.HANDLERS,
    **requests_travel.HANDLERS,
    **requests_values.HANDLERS,
}
