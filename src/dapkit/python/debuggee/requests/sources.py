"""Requests about the program's code: its modules, its sources and their content."""

from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import IncomingRequest, number
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def modules(engine: "Engine", request: IncomingRequest) -> Json:
    """List the modules, or a page of them."""
    return engine.modules.page(number(request, "startModule"), number(request, "moduleCount"))


def loaded_sources(engine: "Engine", _request: IncomingRequest) -> Json:
    """List the sources of all code that is loaded, as far as it is known."""
    return engine.shown.loaded()


def source(engine: "Engine", request: IncomingRequest) -> Json:
    """Return the text of a source."""
    return engine.shown.content(request.arguments.get("source"), request.arguments.get("sourceReference"))


HANDLERS: Final[dict[str, Handler]] = {
    "modules": modules,
    "loadedSources": loaded_sources,
    "source": source,
}
