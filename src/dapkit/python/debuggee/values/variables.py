"""The contents of scopes and values, as `variables` shows them, a page at a time.

Names come from `members`, items from `containers`; here they become rows with numbers to ask on with.
A class or module has many members, so members of a kind are below a row of their own; the local variables of a function
are not grouped.
"""

from types import FrameType, ModuleType
from typing import Final

from ..connection.framing import Json
from ..evaluation.guard import EvaluationGuard
from ..evaluation.quarantine import ExitRefused
from ..interpreter import limits
from ..interpreter.errors import TimeIsUp
from ..interpreter.frame_locals import globals_of, locals_of, variables_of
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import ClassSet, forget_classes, is_a, is_lazy_import, type_name
from ..sources.files import is_function as is_function_code
from ..sources.locations import Location, is_located
from . import containers
from .containers import Cursor
from .error_text import say
from .members import arranged, is_function, members, namespace_rows, rank
from .memory import MemoryReferences
from .presenters.presenter import Presenter, PresenterFailed, asked
from .presenters.registry import presenter_of
from .references import ObjectReferences
from .row_types import (
    PLAIN,
    PlainView,
    Presentation,
    RemainingItems,
    RemainingMembers,
    UnreadProperty,
    ValueRow,
    VariableGroup,
)
from .storage import LocalVariable, load
from .text import render, timed_out

LOCALS = "locals"
CELLS = "cells"
GLOBALS = "globals"


PLAIN_VIEW: Final = "plain view"
"""The row below which a value that has a presenter is shown without it."""
_STAND_INS: Final = ClassSet(VariableGroup, RemainingItems, RemainingMembers, PlainView)


class ShownFrame:
    """A frame that a client has a number for, in a thread that is stopped."""

    what = "frame"

    def __init__(self, frame: FrameType, line: int, ident: int) -> None:
        self.frame = frame
        self.line = line
        self.ident = ident


class VariableContainer:
    """An object whose rows a client may request: the common base of all kinds.

    `ident` is the thread that does the work; `frame` is where expressions for new values are evaluated.
    """

    what = "list of variables"

    def __init__(self, ident: int, frame: FrameType | None, part: str = PLAIN) -> None:
        untrack(self)
        self.ident = ident
        self.frame = frame
        self.part = part
        self.shown: dict[str, ValueRow] = {}
        """The rows that a client has seen, by name."""


class FrameVariables(VariableContainer):
    """The variables of a frame, of one kind."""

    def __init__(self, frame: ShownFrame, kind: str, part: str = PLAIN, returned: list[ValueRow] | None = None) -> None:
        super().__init__(frame.ident, frame.frame, part)
        self.of = frame
        self.kind = kind
        self.returned = returned or []

    def rows(self, guard: EvaluationGuard | None, presentation: Presentation) -> list[ValueRow]:
        """Return the returned values, then the variables: the plain names, the private, the special ones."""
        frame = self.of.frame
        code = frame.f_code
        if self.kind == GLOBALS and virtual_frame_of(frame) is not None:
            names = globals_of(frame)
            own = locals_of(frame)
            shared = sorted(name for name in names if name not in own and name != "__builtins__")
            return [ValueRow(name, names[name], name) for name in shared]
        if self.kind == GLOBALS:
            shadowed = locals_of(frame) if is_function_code(code) else ()
            return arranged(namespace_rows(frame.f_globals, shadowed), self.part, presentation)
        if not is_function_code(code) and frame.f_locals is frame.f_globals:
            return self.returned + arranged(namespace_rows(frame.f_globals), self.part, presentation)
        cells = closure_of(frame)
        rows = [
            ValueRow(name, value, name, stored=LocalVariable(frame, name))
            for name, value in _variables(frame, guard)
            if type(name) is str and name[:1] != "." and (name in cells) == (self.kind == CELLS)
        ]
        return self.returned + sorted(rows, key=lambda row: rank(row.name))


def closure_of(frame: FrameType) -> tuple[str, ...]:
    """Return the names of variables that belong to functions around the frame's."""
    return () if virtual_frame_of(frame) is not None else frame.f_code.co_freevars


def _variables(frame: FrameType, guard: EvaluationGuard | None) -> list[tuple[str, object]]:
    variables = variables_of(frame)
    if variables is not None or guard is None:
        return variables or []
    try:
        return guard.call_quarantined(limits.VALUE_SECONDS, _read_variables, frame)
    except Exception:  # it is of the program, and may lack `items`, or fail
        return [("locals()", locals_of(frame))]


def _read_variables(frame: FrameType) -> list[tuple[str, object]]:
    return list(locals_of(frame).items())


class ExpandableValue(VariableContainer):
    """A value, and the expression that leads to it.

    Items before `first` are shown elsewhere, as are the attributes before `first_member`, or all with a `first`.

    Its presenter does not count for a part of it, nor if it is to be shown `plainly`.
    """

    def __init__(
        self,
        value: object,
        path: str,
        ident: int,
        frame: FrameType | None,
        *,
        first: int = 0,
        first_member: int = 0,
        part: str = PLAIN,
        plainly: bool = False,
    ) -> None:
        super().__init__(ident, frame, part)
        self.value = value
        self.path = path
        self.first = first
        self.first_member = first_member
        self.plainly = plainly
        self.cursor = Cursor()

    @property
    def presenter(self) -> Presenter | None:
        """The presenter of the contents, None if they are shown as any other object's."""
        return None if self.plainly or self.part else presenter_of(self.value)

    def named(self, guard: EvaluationGuard | None, presentation: Presentation) -> list[ValueRow]:
        """Return the attributes, grouped ones below the names of the groups, or the presenter's replacement."""
        presenter = self.presenter
        problem: list[ValueRow] = []
        if presenter is not None:
            try:
                rows = asked(presenter, presenter.rows, guard, self.value, self.path)
            except PresenterFailed as failure:
                rows, problem = None, [failure.row(presenter)]
            if rows is not None:
                return [*rows, ValueRow(PLAIN_VIEW, PlainView(), kind="virtual")]
        return problem + arranged(members(self.value, self.path), self.part, presentation)

    def size(self, guard: EvaluationGuard | None) -> int:
        """Return the number of items."""
        presenter = self.presenter
        if presenter is not None and presenter.has_items:
            try:
                size = asked(presenter, presenter.size, guard, self.value)
            except PresenterFailed:  # its page, or its rows, will say why
                size = None
            if size is not None:
                return size
        return containers.size(self.value)

    def page(self, begin: int, end: int, guard: EvaluationGuard | None) -> list[ValueRow]:
        """Return the items from `begin` to before `end`."""
        presenter = self.presenter
        if presenter is not None and presenter.has_items:
            try:
                rows = asked(presenter, presenter.page, guard, self.value, begin, end, self.path)
            except PresenterFailed as failure:
                return [failure.row(presenter)]
            if rows is not None:
                return rows
        return containers.page(self.value, begin, end, self.path, cursor=self.cursor)


class LazyVariable(VariableContainer):
    """A row whose value is only made, or imported, when the client asks for it."""

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
        depth: int = limits.PREVIEW_DEPTH,
        hexadecimal: bool = False,
        presented: bool = True,
    ) -> Json:
        """Return `value`, `type`, `variablesReference` and the numbers of children."""
        text = render(value, guard, chars, depth=depth, hexadecimal=hexadecimal, presented=presented)
        return {"value": text, **self.outline(value, path, origin, guard)}

    def outline(self, value: object, path: str, origin: VariableContainer, guard: EvaluationGuard | None) -> Json:
        """Do the same as `describe`, except for the text."""
        body: Json = {"type": type_name(value), "variablesReference": 0}
        if _is_plain(value):
            return body
        inside = ExpandableValue(value, path, origin.ident, origin.frame)
        presenter = inside.presenter
        is_counted = presenter is None or presenter.counts_ahead
        items, names = inside.size(guard) if is_counted else 0, _named_count(value, presenter, self.presentation)
        if items or names:
            body["variablesReference"] = self._references.add(inside, origin.ident)
            if items:
                body["indexedVariables"] = min(items, limits.COUNTED_ITEMS)
            if names:
                body["namedVariables"] = names
        if memory := self._memory.refer(value, origin.ident):
            body["memoryReference"] = memory
        if is_located(value):
            body["valueLocationReference"] = self._references.add(Location(value), origin.ident)
        return body

    def inside(self, reference: object) -> VariableContainer:
        """Return the object of a number.

        Raises:
            RequestRefused: if it does not stand for anything with rows.

        """
        return self._references.get(reference, VariableContainer)

    def seconds_for(self, inside: VariableContainer) -> float:
        """Return how long a page may take: longer for one value that a client opens and a presenter fetches."""
        is_fetched = isinstance(inside, LazyVariable) and inside.row.read is not None
        return limits.WATCH_SECONDS if is_fetched or self.loads(inside) else limits.PAGE_SECONDS

    def loads(self, inside: VariableContainer) -> bool:
        """Return whether a page imports a lazy import of the program."""
        return isinstance(inside, LazyVariable) and is_lazy_import(inside.row.value)

    def page(self, inside: VariableContainer, arguments: Json, guard: EvaluationGuard | None) -> list[ValueRow]:
        """Return the rows that a `variables` request asks for. Without a guard no code of the program is run."""
        forget_classes()
        rows_filter, start, count = arguments.get("filter"), _number(arguments, "start"), _number(arguments, "count")
        if isinstance(inside, FrameVariables):
            rows = [] if rows_filter == "indexed" else _cut(inside.rows(guard, self.presentation), start, count)
        elif isinstance(inside, LazyVariable):
            rows = [(_loaded if self.loads(inside) else _read)(inside.row, guard)]
        elif isinstance(inside, ExpandableValue):
            rows = self._page_of_value(inside, rows_filter, start, count, guard)
        else:
            rows = []
        inside.shown.update((row.name, row) for row in rows)
        return rows

    def _page_of_value(
        self, holder: ExpandableValue, rows_filter: object, start: int, count: int, guard: EvaluationGuard | None
    ) -> list[ValueRow]:
        rows: list[ValueRow] = []
        if rows_filter != "indexed" and not holder.first:
            rows = holder.named(guard, self.presentation)[holder.first_member :]
        is_whole = bool(count) or holder.presenter is not None  # which has a limit of its own
        rest = 0 if is_whole else len(rows) - start - limits.UNPAGED_ITEMS
        if rest > 0:
            first = holder.first_member + start + limits.UNPAGED_ITEMS
            rows[start + limits.UNPAGED_ITEMS :] = [
                ValueRow(f"[{first}…]", RemainingMembers(first, rest), kind="virtual")
            ]
        if holder.first_member:
            return _cut(rows, start, count)
        if rows_filter == "named" or holder.part:
            return _cut(rows, start, count)
        size = holder.size(guard)
        begin = holder.first + start
        page_size = count or limits.UNPAGED_ITEMS
        if rows_filter != "indexed" and rows and count:
            # Attributes and items in one sequence, as a client sees them that does not distinguish them.
            rows, begin, page_size = rows[start : start + count], max(0, start - len(rows)), count - len(rows[start:])
        elif rows_filter != "indexed":
            rows = rows[start:] if not holder.first else rows
        end = min(size, begin + max(0, page_size))
        if begin < end:
            rows = rows + holder.page(begin, end, guard)
        if not count and end < size:
            rows.append(ValueRow(f"[{end}…]", RemainingItems(end, size - end), kind="virtual"))
        return rows

    def variable(
        self,
        row: ValueRow,
        inside: VariableContainer,
        guard: EvaluationGuard | None,
        *,
        is_lost: bool = False,
        hexadecimal: bool = False,
    ) -> Json:
        """Return the description of one row; `is_lost` says that its own code did not end."""
        if row.lazy or type(row.value) in _STAND_INS:
            return self._stand_in(row, inside)
        if is_lazy_import(row.value):
            return self._lazy_import(row, inside)
        problem: object = row.value
        if type(problem) is UnreadProperty:  # never isinstance: that asks a value of the program for its `__class__`
            hint: Json = {"kind": "property", "attributes": ["readOnly"]}
            value = f"<{row.name} {problem.text}>"
            return {"name": row.name, "value": value, "variablesReference": 0, "presentationHint": hint}
        described = (
            {"value": row.text, **self.outline(row.value, row.path, inside, guard)}
            if row.text
            else self.describe(row.value, row.path, inside, guard, hexadecimal=hexadecimal)
        )
        body: Json = {"name": row.name, **described}
        if is_lost:
            body["value"] = timed_out(row.value)
        if row.path:
            body["evaluateName"] = row.path
        if hint := _hint(row):
            body["presentationHint"] = hint
        return body

    def _lazy_import(self, row: ValueRow, inside: VariableContainer) -> Json:
        """Describe a name whose module is imported where the program uses it first; here, in the row below."""
        attributes = ["hasSideEffects"] if row.stored is not None else ["readOnly", "hasSideEffects"]
        hint = _hint(row) | {"lazy": True, "attributes": attributes}
        body: Json = {
            "name": row.name,
            "value": repr(row.value),
            "type": type_name(row.value),
            "presentationHint": hint,
        }
        body["variablesReference"] = self._references.add(LazyVariable(row, inside.ident, inside.frame), inside.ident)
        return body | ({"evaluateName": row.path} if row.path else {})

    def _stand_in(self, row: ValueRow, inside: VariableContainer) -> Json:
        """Describe a row that has no value of its own."""
        ident = inside.ident
        body: Json = {"name": row.name, "value": "", "variablesReference": 0, "presentationHint": _hint(row)}
        below: VariableContainer | None = None
        if row.lazy:
            below = LazyVariable(row, ident, inside.frame)
            if row.declared is not None and is_located(row.declared):
                body["declarationLocationReference"] = self._references.add(Location(row.declared), ident)
            if row.path:
                body["evaluateName"] = row.path
        elif isinstance(inside, ExpandableValue):
            below = _part_of_value(inside, row.value, body)
        elif type(row.value) is VariableGroup and isinstance(inside, FrameVariables):
            below = FrameVariables(inside.of, inside.kind, row.value.part)
            body["namedVariables"] = row.value.size
        if below is not None:
            body["variablesReference"] = self._references.add(below, ident)
        return body

    def find(self, inside: VariableContainer, name: str, guard: EvaluationGuard | None) -> ValueRow | None:
        """Return the row of a name, also one that was not asked for yet."""
        shown_row = inside.shown.get(name)
        if shown_row is not None:
            return shown_row
        if isinstance(inside, ExpandableValue) and name[:1] == "[" and name[-1:] == "]" and name[1:-1].isdigit():
            at = int(name[1:-1])
            rows = self.page(inside, {"filter": "indexed", "start": at, "count": 1}, guard)
        else:
            rows = self.page(inside, {}, guard)
            if any(type(row.value) is RemainingMembers for row in rows):
                rows += self.page(inside, {"filter": "named", "count": limits.COUNTED_ITEMS}, guard)
            for row in [row for row in rows if type(row.value) is VariableGroup]:
                if isinstance(inside, FrameVariables):
                    rows += FrameVariables(inside.of, inside.kind, row.name).rows(guard, self.presentation)
                elif isinstance(inside, ExpandableValue):
                    rows += arranged(members(inside.value, inside.path), row.name, self.presentation)
        return next((row for row in rows if row.name == name), None)


def _part_of_value(inside: ExpandableValue, stand_in: object, body: Json) -> ExpandableValue:
    """Return the object of a value's row; add its size to its description."""
    path, ident, frame = inside.path, inside.ident, inside.frame
    if type(stand_in) is VariableGroup:
        body["namedVariables"] = stand_in.size
        return ExpandableValue(inside.value, path, ident, frame, part=stand_in.part)
    if type(stand_in) is RemainingMembers:
        body |= {"value": f"{stand_in.size:,} more attributes", "namedVariables": stand_in.size}
        return ExpandableValue(
            inside.value, path, ident, frame, first_member=stand_in.first, part=inside.part, plainly=inside.plainly
        )
    if type(stand_in) is RemainingItems:
        counted = min(stand_in.size, limits.COUNTED_ITEMS)
        body |= {"value": f"{stand_in.size:,} more items", "indexedVariables": counted}
        return ExpandableValue(inside.value, path, ident, frame, first=stand_in.first, plainly=inside.plainly)
    plain = ExpandableValue(inside.value, path, ident, frame, plainly=True)
    if items := plain.size(None):
        body["indexedVariables"] = min(items, limits.COUNTED_ITEMS)
    return plain


def _is_plain(value: object) -> bool:
    """Return whether a value is one of the many that have nothing inside."""
    kind = type(value)  # compared by identity: `in` may ask its metaclass
    if kind is str:
        return len(value) <= limits.VALUE_CHARS  # type: ignore[arg-type]  # `kind is` does not narrow
    return kind is int or kind is float or kind is bool or value is None


def _named_count(value: object, presenter: Presenter | None, presentation: Presentation) -> int:
    """Return the number of rows with names, for a value with a presenter."""
    if presenter is not None:
        return 1 + presenter.count(value)
    return len(arranged(members(value, ""), PLAIN, presentation))


def _read(row: ValueRow, guard: EvaluationGuard | None) -> ValueRow:
    """Return a lazy row with its value, or with the error to be shown as a value."""
    stored = row.stored
    read_value = row.read if stored is None else stored.read
    if read_value is None:
        return row
    if guard is None:
        return ValueRow(row.name, UnreadProperty("it was not read: the thread is busy"), kind=row.kind)
    seconds = limits.VALUE_SECONDS if row.read is None else limits.WATCH_SECONDS
    try:
        value = guard.call_quarantined(seconds, read_value)
    except TimeIsUp:
        return ValueRow(row.name, UnreadProperty(f"timed out after {seconds:g} s"), row.path, kind=row.kind)
    except ExitRefused as error:
        return ValueRow(row.name, UnreadProperty(f"tried to end the process: {error}"), row.path, kind=row.kind)
    except BaseException as error:
        return ValueRow(row.name, UnreadProperty(f"raised {say(error)}"), row.path, kind=row.kind)
    return ValueRow(row.name, value, row.path, stored=stored, kind=row.kind)


def _loaded(row: ValueRow, guard: EvaluationGuard | None) -> ValueRow:
    """Return the row of a lazy import with the loaded object, as the program would get it at the use of the name.

    The module runs once for the whole program, so its output is not held back.
    """
    if guard is None:
        return ValueRow(row.name, UnreadProperty("was not imported: the thread is busy"))
    try:
        value = guard.call(limits.WATCH_SECONDS, load, row.value, row.stored)
    except TimeIsUp:
        return ValueRow(row.name, UnreadProperty(f"was not imported within {limits.WATCH_SECONDS:g} s"), row.path)
    except BaseException as error:
        return ValueRow(row.name, UnreadProperty(f"raised {say(error)}"), row.path)
    return ValueRow(row.name, value, row.path, stored=row.stored)


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
