"""Requests about values: scopes, variables and expressions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number, text
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..execution.results import UNKNOWN
from ..expressions.assignment import set_expression, set_variable
from ..expressions.evaluate import Namespaces
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import plain_text
from ..values.presenters.project import PROJECT
from ..values.row_types import UnreadProperty, ValueRow
from ..values.variables import (
    CELLS,
    GLOBALS,
    LOCALS,
    FrameVariables,
    ShownFrame,
    VariableContainer,
    closure_of,
)
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine

_TOO_OFTEN: Final = UnreadProperty("is not known: its code returned too often on the way")


def scopes(engine: "Engine", request: IncomingRequest) -> Json:
    """List the scopes of a frame."""
    frame = engine.references.get(request.arguments.get("frameId"), ShownFrame)
    rows: list[Json] = []

    def show(name: str, scope: FrameVariables, hint: str = "") -> None:
        body: Json = {"name": name, "variablesReference": engine.references.add(scope, frame.ident), "expensive": False}
        rows.append(body | ({"presentationHint": hint} if hint else {}))

    parked = engine.stops.parked.get(frame.ident)
    is_shown = parked is not None and parked.shown is frame.frame and engine.options.show_return_value
    # Above the local variables: editors open the first scope alone.
    returned = [
        ValueRow(f"(return) {plain_text(name)}", _TOO_OFTEN if value is UNKNOWN else value)
        for name, value in (parked.returned if parked is not None and is_shown else [])
    ]
    show("Locals", FrameVariables(frame, LOCALS, returned=returned), "locals")
    if closure_of(frame.frame):
        show("Closure", FrameVariables(frame, CELLS))
    show("Globals", FrameVariables(frame, GLOBALS), "globals")
    return {"scopes": rows}


def variables(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Show the contents of a scope or a value."""
    reader = engine.reader
    inside = reader.inside(request.arguments.get("variablesReference"))
    _check_page(request)
    hexadecimal = wants_hexadecimal(request)
    described: list[Json] = []

    rows: list[ValueRow] = []

    def work(guard: EvaluationGuard) -> Json:
        load_presenters(engine, guard)
        if reader.loads(inside):
            request.afterwards = lambda: report_changed(engine)
        rows.extend(reader.page(inside, request.arguments, guard))
        for row in rows:
            described.append(reader.variable(row, inside, guard, hexadecimal=hexadecimal))  # noqa: PERF401 - `instead` reads it meanwhile
        return {"variables": described}

    def instead(has_begun: bool) -> Json:
        """Return the rows that are done, the one that hangs, and the others without code of the program."""
        ready = list(described)
        others = (rows or reader.page(inside, request.arguments, None))[len(ready) :]
        rest = [
            reader.variable(row, inside, None, is_lost=has_begun and at == 0, hexadecimal=hexadecimal)
            for at, row in enumerate(others)
        ]
        return {"variables": ready + rest}

    engine.jobs.post(inside.ident, Job(request, work, seconds=reader.seconds_for(inside), instead=instead))
    return DEFERRED


def load_presenters(engine: "Engine", guard: EvaluationGuard) -> None:
    """Load the project's own presenters, before values are looked at."""

    def report(text: str) -> None:
        engine.link.event("output", {"category": "console", "output": text + "\n"})

    PROJECT.load(guard, report)


def _check_page(request: IncomingRequest) -> None:
    variables_filter = request.arguments.get("filter")
    if variables_filter not in (None, "indexed", "named"):
        raise RequestRefused(f"filter is {variables_filter!r:.200}, expected indexed or named")
    number(request, "start")
    number(request, "count")


def wants_hexadecimal(request: IncomingRequest) -> bool:
    """Return whether numbers are to be shown in base 16."""
    value_format = request.arguments.get("format")
    return isinstance(value_format, dict) and value_format.get("hex") is True


def set_variable_(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Give a shown variable a new value."""
    reader = engine.reader
    inside = reader.inside(request.arguments.get("variablesReference"))
    name, new = text(request, "name"), text(request, "value")

    def work(guard: EvaluationGuard) -> Json:
        namespaces = Namespaces(inside.frame)
        value = set_variable(reader, inside, name, namespaces=namespaces, text=new, guard=guard)
        path = inside.shown[name].path if name in inside.shown else ""
        return reader.describe(value, path, inside, guard, hexadecimal=wants_hexadecimal(request))

    return _assign(engine, request, inside.ident, work)


def set_expression_(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Assign to an expression."""
    expression, new = text(request, "expression"), text(request, "value")
    origin = origin_of(engine, request)

    def work(guard: EvaluationGuard) -> Json:
        namespaces = Namespaces(origin.frame)
        value = set_expression(expression, namespaces=namespaces, frame=origin.frame, text=new, guard=guard)
        return engine.reader.describe(
            value, f"({expression.strip()})", origin, guard, hexadecimal=wants_hexadecimal(request)
        )

    return _assign(engine, request, origin.ident, work)


def _assign(
    engine: "Engine", request: IncomingRequest, ident: int, work: Callable[[EvaluationGuard], Json]
) -> Deferred:
    def changed(guard: EvaluationGuard) -> Json:
        body = work(guard)
        request.afterwards = lambda: report_changed(engine)
        return body

    def instead(has_begun: bool) -> Json:
        raise RequestRefused(why_not_evaluated(engine, ident, has_begun=has_begun))

    engine.jobs.post(ident, Job(request, changed, seconds=limits.WATCH_SECONDS * 2, instead=instead))
    return DEFERRED


def report_changed(engine: "Engine", but: str = "") -> None:
    """Report that other variables, and other memory, than those in the answer may have new values."""
    engine.link.event("invalidated", {"areas": ["variables"]})
    for body in engine.memory.changed():
        if body["memoryReference"] != but:
            engine.link.event("memory", body)


def why_not_evaluated(engine: "Engine", ident: int, *, has_begun: bool) -> str:
    """Return why a stopped thread did not do its work."""
    if has_begun:
        return "it did not end in time, and cannot be interrupted where it is; it goes on"
    if ident not in engine.stops.parked:
        return "the thread is inside native code, nothing can be evaluated in it now"
    return "the thread is busy with an earlier evaluation that cannot be interrupted"


def origin_of(engine: "Engine", request: IncomingRequest, *, may_run: bool = False) -> VariableContainer:
    """Return the thread and frame that a request is to be evaluated in.

    If the program may run, that is the main thread, in no frame.

    Raises:
        RequestRefused: if the program runs and must not, or the frame is not of this stop.

    """
    frame_id = request.arguments.get("frameId")
    if frame_id is not None:
        frame = engine.references.get(frame_id, ShownFrame)
        return VariableContainer(frame.ident, frame.frame)
    if engine.stops.standing:
        return VariableContainer(engine.stops.standing, None)
    if not may_run or engine.stops.history is not None or not engine.states.configured:
        raise RequestRefused("the program is running; pause it to evaluate")
    return VariableContainer(engine.threads.main, None)


def cancel(engine: "Engine", request: IncomingRequest) -> None:
    """Drop the work for an earlier request; an answered request has no work left."""
    engine.dispatcher.cancel(request.arguments.get("requestId"))


HANDLERS: Final[dict[str, Handler]] = {
    "scopes": scopes,
    "variables": variables,
    "setVariable": set_variable_,
    "setExpression": set_expression_,
    "cancel": cancel,
}
