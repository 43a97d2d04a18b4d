"""Requests about memory and places in sources: readMemory, writeMemory, locations."""

from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import IncomingRequest, flag, number
from ..interpreter.errors import RequestRefused
from ..sources.locations import Location, locate
from .handler import Handler
from .values import report_changed

if TYPE_CHECKING:
    from ..engine.engine import Engine


def read_memory(engine: "Engine", request: IncomingRequest) -> Json:
    """Return bytes of a buffer."""
    if not isinstance(request.arguments.get("count"), int):
        raise RequestRefused(f"count is {request.arguments.get('count')!r:.200}, expected a number")
    count = number(request, "count")
    return engine.memory.read(request.arguments.get("memoryReference"), _offset(request), count)


def write_memory(engine: "Engine", request: IncomingRequest) -> Json:
    """Change bytes of a buffer."""
    arguments = request.arguments
    reference = arguments.get("memoryReference")
    partial = flag(request, "allowPartial", default=False)
    body, offset, count = engine.memory.write(reference, _offset(request), arguments.get("data"), partial=partial)

    def report() -> None:
        if count:
            engine.link.event("memory", {"memoryReference": reference, "offset": offset, "count": count})
            report_changed(engine, but=str(reference))

    request.afterwards = report
    return body


def _offset(request: IncomingRequest) -> int:
    offset = request.arguments.get("offset")
    if offset is None:
        return 0
    if not isinstance(offset, int) or isinstance(offset, bool):
        raise RequestRefused(f"offset is {offset!r:.200}, expected a number")
    return offset


def locations(engine: "Engine", request: IncomingRequest) -> Json:
    """Return where something is defined."""
    location = engine.references.get(request.arguments.get("locationReference"), Location)
    file, line, code = locate(location.value)
    return {"source": engine.shown.source_of_definition(file, code), "line": line, "column": 1}


HANDLERS: Final[dict[str, Handler]] = {
    "readMemory": read_memory,
    "writeMemory": write_memory,
    "locations": locations,
}
