"""The debug console: statements, several lines, `await`, and the last value in `_`.

Typed code may stop at breakpoints, like any other code of the program (`Stops.expose`). An `await` is run by
the event loop of the thread, if it stands in one; the loop's other tasks go on meanwhile, since
whatever is awaited may wait for them.
"""

import _ast
import builtins
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Final, cast

from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.errors import RequestRefused, TimeIsUp
from ..interpreter.weak_values import COLLECTED, weak_getter
from ..loader import import_for_program
from ..options import EngineOptions
from ..sources.compilation import compiled
from .evaluate import NAME, Namespaces, said, too_long

type Part = tuple[CodeType, _ast.expr | None]
"""Code, and the expression that it is, if it is one."""

_AWAITS: Final = 0x80  # CO_COROUTINE
_FLAGS: Final = _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_CALLS: Final = (_ast.Call, _ast.Await)
_CHANGING: Final = (
    *(_ast.Assign, _ast.AugAssign, _ast.AnnAssign, _ast.NamedExpr, _ast.Delete, _ast.Import, _ast.ImportFrom),
    *(_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Call, _ast.Await, _ast.For, _ast.With),
)


class ConsoleResult:
    """The result: the value of the last expression, if there is one to show; `is_none` says that it is not shown."""

    def __init__(self, value: object = None, *, has_value: bool = False, is_none: bool = False) -> None:
        self.value = value
        self.has_value = has_value
        self.is_none = is_none


class Console:
    """State that lasts from one input to the next.

    Attributes:
        last: the value of the last expression that had one other than None, in a list; empty for none. While the
            program runs it is only remembered.

    """

    def __init__(self, options: EngineOptions) -> None:
        self.last: list[object] = []
        self._find: Callable[[], object] | None = None
        self._options = options

    def run(
        self,
        text: str,
        namespaces: Namespaces,
        guard: EvaluationGuard,
        *,
        expose: Callable[[EvaluationGuard, Callable[[], ConsoleResult]], ConsoleResult],
        show: Callable[[object], None],
        explain: Callable[[BaseException], str],
    ) -> ConsoleResult:
        """Run an input. `show` is called with the values of expressions before the last, `explain` with its error.

        Raises:
            RequestRefused: with the error that the text has or raises, or the time it took.

        """
        parts = _parts(text)
        if not self.last and self._find is not None:
            self.last = [value for value in (self._find(),) if value is not COLLECTED]
        try:
            outcome = guard.call(
                self._options.evaluate_seconds,
                expose,
                guard,
                lambda: _with_last(self.last, lambda: _run(parts, namespaces, show)),
            )
        except TimeIsUp:
            raise RequestRefused(too_long(text, self._options.evaluate_seconds)) from None
        except BaseException as error:  # the error of the user's own code is the answer
            raise RequestRefused(explain(error)) from error
        finally:
            namespaces.write_back()
            _flush_output(guard)
        if outcome.has_value and outcome.value is not None:
            self.last = [outcome.value]
        return outcome

    def let_go(self) -> None:
        """Keep the last value alive no more: the program continues."""
        if self.last:
            self._find = weak_getter(self.last.pop())


def may_change(text: str) -> bool:
    """Return whether an input may give variables new values."""
    try:
        todo: list[object] = [compiled(text, "exec", _ast.PyCF_ONLY_AST | _FLAGS, place=NAME)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while todo:
        node = todo.pop()
        if isinstance(node, _CHANGING):
            return True
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            todo.extend(getattr(node, field, None) for field in node._fields)
    return False


def _parts(text: str) -> list[Part]:
    try:
        return [_expression(compiled(text.strip(), "eval", _ast.PyCF_ONLY_AST | _FLAGS, place=NAME).body)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass  # not one expression; then it must be statements
    try:
        module = cast("_ast.Module", compiled(text, "exec", _ast.PyCF_ONLY_AST | _FLAGS, place=NAME))
        parts: list[Part] = []
        statements: list[_ast.stmt] = []
        for node in module.body:
            if isinstance(node, _ast.Expr):
                parts += _block(statements)
                statements = []
                parts.append(_expression(node.value))
            else:
                statements.append(node)
        return parts + _block(statements)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error


def _block(statements: list[_ast.stmt]) -> list[Part]:
    if not statements:
        return []
    module = _ast.Module(statements, [])
    return [(compiled(module, "exec", _FLAGS, place=NAME), None)]


def _expression(tree: _ast.expr) -> Part:
    return compiled(_ast.Expression(tree), "eval", _FLAGS, place=NAME), tree


def _run(parts: list[Part], namespaces: Namespaces, show: Callable[[object], None]) -> ConsoleResult:
    outcome = ConsoleResult()
    for at, (code, expression) in enumerate(parts):
        value: Any = eval(code, namespaces.namespace_for(code), namespaces.locals_for(code))
        if code.co_flags & _AWAITS:
            value = _await(value)
        is_last = at == len(parts) - 1
        # A call that gives None was made for its effect; None is shown if it is the answer to a question.
        is_asked_for = len(parts) == 1 and not isinstance(expression, _CALLS)
        has_value = expression is not None and (value is not None or is_asked_for)
        outcome = ConsoleResult(value, has_value=has_value, is_none=expression is not None and not has_value)
        if outcome.has_value and not is_last:
            show(value)
    return outcome


def _with_last[T](last: list[object], function: Callable[[], T]) -> T:
    """Call a function while `_` is the last value, for code that does not mean a `_` of its own."""
    names = vars(builtins)
    if not last or "_" in names:
        return function()
    names["_"] = last[0]
    try:
        return function()
    finally:
        names.pop("_", None)


def _await(coroutine: Any) -> object:  # noqa: ANN401 - a coroutine
    """Run a coroutine to its end."""
    asyncio = import_for_program("asyncio")
    loop: Any = asyncio._get_running_loop()
    if loop is None:
        return asyncio.run(coroutine)
    if not hasattr(loop, "_run_once") or not hasattr(loop, "_ready"):
        coroutine.close()
        raise RuntimeError(f"await works in event loops of asyncio itself; this is a {type(loop).__name__}")
    current = asyncio.current_task(loop)
    waiting = len(loop._ready)
    if current is not None:
        asyncio.tasks._leave_task(loop, current)
    try:
        task = loop.create_task(coroutine)
        while not task.done():
            loop._run_once()
        result: object = task.result()
        return result
    finally:
        if current is not None:
            asyncio.tasks._enter_task(loop, current)
        for _ in range(waiting):  # the round that the loop is in counted on so many
            loop.call_soon(_nothing)


def _nothing() -> None:
    return


def _flush_output(guard: EvaluationGuard) -> None:
    """Show the output of the input before its response."""
    for stream in (sys.stdout, sys.stderr):
        try:
            guard.call(limits.VALUE_SECONDS, _flush, stream)
        except BaseException:  # noqa: S112 - it is closed, or a stand-in of the program
            continue


def _flush(stream: Any) -> None:  # noqa: ANN401 - whatever the program put there
    if stream is not None:
        stream.flush()
