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
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import forget_classes
from ..values.variables import VariableContainer
from .handler import Handler
from .values import load_presenters, origin_of, report_changed, wants_hexadecimal, why_not_evaluated

if TYPE_CHECKING:
    from ..engine.engine import Engine

_OF_ROWS: Final = ("name", "value", "evaluateName")
_CHARS: Final = {"clipboard": limits.CLIPBOARD_CHARS, "repl": limits.REPL_CHARS}


class _Evaluation:
    """One `evaluate` request, on its way to the thread that does it."""

    def __init__(self, engine: "Engine", request: IncomingRequest) -> None:
        self.expression = text(request, "expression")
        self.context = str(request.arguments.get("context") or "watch")
        self.origin = origin_of(engine, request, may_run=True)
        self.is_running = not engine.stops.standing
        self._engine = engine
        self._request = request
        self._hexadecimal = wants_hexadecimal(request)
        untrack(self)

    @property
    def is_typed(self) -> bool:
        """Whether it was typed at the console."""
        return self.context == "repl"

    def work(self, guard: EvaluationGuard) -> Json:
        """Evaluate in the thread, and return the body of the response."""
        forget_classes()
        load_presenters(self._engine, guard)
        namespaces = _namespaces(self._engine, self.origin)
        row = lazy_import(self.expression, namespaces) if not self.is_typed else None
        if row is not None:
            return _of_row(self._engine.reader.variable(row, self.origin, guard))
        outcome = self._outcome(namespaces, guard)
        body = _of_row(self._describe(outcome.value, guard)) if outcome.has_value else _of_no_value(outcome)
        if self.is_running:
            body["variablesReference"] = 0  # the thread continues, and the object is kept no longer
            if self.is_typed:
                where = self._engine.threads.name(self.origin.ident)
                self._engine.link.event("output", {"category": "console", "output": f"Evaluated in {where}.\n"})
        return body

    def instead(self, has_begun: bool) -> Json:
        """Refuse in the link's thread, as the thread could not do it."""
        if self.is_running and not has_begun:
            raise RequestRefused(_no_safe_point(self._engine, self.origin.ident))
        raise RequestRefused(why_not_evaluated(self._engine, self.origin.ident, has_begun=has_begun))

    def _describe(self, value: object, guard: EvaluationGuard) -> Json:
        bare = self.expression.strip()
        path = bare if bare.isidentifier() else f"({bare})"
        chars = _CHARS.get(self.context, limits.VALUE_CHARS)
        presented = self.context not in _CHARS  # there a user wants the text that the program itself would print
        return self._engine.reader.describe(
            value,
            path,
            self.origin,
            guard,
            chars=chars,
            depth=limits.RESULT_DEPTH,
            hexadecimal=self._hexadecimal,
            presented=presented,
        )

    def _outcome(self, namespaces: Namespaces, guard: EvaluationGuard) -> ConsoleResult:
        if self.context == "hover":
            return ConsoleResult(look_up(self.expression, namespaces), has_value=True)
        if not self.is_typed:
            return ConsoleResult(evaluate(self.expression, namespaces, guard), has_value=True)

        def show(value: object) -> None:
            body = self._describe(value, guard)
            output: Json = {"category": "console", "output": f"{body['value']}\n"}
            reference = 0 if self.is_running else body["variablesReference"]
            self._engine.link.event("output", output | {"variablesReference": reference})

        if may_change(self.expression) and not self.is_running:
            self._request.afterwards = lambda: report_changed(self._engine)
        explain = _explanation(self._engine, self.expression, guard)
        expose = _without_stops if self.is_running else self._engine.stops.expose
        return self._engine.console.run(self.expression, namespaces, guard, expose=expose, show=show, explain=explain)


def evaluate_(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Evaluate in a frame, or in `__main__`; while the program runs, at the next safe point of the main thread."""
    evaluation = _Evaluation(engine, request)
    patience = engine.options.evaluate_seconds if evaluation.is_typed else limits.WATCH_SECONDS
    job = Job(request, evaluation.work, seconds=patience + 1, instead=evaluation.instead)
    if evaluation.is_running:
        engine.jobs.post_to_running(evaluation.origin.ident, job, seconds=patience)
    else:
        engine.jobs.post(evaluation.origin.ident, job)
    return DEFERRED


def _without_stops[T](_guard: EvaluationGuard, function: Callable[[], T]) -> T:
    """Call code of the program in a thread that is not stopped for the client: breakpoints in it do not stop."""
    return function()


def _no_safe_point(engine: "Engine", ident: int) -> str:
    """Return why nothing was evaluated in a running thread."""
    name = engine.threads.name(ident)
    frame = engine.threads.frames().get(ident)
    where = "" if frame is None else f" called by {frame.f_code.co_qualname}"
    return f"{name} is inside native code{where} and came to no line of Python in time; pause it to evaluate"


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
