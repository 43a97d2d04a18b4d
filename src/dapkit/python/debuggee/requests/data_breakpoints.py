"""Requests about data breakpoints."""

from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from ..breakpoints.breakpoint import ONCE
from ..bytecode.instructions import parse
from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, flag, number, text
from ..data_breakpoints.anchors import holder_of
from ..data_breakpoints.resolution import target_of, target_of_bytes
from ..data_breakpoints.targets import WatchTarget
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..expressions.assignment import stored_at
from ..expressions.evaluate import Namespaces, evaluate
from ..expressions.hover import lazy_import, refuse_lazy_imports
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import type_name
from ..time_travel.value_names import named_from_module, place_in
from ..values.storage import ContainerItem
from ..values.variables import VariableContainer
from .handler import Handler
from .values import origin_of, why_not_evaluated

if TYPE_CHECKING:
    from ..engine.engine import Engine


def data_breakpoint_info(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Return whether something can be watched, and under which dataId."""
    name = text(request, "name")
    size = number(request, "bytes")
    once = _is_once(request)
    is_address = flag(request, "asAddress", default=False)
    reference = None if is_address else request.arguments.get("variablesReference")
    inside = engine.reader.inside(reference) if reference else None
    origin = inside or origin_of(engine, request)

    def work(guard: EvaluationGuard) -> Json:
        try:
            if is_address:
                target = _target_at(engine, name, size)
            elif inside:
                target = _target_in(engine, inside, name, size, guard)
            else:
                target = _target_of(name, origin, size, guard)
        except RequestRefused as refusal:
            return {"dataId": None, "description": str(refusal)}
        anchor = None if engine.stops.history is None else _named(target, origin.frame)
        return engine.data_breakpoints.offer(target, once=once, by_name=anchor)

    def instead(has_begun: bool) -> Json:
        raise RequestRefused(why_not_evaluated(engine, origin.ident, has_begun=has_begun))

    engine.jobs.post(origin.ident, Job(request, work, seconds=limits.WATCH_SECONDS * 2, instead=instead))
    return DEFERRED


def _named(target: WatchTarget, frame: FrameType | None) -> Json | None:
    """Return how a target is named at any time: from a module if it can be, or else as the client has named it."""
    if frame is None:
        return None
    holder, part = holder_of(target)
    anchor = named_from_module(holder, frame) if part else None
    if anchor is not None:
        module, name = anchor
        return {"expression": name + part, "holder": name, "place": {"module": module}}
    try:
        code = compile(target.label, "<dapkit: data>", "eval", dont_inherit=True)
    except SyntaxError:
        return None
    return {"expression": target.label, "place": place_in(frame, code)}


def _is_once(request: IncomingRequest) -> bool:
    mode = request.arguments.get("mode")
    if mode not in (None, ONCE):
        raise RequestRefused(f"mode {mode!r:.200} is unknown; there is {ONCE}")
    return mode is not None


def _target_at(engine: "Engine", name: str, size: int) -> WatchTarget:
    value, offset = engine.memory.at(parse(name, "name"))
    return target_of_bytes(value, offset, size or 1, f"{type_name(value)} at {id(value):#x}")


def _target_in(
    engine: "Engine", inside: VariableContainer, name: str, size: int, guard: EvaluationGuard
) -> WatchTarget:
    row = engine.reader.find(inside, name, guard)
    if row is None:
        raise RequestRefused(f"there is no {name!r} here")
    label = name if row.path.startswith("object.") else row.path or name  # some paths are long and say little
    if row.stored is None:
        raise RequestRefused(f"{label} is not a variable, attribute or item that could change")
    if not size:
        return target_of(row.stored, label)
    if (
        isinstance(row.stored, ContainerItem)
        and type(row.stored.key) is int
        and not isinstance(row.stored.container, dict)
    ):
        return _range_from(row.stored.container, row.stored.key, size, label)
    return target_of_bytes(row.stored.read(), 0, size, label)


def _target_of(expression: str, origin: VariableContainer, size: int, guard: EvaluationGuard) -> WatchTarget:
    namespaces = Namespaces(origin.frame)
    label = expression.strip()
    if size or lazy_import(expression, namespaces) is None:
        refuse_lazy_imports(expression, namespaces)
    if not size:
        return target_of(stored_at(expression, namespaces=namespaces, frame=origin.frame, guard=guard), label)
    try:
        stored = stored_at(expression, namespaces=namespaces, frame=origin.frame, guard=guard)
    except RequestRefused:
        stored = None
    if isinstance(stored, ContainerItem) and type(stored.key) is int and not isinstance(stored.container, dict | list):
        return _range_from(stored.container, stored.key, size, label)
    return target_of_bytes(evaluate(expression, namespaces, guard), 0, size, label)


def _range_from(buffer: Any, index: int, size: int, label: str) -> WatchTarget:  # noqa: ANN401 - any container
    """Return the bytes from an item on."""
    try:
        with memoryview(buffer) as view:
            start = index % len(view) * view.itemsize
    except (TypeError, ZeroDivisionError) as error:
        raise RequestRefused(f"{label} is not an item of a buffer") from error
    return target_of_bytes(buffer, start, size, label)


def set_data_breakpoints(engine: "Engine", request: IncomingRequest) -> Json:
    """Replace all data breakpoints."""
    specs = request.arguments.get("breakpoints")
    if not isinstance(specs, list) or not all(isinstance(item, dict) for item in specs):
        raise RequestRefused(f"breakpoints is {specs!r:.200}, expected a list of objects")
    return {"breakpoints": engine.data_breakpoints.place(specs)}


HANDLERS: Final[dict[str, Handler]] = {
    "dataBreakpointInfo": data_breakpoint_info,
    "setDataBreakpoints": set_data_breakpoints,
}
