"""The variables of a frame, each in one line: with the fields of plain objects."""

from types import FrameType

from ..connection.framing import Json
from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.safe_types import ClassSet, defined, once_per_class, simple_name
from .members import arranged, members
from .presenters.registry import presenter_of
from .row_types import PLAIN, VariableGroup
from .text import render
from .variables import CELLS, LOCALS, FrameVariables, ShownFrame, closure_of

_GROUPS = ClassSet(VariableGroup)


def variables_in_lines(frame: FrameType, guard: EvaluationGuard) -> list[Json]:
    """Return name and value of the variables of a frame, and the fields of those that are plain objects."""
    shown_frame = ShownFrame(frame, frame.f_lineno or 0, guard.ident)
    kinds = (LOCALS, CELLS) if closure_of(frame) else (LOCALS,)
    rows = [row for kind in kinds for row in FrameVariables(shown_frame, kind).rows(guard, {})]
    shown_rows = [row for row in rows if type(row.value) not in _GROUPS][: limits.TRACED_VARIABLES]
    return [{"name": row.name, **in_line(row.value, guard)} for row in shown_rows]


def in_line(value: object, guard: EvaluationGuard) -> Json:
    """Return the text of a value, and of a plain object the fields."""
    body: Json = {"value": render(value, guard, limits.TRACED_CHARS)}
    fields = _fields(value, guard, depth=2)
    return body if fields is None else {**body, "fields": fields}


def _fields(value: object, guard: EvaluationGuard, *, depth: int) -> str | None:
    """Write the fields of an object whose class has no text for it; None for others, and for one without fields."""
    if not _is_plain_object(value) or presenter_of(value) is not None:
        return None
    attributes = arranged(members(value, ""), PLAIN, {})
    rows = [row for row in attributes if not row.lazy and type(row.value) not in _GROUPS]
    if not rows:
        return None
    parts = []
    for row in rows[: limits.TRACED_FIELDS]:
        inside = _fields(row.value, guard, depth=depth - 1) if depth > 1 else None
        text = render(row.value, guard, limits.PARAMETER_CHARS)
        parts.append(f"{row.name} = {text if inside is None else f'{simple_name(type(row.value))} {inside}'}")
    if len(rows) > limits.TRACED_FIELDS:
        parts.append("...")
    text = ", ".join(parts)
    return f"{{{text}}}" if len(text) <= limits.TRACED_CHARS else f"{{{text[: limits.TRACED_CHARS]}…}}"


@once_per_class
def _is_plain_object(value: object) -> bool:
    return type(value) is not type and defined(type(value), "__repr__") is object.__repr__
