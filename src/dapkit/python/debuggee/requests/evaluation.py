"""Requests about expressions: evaluate and completions."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number, text
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..exceptions.traceback_text import TracebackWriter, shortened
from ..expressions.completion import complete
from ..expressions.console import ConsoleResult, may_change
from ..expressions.evaluate import NAME, Namespaces, evaluate
from ..expressions.hover import lazy_import, look_up
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import forget_classes
from ..values.variables import VariableContainer
from .handler import Handler
from .values import load_presenters, origin_of, report_changed, wants_hexadecimal, why_not_evaluated

if TYPE_CHECKING:
    from ..engine.engine import Engine

_OF_ROWS: Final = ("name", "value", "evaluateName")
_CHARS: Final = {"clipboard": limits.CLIPBOARD_CHARS, "repl": limits.REPL_CHARS}


def evaluate_(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Evaluate in a frame, or in `__main__`."""
    expression = text(request, "expression")
    context = str(request.arguments.get("context") or "watch")
    origin = origin_of(engine, request)
    hexadecimal = wants_hexadecimal(request)
    reader = engine.reader

    def describe(value: object, guard: EvaluationGuard) -> Json:
        bare = expression.strip()
        path = bare if bare.isidentifier() else f"({bare})"
        chars = _CHARS.get(context, limits.VALUE_CHARS)
        presented = context not in _CHARS  # there a user wants the text that the program itself would print
        return reader.describe(value, path, origin, guard, chars=chars, hexadecimal=hexadecimal, presented=presented)

    def work(guard: EvaluationGuard) -> Json:
        forget_classes()
        load_presenters(engine, guard)
        namespaces = _namespaces(engine, origin)
        row = lazy_import(expression, namespaces) if context != "repl" else None
        if row is not None:
            return _of_row(reader.variable(row, origin, guard))
        outcome = _outcome(namespaces, guard)
        return _of_row(describe(outcome.value, guard)) if outcome.has_value else _of_no_value(outcome)

    def _outcome(namespaces: Namespaces, guard: EvaluationGuard) -> ConsoleResult:
        if context == "hover":
            return ConsoleResult(look_up(expression, namespaces), has_value=True)
        if context != "repl":
            return ConsoleResult(evaluate(expression, namespaces, guard), has_value=True)

        def show(value: object) -> None:
            body = describe(value, guard)
            output: Json = {"category": "console", "output": f"{body['value']}\n"}
            engine.link.event("output", output | {"variablesReference": body["variablesReference"]})

        if may_change(expression):
            request.afterwards = lambda: report_changed(engine)
        explain = _explanation(engine, expression, guard)
        expose = engine.stops.expose
        return engine.console.run(expression, namespaces, guard, expose=expose, show=show, explain=explain)

    def instead(has_begun: bool) -> Json:
        raise RequestRefused(why_not_evaluated(engine, origin.ident, has_begun=has_begun))

    seconds = engine.options.evaluate_seconds + 1 if context == "repl" else limits.WATCH_SECONDS + 1
    engine.jobs.post(origin.ident, Job(request, work, seconds=seconds, instead=instead))
    return DEFERRED


def _namespaces(engine: "Engine", origin: VariableContainer) -> Namespaces:
    """Return the namespaces of an expression in a frame, with the exception at which its thread is stopped."""
    namespaces = Namespaces(origin.frame)
    parked = engine.stops.parked.get(origin.ident)
    namespaces.exception = parked.exception if parked is not None else None
    return namespaces


def _of_row(row: Json) -> Json:
    """Return the body of `evaluate` for a value that is described as in a row of `variables`."""
    return {"result": row["value"]} | {name: value for name, value in row.items() if name not in _OF_ROWS}


def _of_no_value(outcome: ConsoleResult) -> Json:
    """Return the body of `evaluate` where there is nothing to show."""
    return {"result": "", "variablesReference": 0} | ({"type": "NoneType"} if outcome.is_none else {})


def _explanation(engine: "Engine", typed: str, guard: EvaluationGuard) -> Callable[[BaseException], str]:
    """Return a function that writes the traceback of a later error of the console's input."""
    handled = sys.exception()  # by the program; a new exception has it as its context
    writer = TracebackWriter(engine.sources, engine.texts, {NAME: typed})
    return lambda error: shortened(
        writer.exception(error, guard, written_before=handled).rstrip(), limits.MESSAGE_CHARS
    )


def completions(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Propose completions."""
    typed = text(request, "text")
    column = number(request, "column")
    line = number(request, "line") or 1
    origin = origin_of(engine, request)

    def work(_guard: EvaluationGuard) -> Json:
        return {"targets": complete(typed, line, column, Namespaces(origin.frame))}

    def instead(_begun: bool) -> Json:
        return {"targets": []}

    engine.jobs.post(origin.ident, Job(request, work, seconds=limits.WATCH_SECONDS, instead=instead))
    return DEFERRED


HANDLERS: Final[dict[str, Handler]] = {
    "evaluate": evaluate_,
    "completions": completions,
}
