"""Expressions and statements in a frame of the stopped program.

They run in the thread that the frame belongs to, under a Guard. Assignments to local
variables reach the frame: from 3.13 on by themselves, in 3.12 by a call of the C API.
"""

import _ast
import sys
from types import CodeType, FrameType
from typing import cast

from . import limits
from .errors import RequestRefused, TimeIsUp
from .jobs import Guard
from .storage import write_locals_back
from .wire import Json

_NAME = "<dapkit: evaluate>"


class Result:
    """What came out; `has_value` is false for statements that end without an expression."""

    def __init__(self, value: object, *, has_value: bool) -> None:
        self.value = value
        self.has_value = has_value


class Place:
    """The namespaces that code is to run in: those of a frame, or of a module alone."""

    def __init__(self, names: dict[str, object], frame: FrameType | None = None) -> None:
        self.globals = frame.f_globals if frame is not None else names
        self.locals = frame.f_locals if frame is not None else names
        self._frame = frame

    def write_back(self) -> None:
        """Make assignments to local variables real."""
        if self._frame is not None:
            write_locals_back(self._frame)

    def namespace_for(self, code: CodeType) -> dict[str, object]:
        """Return the globals for a piece of code: functions within it see no locals but through them."""
        if self.locals is self.globals or not any(isinstance(const, CodeType) for const in code.co_consts):
            return self.globals
        return {**self.globals, **self.locals}


def evaluate(text: str, place: Place, guard: Guard, context: str) -> Result:
    """Run an expression, or in the console statements of any number of lines.

    Raises:
        RequestRefused: with the error that the text has or raises, or the time it took.

    """
    parts = _compile(text, context)
    seconds = limits.REPL_SECONDS if context == "repl" else limits.WATCH_SECONDS
    try:
        return guard.call(seconds, _run, parts, place)
    except TimeIsUp:
        raise RequestRefused(f"{_shorten(text)} did not end within {seconds:g} s and was interrupted") from None
    except BaseException as error:  # the error of the user's own expression is the answer
        raise RequestRefused(said(error)) from error
    finally:
        if context == "repl":
            place.write_back()
            _flush_output()


def _compile(text: str, context: str) -> list[tuple[CodeType, bool]]:
    """Compile to (code, is an expression) parts."""
    try:
        tree = compile(text.strip(), _NAME, "eval", _ast.PyCF_ONLY_AST, dont_inherit=True)
        if context == "hover":
            _refuse_effects(tree)
        return [(compile(text.strip(), _NAME, "eval", dont_inherit=True), True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if context != "repl":
            raise RequestRefused(said(error)) from error
    try:
        module = cast(
            "_ast.Module", compile(text, _NAME, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        )  # as "exec" gives
        parts: list[tuple[CodeType, bool]] = []
        last = module.body.pop() if module.body and isinstance(module.body[-1], _ast.Expr) else None
        if module.body:
            parts.append((compile(module, _NAME, "exec", dont_inherit=True), False))
        if isinstance(last, _ast.Expr):
            parts.append((compile(_ast.Expression(last.value), _NAME, "eval", dont_inherit=True), True))
        return parts
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error


def _refuse_effects(tree: _ast.AST) -> None:
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.Call | _ast.NamedExpr | _ast.Await):
            raise RequestRefused("a hover calls nothing and assigns nothing; evaluate it in the console")
        elif isinstance(node, _ast.AST):
            todo.extend(getattr(node, field, None) for field in node._fields)


def _run(parts: list[tuple[CodeType, bool]], place: Place) -> Result:
    result = Result(None, has_value=False)
    for code, is_expression in parts:
        value = eval(code, place.namespace_for(code), place.locals)
        # A last line of several that gives None is a call made for what it does.
        result = Result(value, has_value=is_expression and (len(parts) == 1 or value is not None))
    return result


def said(error: BaseException) -> str:
    """Say what was raised, as the last line of a traceback does."""
    if isinstance(error, SyntaxError):
        where = f" (line {error.lineno}, column {error.offset})" if error.lineno and error.offset else ""
        return f"{type(error).__name__}: {error.msg}{where}"
    try:
        text = str(error)
    except BaseException as second:
        text = f"<str raised {type(second).__name__}>"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _flush_output() -> None:
    """Show what the statements printed before their answer."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # None, closed, or a stand-in of the program


def described(result: Result, body: Json) -> Json:
    """Turn the description of a value into the body of `evaluate`."""
    if not result.has_value:
        return {"result": "", "variablesReference": 0}
    body["result"] = body.pop("value")
    return body
