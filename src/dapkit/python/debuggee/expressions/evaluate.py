"""Expressions in a frame of the stopped program.

They run in the thread that the frame belongs to, under an `EvaluationGuard`. Statements, and all that makes a console,
are in `console`; what a mouse pointer rests on is read by `hover`, which runs nothing.
"""

from collections.abc import Mapping
from types import CodeType, FrameType

from .. import limits
from ..errors import RequestRefused, TimeIsUp
from ..evaluation.guard import EvaluationGuard
from ..values.storage import write_locals_back

NAME = "<dapkit: evaluate>"
"""File name of what is evaluated."""


class Namespaces:
    """The namespaces that code is to run in: those of a frame, or of a module alone."""

    def __init__(self, names: dict[str, object], frame: FrameType | None = None) -> None:
        self.globals = frame.f_globals if frame is not None else names
        self.locals = frame.f_locals if frame is not None else names
        self._frame = frame
        self.exception: BaseException | None = None
        """What the thread is stopped at, under the name `__exception__`."""

    def write_back(self) -> None:
        """Make assignments to local variables real."""
        if self._frame is not None:
            write_locals_back(self._frame)

    def namespace_for(self, code: CodeType) -> dict[str, object]:
        """Return the globals for a piece of code: functions within it see no locals but through them."""
        if self.locals is self.globals or not any(isinstance(const, CodeType) for const in code.co_consts):
            return self.globals
        return {**self.globals, **self.locals}

    def locals_for(self, code: CodeType) -> Mapping[str, object]:
        """Return the local variables for a piece of code."""
        if self.exception is None or "__exception__" not in code.co_names:
            return self.locals
        return {**self.locals, "__exception__": self.exception}


def evaluate(text: str, namespaces: Namespaces, guard: EvaluationGuard) -> object:
    """Return the value of an expression.

    Raises:
        RequestRefused: with the error that the text has or raises, or the time it took.

    """
    code = compiled(text)
    try:
        return guard.call(limits.WATCH_SECONDS, eval, code, namespaces.namespace_for(code), namespaces.locals_for(code))
    except TimeIsUp:
        raise RequestRefused(too_long(text, limits.WATCH_SECONDS)) from None
    except BaseException as error:  # the error of the user's own expression is the answer
        raise RequestRefused(said(error)) from error


def compiled(text: str) -> CodeType:
    """Compile an expression.

    Raises:
        RequestRefused: if it is not one.

    """
    try:
        return compile(text.strip(), NAME, "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error


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


def too_long(text: str, seconds: float) -> str:
    """Say that a text was interrupted."""
    shown = text if len(text) <= 60 else text[:59] + "…"
    return f"{shown} did not end within {seconds:g} s and was interrupted"
