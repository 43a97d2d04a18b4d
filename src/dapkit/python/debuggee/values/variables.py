"""What scopes and values have inside, as `variables` shows it, a page at a time.

Names come from `members`, items from `containers`; here they become rows with numbers to ask on with.
A class or module has many members, so those of a kind hang below a row of their own; the
local variables of a function stand as they are.
"""

from types import FrameType, ModuleType
from typing import Final

from .. import limits
from ..classes import ClassSet, forget_classes, is_a, type_name
from ..connection.wire import Json
from ..errors import TimeIsUp
from ..evaluation.guard import EvaluationGuard
from ..evaluation.quarantine import ExitRefused
from ..hidden import hide
from ..local_variables import locals_of, variables_of
from ..sources.files import is_function as is_function_code
from ..sources.locations import Location, is_located
from . import arrays, containers
from .containers import Cursor
from .members import arranged, is_function, members, namespace_rows, rank
from .memory import MemoryReferences
from .references import ObjectReferences
from .rows import PLAIN, Presentation, RemainingItems, UnreadProperty, ValueRow, VariableGroup
from .storage import LocalVariable
from .text import render, say, timed_out

LOCALS = "locals"
CELLS = "cells"
GLOBALS = "globals"


_STAND_INS: Final = ClassSet(VariableGroup, RemainingItems)


class ShownFrame:
    """A frame that a client has a number for, in a thread that is stopped."""

    what = "frame"

    def __init__(self, frame: FrameType, line: int, ident: int) -> None:
        self.frame = frame
        self.line = line
        self.ident = ident


class VariableContainer:
    """Something whose rows may be asked for: what all kinds of it share.

    `ident` is the thread that does the work; `frame` is where expressions for new values are evaluated.
    """

    what = "list of variables"

    def __init__(self, ident: int, frame: FrameType | None, part: str = PLAIN) -> None:
        hide(self)
        self.ident = ident
        self.frame = frame
        self.part = part
        self.shown: dict[str, ValueRow] = {}
        """The rows that a client has seen, by name."""


class FrameVariables(VariableContainer):
    """The variables of a frame, those of one kind."""

    def __init__(self, frame: ShownFrame, kind: str, part: str = PLAIN, returned: list[ValueRow] | None = None) -> None:
        super().__init__(frame.ident, frame.frame, part)
        self.of = frame
        self.kind = kind
        self.returned = returned or []

    def rows(self, guard: EvaluationGuard | None, presentation: Presentation) -> list[ValueRow]:
        """Return what was returned, then the variables: the plain names, the private, the special ones."""
        frame = self.of.frame
        code = frame.f_code
        if self.kind == GLOBALS:
            shadowed = locals_of(frame) if is_function_code(code) else ()
            return arranged(namespace_rows(frame.f_globals, shadowed), self.part, presentation)
        if not is_function_code(code) and frame.f_locals is frame.f_globals:
            return self.returned + arranged(namespace_rows(frame.f_globals), self.part, presentation)
        cells = code.co_freevars
        rows = [
            ValueRow(name, value, name, stored=LocalVariable(frame, name))
            for name, value in _variables(frame, guard)
            if type(name) is str and name[:1] != "." and (name in cells) == (self.kind == CELLS)
        ]
        return self.returned + sorted(rows, key=lambda row: rank(row.name))


def _variables(frame: FrameType, guard: EvaluationGuard | None) -> list[tuple[str, object]]:
    found = variables_of(frame)
    if found is not None or guard is None:
        return found or []
    try:
        return guard.call_quarantined(limits.VALUE_SECONDS, _read_variables, frame)
    except Exception:  # it is of the program, and may lack `items`, or fail
        return [("locals()", locals_of(frame))]


def _read_variables(frame: FrameType) -> list[tuple[str, object]]:
    return list(locals_of(frame).items())


class ExpandableValue(VariableContainer):
    """A value, and the expression that leads to it; items before `first` are shown elsewhere."""

    def __init__(
        self, value: object, path: str, ident: int, frame: FrameType | None, *, first: int = 0, part: str = PLAIN
    ) -> None:
        super().__init__(ident, frame, part)
        self.value = value
        self.path = path
        self.first = first
        self.cursor = Cursor()

    def named(self, guard: EvaluationGuard | None, presentation: Presentation) -> list[ValueRow]:
        """Return the attributes, those in groups below the names of the groups."""
        return _named(self.value, self.path, self.part, guard, presentation)


class LazyVariable(VariableContainer):
    """A row whose value is only made when the client asks for it."""

    def __init__(self, row: ValueRow, ident: int, frame: FrameType | None) -> None:
        super().__init__(ident, frame)
        self.row = row


class VariableReader:
    """Makes the bodies of `variables`, and the fields that describe a value in other bodies.

    Attributes:
        presentation: how the client wants to see rows that hang in groups otherwise.

    """

    def __init__(self, references: ObjectReferences, memory: MemoryReferences) -> None:
        self.presentation: Presentation = {}
        self._references = references
        self._memory = memory

    def describe(
        self,
        value: object,
        path: str,
        origin: VariableContainer,
        guard: EvaluationGuard | None,
        *,
        chars: int = limits.VALUE_CHARS,
        hexadecimal: bool = False,
    ) -> Json:
        """Return `value`, `type`, `variablesReference` and the numbers of children."""
        text = render(value, guard, chars, hexadecimal=hexadecimal)
        return {"value": text, **self.outline(value, path, origin, guard)}

    def outline(self, value: object, path: str, origin: VariableContainer, guard: EvaluationGuard | None) -> Json:
        """Return what `describe` does, but for the text."""
        body: Json = {"type": type_name(value), "variablesReference": 0}
        if _is_plain(value):
            return body
        items, names = containers.size(value, guard), _named_count(value, self.presentation)
        if items or names:
            body["variablesReference"] = self._references.add(
                ExpandableValue(value, path, origin.ident, origin.frame), origin.ident
            )
            if items:
                body["indexedVariables"] = items
            if names:
                body["namedVariables"] = names
        if memory := self._memory.refer(value, origin.ident):
            body["memoryReference"] = memory
        if is_located(value):
            body["valueLocationReference"] = self._references.add(Location(value), origin.ident)
        return body

    def inside(self, reference: object) -> VariableContainer:
        """Return what a number stands for.

        Raises:
            RequestRefused: if it does not stand for anything with rows.

        """
        return self._references.get(reference, VariableContainer)

    def page(self, inside: VariableContainer, arguments: Json, guard: EvaluationGuard | None) -> list[ValueRow]:
        """Return the rows that a `variables` request asks for. Without a guard no code of the program is run."""
        forget_classes()
        wanted, start, count = arguments.get("filter"), _number(arguments, "start"), _number(arguments, "count")
        if isinstance(inside, FrameVariables):
            rows = [] if wanted == "indexed" else _cut(inside.rows(guard, self.presentation), start, count)
        elif isinstance(inside, LazyVariable):
            rows = [_read(inside.row, guard)]
        elif isinstance(inside, ExpandableValue):
            rows = self._page_of_value(inside, wanted, start, count, guard)
        else:
            rows = []
        inside.shown.update((row.name, row) for row in rows)
        return rows

    def _page_of_value(
        self, holder: ExpandableValue, wanted: object, start: int, count: int, guard: EvaluationGuard | None
    ) -> list[ValueRow]:
        rows: list[ValueRow] = []
        if wanted != "indexed" and not holder.first:
            rows = holder.named(guard, self.presentation)
        if wanted == "named" or holder.part:
            return _cut(rows, start, count)
        size = containers.size(holder.value, guard)
        begin = holder.first + start
        asked = count or limits.UNPAGED_ITEMS
        if wanted != "indexed" and rows and count:
            # Attributes and items in one sequence, as a client sees them that does not distinguish them.
            rows, begin, asked = rows[start : start + count], max(0, start - len(rows)), count - len(rows[start:])
        elif wanted != "indexed":
            rows = rows[start:] if not holder.first else rows
        end = min(size, begin + max(0, asked))
        if begin < end:
            cursor, path = holder.cursor, holder.path
            rows = rows + containers.page(holder.value, begin, end, path, cursor=cursor, guard=guard)
        if not count and end < size:
            rows.append(ValueRow(f"[{end}…]", RemainingItems(end, size - end), kind="virtual"))
        return rows

    def variable(
        self,
        row: ValueRow,
        inside: VariableContainer,
        guard: EvaluationGuard | None,
        *,
        lost: bool = False,
        hexadecimal: bool = False,
    ) -> Json:
        """Return the description of one row; `lost` says that its own code did not end."""
        if row.lazy or type(row.value) in _STAND_INS:
            return self._stand_in(row, inside)
        problem: object = row.value
        if type(problem) is UnreadProperty:  # never isinstance: that asks a value of the program for its `__class__`
            hint: Json = {"kind": "property", "attributes": ["readOnly"]}
            value = f"<{row.name} {problem.text}>"
            return {"name": row.name, "value": value, "variablesReference": 0, "presentationHint": hint}
        described = self.describe(row.value, row.path, inside, guard, hexadecimal=hexadecimal)
        body: Json = {"name": row.name, **described}
        if lost:
            body["value"] = timed_out(row.value)
        if row.path:
            body["evaluateName"] = row.path
        if hint := _hint(row):
            body["presentationHint"] = hint
        return body

    def _stand_in(self, row: ValueRow, inside: VariableContainer) -> Json:
        """Describe a row that has no value of its own."""
        ident, frame, value = inside.ident, inside.frame, row.value
        body: Json = {"name": row.name, "value": "", "variablesReference": 0, "presentationHint": _hint(row)}
        below: VariableContainer | None = None
        if row.lazy:
            below = LazyVariable(row, ident, frame)
            if row.declared is not None and is_located(row.declared):
                body["declarationLocationReference"] = self._references.add(Location(row.declared), ident)
            if row.path:
                body["evaluateName"] = row.path
        elif type(value) is RemainingItems and isinstance(inside, ExpandableValue):
            below = ExpandableValue(inside.value, inside.path, ident, frame, first=value.first)
            body |= {"value": f"{value.size:,} more items", "indexedVariables": value.size}
        elif type(value) is VariableGroup:
            if isinstance(inside, FrameVariables):
                below = FrameVariables(inside.of, inside.kind, value.part)
            elif isinstance(inside, ExpandableValue):
                below = ExpandableValue(inside.value, inside.path, ident, frame, part=value.part)
            body["namedVariables"] = value.size
        if below is not None:
            body["variablesReference"] = self._references.add(below, ident)
        return body

    def find(self, inside: VariableContainer, name: str, guard: EvaluationGuard | None) -> ValueRow | None:
        """Return the row of a name, also one that was not asked for yet."""
        known = inside.shown.get(name)
        if known is not None:
            return known
        if isinstance(inside, ExpandableValue) and name[:1] == "[" and name[-1:] == "]" and name[1:-1].isdigit():
            at = int(name[1:-1])
            rows = self.page(inside, {"filter": "indexed", "start": at, "count": 1}, guard)
        else:
            rows = self.page(inside, {}, guard)
            for row in [row for row in rows if type(row.value) is VariableGroup]:
                if isinstance(inside, FrameVariables):
                    rows += FrameVariables(inside.of, inside.kind, row.name).rows(guard, self.presentation)
                elif isinstance(inside, ExpandableValue):
                    rows += _named(inside.value, inside.path, row.name, guard, self.presentation)
        return next((row for row in rows if row.name == name), None)


def _is_plain(value: object) -> bool:
    """Say whether a value is one of the many that have nothing inside."""
    kind = type(value)  # compared by identity: `in` may ask its metaclass
    if kind is str:
        return len(value) <= limits.VALUE_CHARS  # type: ignore[arg-type]  # `kind is` does not narrow
    return kind is int or kind is float or kind is bool or value is None


def _named(
    value: object, path: str, part: str, guard: EvaluationGuard | None, presentation: Presentation
) -> list[ValueRow]:
    if arrays.has_names(value):
        return arrays.named(value, path, guard) if part == PLAIN else []
    return arrays.named(value, path, guard) * (part == PLAIN) + arranged(members(value, path), part, presentation)


def _named_count(value: object, presentation: Presentation) -> int:
    own = 0 if arrays.has_names(value) else len(arranged(members(value, ""), PLAIN, presentation))
    return own + arrays.named_count(value)


def _read(row: ValueRow, guard: EvaluationGuard | None) -> ValueRow:
    """Return a lazy row with its value, or with what went wrong as a value to be shown."""
    if row.stored is None:
        return row
    if guard is None:
        return ValueRow(row.name, UnreadProperty("it was not read: the thread is busy"), kind=row.kind)
    stored = row.stored
    try:
        value = guard.call_quarantined(limits.VALUE_SECONDS, stored.read)
    except TimeIsUp:
        return ValueRow(row.name, UnreadProperty(f"timed out after {limits.VALUE_SECONDS} s"), row.path, kind=row.kind)
    except ExitRefused as error:
        return ValueRow(row.name, UnreadProperty(f"tried to end the process: {error}"), row.path, kind=row.kind)
    except BaseException as error:
        return ValueRow(row.name, UnreadProperty(f"raised {say(error)}"), row.path, kind=row.kind)
    return ValueRow(row.name, value, row.path, stored=stored, kind=row.kind)


def _hint(row: ValueRow) -> Json:
    hint: Json = {}
    if row.lazy:
        return {"kind": "property", "lazy": True, "attributes": ["hasSideEffects"]}
    if row.kind and row.kind != "data":
        hint["kind"] = row.kind
    elif is_function(row.value):
        hint["kind"] = "method"
    elif is_a(row.value, type):
        hint["kind"] = "class"
    elif type(row.value) is ModuleType:
        hint["kind"] = "data"
    if row.stored is None:
        hint["attributes"] = ["readOnly"]
    if order := rank(row.name):
        hint["visibility"] = "private" if order == 1 else "internal"
    return hint


def _cut(rows: list[ValueRow], start: int, count: int) -> list[ValueRow]:
    return rows[start : start + count] if count else rows[start:]


def _number(arguments: Json, field: str) -> int:
    value = arguments.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
