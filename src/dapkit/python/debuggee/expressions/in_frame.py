"""Expressions of breakpoints, evaluated in frames as though they stood there, without a trace in them.

In the frame of a function, the expression becomes the body of a function of its own, whose parameters are the variables
of the frame: so `locals()`, `dir()` and `eval` see them, `globals()` sees the program's, and nested code, such as a
lambda, reads them as it would in the program's own text. In modules and bodies of classes it is evaluated in their
namespaces. Assignments within an expression stay there.
"""

from collections.abc import Mapping
from types import CodeType, FrameType, FunctionType
from typing import Final

from ..interpreter.frame_locals import globals_of, locals_of
from ..interpreter.gc_tracking import untrack
from ..sources.compilation import compiled
from ..sources.files import GENERATED, is_function
from .syntax import names_in, parse_expression

SEES_ITS_CALLER: Final = frozenset({"dir", "eval", "exec", "globals", "locals", "super", "vars"})
"""Built-in functions that ask which code calls them."""


_NOTHING: Final[dict[str, object]] = {}


class FrameExpression:
    """One expression, compiled for the frames that it is evaluated in.

    Invariant: `_functions` holds its compiled forms in functions, by the names of their variables.
    """

    def __init__(self, text: str, what: str) -> None:
        """Read an expression.

        Raises:
            RequestRefused: if it is not an expression; `what` is its name for the user.

        """
        self.tree = parse_expression(text, what)
        self.read, self.bound = names_in(self.tree)
        self._text = text.strip()
        self._code: CodeType = compiled(f"(\n{self._text}\n)", "eval", place=GENERATED)
        self._functions: dict[tuple[str, ...], CodeType] = {}
        untrack(self)

    def value(self, frame: FrameType, extra_names: dict[str, object] = _NOTHING) -> object:
        """Return its value in a frame, where it also sees `extra_names`. Raises the exceptions of the expression."""
        frame_variables = locals_of(frame)
        if not is_function(frame.f_code):
            names = {**frame_variables, **extra_names}
            return eval(
                self._code, namespace_of(self._code, frame, names, is_module=frame_variables is frame.f_globals), names
            )
        code = frame.f_code
        variables = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *self.read}
        values = {
            name: value for name, value in frame_variables.items() if name in variables and name.isidentifier()
        } | extra_names
        function = FunctionType(self._function(tuple(values)), _with_builtins(frame))
        return function(*values.values())

    def _function(self, parameters: tuple[str, ...]) -> CodeType:
        function = self._functions.get(parameters)
        if function is None:
            text = f"def expression({', '.join(parameters)}):\n return (\n{self._text}\n )"
            module: CodeType = compiled(text, place=GENERATED)
            function = next(const for const in module.co_consts if isinstance(const, CodeType))
            self._functions[parameters] = function
        return function


def namespace_of(
    code: CodeType, frame: FrameType, names: Mapping[str, object], *, is_module: bool
) -> dict[str, object]:
    """Return the globals for code that sees these local names: functions within it see none but through them."""
    around = _with_builtins(frame)
    if is_module or not any(isinstance(const, CodeType) for const in code.co_consts):
        return around
    return {"globals": lambda: frame.f_globals, **around, **names}


def _with_builtins(frame: FrameType) -> dict[str, object]:
    names = globals_of(frame)
    if "__builtins__" in names:
        return names
    return {"__builtins__": frame.f_builtins, **names}  # otherwise the debugger's would be used
