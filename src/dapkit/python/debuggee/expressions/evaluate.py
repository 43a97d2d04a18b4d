"""Expressions in a frame of the stopped program.

They run in the thread that the frame belongs to, under an `EvaluationGuard`. Statements, and all other parts of a
console, are in `console`; `hover` reads the expression under a mouse pointer, and runs no code.
"""

import builtins
import sys
from collections.abc import Mapping
from types import CodeType, FrameType

from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.errors import RequestRefused, TimeIsUp
from ..interpreter.frame_locals import LocalVariables, are_copied, globals_of, locals_of, variables_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import entries, is_a, simple_name
from ..sources.compilation import compiled as compiled_text
from ..values.error_text import error_text
from ..values.storage import write_variable
from ..values.text import own_text

NAME = "<dapkit: evaluate>"
"""File name of evaluated code."""


class Namespaces:
    """The namespaces in which code runs: a frame's, or `__main__`'s alone."""

    def __init__(self, frame: FrameType | None) -> None:
        self.globals = globals_of(frame) if frame is not None else _names_of_main()
        self.locals: LocalVariables = locals_of(frame) if frame is not None else self.globals
        untrack(self)
        if frame is not None and are_copied(frame):
            untrack(self.locals)
        self._frame = frame
        self._before = untrack(dict(self.locals)) if frame is not None and are_copied(frame) else None
        self.exception: BaseException | None = None
        """The exception at which the thread is stopped, under the name `__exception__`."""

    def write_back(self) -> None:
        """Make assignments to local variables real."""
        if self._frame is None or self._before is None:
            return
        before, self._before = self._before, dict(self.locals)
        # Others may have been changed by a function meanwhile that shares them.
        for name, value in self.locals.items():
            if name not in before or before[name] is not value:
                write_variable(self._frame, name, value)

    def stored(self) -> list[dict[str, object]]:
        """Return both as they are stored, for a look that runs no code of the program; names alone count."""
        of_frame = variables_of(self._frame) if self._frame is not None and self.locals is not self.globals else None
        pairs = (of_frame or [], entries(self.globals))  # in one call: other threads may run
        return [{name: value for name, value in names if type(name) is str} for names in pairs]

    def namespace_for(self, code: CodeType) -> dict[str, object]:
        """Return the globals for a piece of code: functions within it see no locals but through them."""
        if self.locals is self.globals or not any(isinstance(const, CodeType) for const in code.co_consts):
            if "__builtins__" in self.globals:
                return self.globals
            return {"__builtins__": vars(builtins), **self.globals}  # else `eval` would put ours there
        around = {"globals": lambda: self.globals, "__builtins__": vars(builtins)}
        return {**around, **self.globals, **self.locals}

    def locals_for(self, code: CodeType) -> Mapping[str, object]:
        """Return the local variables for a piece of code."""
        if self.exception is None or "__exception__" not in code.co_names:
            return self.locals
        return {**self.locals, "__exception__": self.exception}


def _names_of_main() -> dict[str, object]:
    main = sys.modules.get("__main__")
    return vars(main) if main is not None else {"__builtins__": vars(builtins)}  # the program may empty `sys.modules`


def evaluate(text: str, namespaces: Namespaces, guard: EvaluationGuard) -> object:
    """Return the value of an expression.

    Raises:
        RequestRefused: with the error that the text has or raises, or the time it took.

    """
    code = compiled(text)
    try:
        return guard.call(limits.WATCH_SECONDS, run, code, namespaces)
    except TimeIsUp:
        raise RequestRefused(too_long(text, limits.WATCH_SECONDS)) from None
    except BaseException as error:  # the error of the user's own expression is the answer
        raise RequestRefused(said(error, guard)) from error


def run(code: CodeType, namespaces: Namespaces) -> object:
    """Run the code of an expression; also the namespaces may be of the program's own making."""
    return eval(code, namespaces.namespace_for(code), namespaces.locals_for(code))


def compiled(text: str) -> CodeType:
    """Compile an expression.

    Raises:
        RequestRefused: if it is not one.

    """
    try:
        code: CodeType = compiled_text(text.strip(), "eval", place=NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error
    return code


def said(error: BaseException, guard: EvaluationGuard | None = None) -> str:
    """Describe an exception as the last line of a traceback does; a guard is needed for errors of the program."""
    kind = simple_name(type(error))
    if is_a(error, SyntaxError):
        message, line, column = (SyntaxError.__dict__[name].__get__(error) for name in ("msg", "lineno", "offset"))
        if type(message) is str:
            is_placed = type(line) is int and type(column) is int and line and column
            return f"{kind}: {message}" + (f" (line {line}, column {column})" if is_placed else "")
    text = error_text(error) or ("" if guard is None else own_text(str, error, guard))
    return f"{kind}: {text}" if text else kind


def too_long(text: str, seconds: float) -> str:
    """Report that a text was interrupted."""
    short = text if len(text) <= 60 else text[:59] + "…"
    return f"{short} did not end within {seconds:g} s and was interrupted"
