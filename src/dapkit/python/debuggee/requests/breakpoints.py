"""Requests that set breakpoints, and that ask where they can be set."""

import os
from typing import TYPE_CHECKING, Final

from ..breakpoints.source import shown_span
from ..bytecode.positions import spots
from ..bytecode.texts import ProgramText
from ..connection.framing import Json
from ..connection.request import IncomingRequest, number
from ..interpreter.errors import RequestRefused
from .chunks import Chunked, Slices
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def set_breakpoints(engine: "Engine", request: IncomingRequest) -> Chunked:
    """Replace the breakpoints of one source."""
    return Chunked(_set_breakpoints(engine, *source_asked(engine, request), _specs(request)))


def _set_breakpoints(engine: "Engine", key: str, source: Json, specs: list[Json]) -> Slices:
    breakpoints = engine.callbacks.breakpoints.sources
    note = engine.sources.stamps.note_about(key) if specs else ""
    placed = yield from breakpoints.prepare(key, source, _text(engine, key), specs, note=note)
    with engine.lock:
        breakpoints.place(key, placed)
        engine.callbacks.breakpoints_changed()
        return {"breakpoints": [breakpoint.describe() for breakpoint in placed]}


def set_function_breakpoints(engine: "Engine", request: IncomingRequest) -> Json:
    """Replace the breakpoints at functions."""
    specs = _specs(request)
    with engine.lock:
        placed = engine.callbacks.breakpoints.functions.place(specs)
        return {"breakpoints": [breakpoint.describe() for breakpoint in placed]}


def set_instruction_breakpoints(engine: "Engine", request: IncomingRequest) -> Json:
    """Replace the breakpoints at instructions."""
    specs = _specs(request)
    with engine.lock:
        placed = engine.callbacks.breakpoints.instructions.place(specs)
        engine.callbacks.breakpoints_changed()
        return {"breakpoints": [breakpoint.describe() for breakpoint in placed]}


def breakpoint_locations(engine: "Engine", request: IncomingRequest) -> Json | Chunked:
    """List the places in some lines of a source at which the program can stop."""
    key, source = source_asked(engine, request)
    first = number(request, "line")
    if not first:
        raise RequestRefused("breakpointLocations needs a line, from 1 on")
    last = number(request, "endLine") or first
    if last < first:
        raise RequestRefused(f"endLine is {last}, before line {first}")
    lines = engine.callbacks.breakpoints.sources.template_lines(key)
    if lines is not None:
        return {"breakpoints": [{"line": line} for line in lines if first <= line <= last]}
    text = _text(engine, key)
    if isinstance(text, RequestRefused):
        raise text
    where = str(source.get("path") or source.get("name"))
    if text.listed is not None:
        return {"breakpoints": [{"line": line} for line in text.lines_with_code(where) if first <= line <= last]}
    begin = first, number(request, "column") or 1
    end = last, number(request, "endColumn") or float("inf")

    def slices() -> Slices:
        yield from text.read_through(where)
        rows: list[Json] = []
        for part in spots(text, first, last, where):
            spans = [{"line": spot.line, **shown_span(spot, text)} for spot in part]
            rows += [location for location in spans if begin <= (location["line"], location["column"]) <= end]
            yield
        return {"breakpoints": rows}

    return Chunked(slices())


def _specs(request: IncomingRequest) -> list[Json]:
    specs = request.arguments.get("breakpoints")
    if specs is None:  # as of clients of old versions of the protocol
        lines = request.arguments.get("lines") or []
        specs = [{"line": line} for line in lines] if isinstance(lines, list) else lines
    if not isinstance(specs, list) or not all(isinstance(item, dict) for item in specs):
        raise RequestRefused(f"breakpoints is {specs!r:.200}, expected a list of objects")
    return specs


def source_asked(engine: "Engine", request: IncomingRequest) -> tuple[str, Json]:
    """Return the key of the source that a request is about, and how to show it."""
    command = request.message["command"]
    source = request.arguments.get("source")
    source = source if isinstance(source, dict) else {}
    if source.get("sourceReference"):
        text = engine.shown.by_number(source["sourceReference"])
        return text.key, engine.shown.describe(text)
    path = source.get("path")
    if path is None and str(source.get("name")).startswith("<"):
        path = source["name"]  # code without a file goes by the name it was compiled under
    if not isinstance(path, str) or not path:
        raise RequestRefused(f"{command} needs source.path, or a source.name as in <string>; source is {source!r:.200}")
    key = engine.sources.show_as(path)
    if key is None:
        return path, {"name": path, "path": path}
    return key, {"name": os.path.basename(path), "path": path}


def _text(engine: "Engine", key: str) -> ProgramText | RequestRefused:
    unfiled = engine.sources.unfiled.with_key(key, engine.sources.name)
    if unfiled is not None and unfiled.name:
        return RequestRefused(f"{unfiled.name} is a template")
    try:
        return engine.texts.of(key)
    except RequestRefused as refusal:
        return refusal


HANDLERS: Final[dict[str, Handler]] = {
    "setBreakpoints": set_breakpoints,
    "setFunctionBreakpoints": set_function_breakpoints,
    "setInstructionBreakpoints": set_instruction_breakpoints,
    "breakpointLocations": breakpoint_locations,
}
