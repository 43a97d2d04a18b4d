"""Names of frames as a client asks for them: with module, parameters, their types and values, and the line."""

from types import FrameType

from ..connection.framing import Json
from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.frame_locals import locals_of
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.safe_types import entry_of, plain_text, type_name
from ..values.text import render
from .frames import Naming

_VARARGS = 0x04
_VARKEYWORDS = 0x08
_GONE = object()
_NATIVE = " [native call]"


def plain_name(frame: FrameType, _line: int) -> str:
    """Return the name of the function, qualified by its class and the functions around it."""
    view = virtual_frame_of(frame)
    return plain_text(frame.f_code.co_qualname) if view is None else view.title


def wants_values(form: Json) -> bool:
    """Return whether the names that `format` asks for show values, so that the program's code may have to run."""
    return bool(form.get("parameters")) and bool(form.get("parameterValues") or form.get("parameterTypes"))


def naming(form: Json, guard: EvaluationGuard | None, *, with_values: bool) -> Naming:
    """Return the function that makes names as `format` of `stackTrace` asks for.

    Without `with_values` no variable is read: variables of a running thread are about to change.
    """

    def name(frame: FrameType, line: int) -> str:
        text = plain_name(frame, line)
        if form.get("module"):
            module = entry_of(frame.f_globals, "__name__")
            text = f"{module}.{text}" if type(module) is str else text
        if form.get("parameters") and virtual_frame_of(frame) is None:
            text += f"({', '.join(_parameters(frame, form, guard, with_values=with_values))})"
        return f"{text}:{line}" if form.get("line") else text

    return name


def in_native_call(names: Naming, newest: FrameType | None) -> Naming:
    """Say in the name of the newest frame that its thread has not come back from a native call."""

    def name(frame: FrameType, line: int) -> str:
        return names(frame, line) + (_NATIVE if frame is newest else "")

    return name


def _parameters(frame: FrameType, form: Json, guard: EvaluationGuard | None, *, with_values: bool) -> list[str]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    stars = {count: "*"} if code.co_flags & _VARARGS else {}
    if code.co_flags & _VARKEYWORDS:
        stars[count + len(stars)] = "**"
    types = with_values and bool(form.get("parameterTypes"))
    values = with_values and bool(form.get("parameterValues"))
    names = bool(form.get("parameterNames")) or not (types or values)
    variables = locals_of(frame) if types or values else {}
    parts: list[str] = []
    for at, name in enumerate(code.co_varnames[: count + len(stars)]):
        value = variables.get(name, _GONE)
        kind = type_name(value) if types and value is not _GONE else ""
        text = render(value, guard, limits.PARAMETER_CHARS) if values and value is not _GONE else ""
        parts.append(_parameter(stars.get(at, "") + name if names else "", kind, text))
    return parts


def _parameter(name: str, kind: str, value: str) -> str:
    """Write `name: kind = value`, or the known parts of it."""
    head = f"{name}: {kind}" if name and kind else name or kind
    if not value:
        return head
    return f"{head}{' = ' if kind else '='}{value}" if head else value
