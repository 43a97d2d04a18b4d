"""What a value has inside: attributes by name, items by number, a page at a time.

A list or tuple is sliced, so that a page costs the same wherever it lies; a dict, set or
deque is walked up to the page. Attributes are read from where they are stored, never
through the program's own `__getattribute__` or properties.
"""

import sys
from itertools import islice
from typing import Any

from . import limits
from .frames import Frame
from .jobs import Guard
from .references import References
from .values import is_a, mro, render, stored, timed_out, type_name
from .wire import Json

type Row = tuple[str, object, str]
"""Name, value, and the expression that gives the value, or an empty text."""

_SCALARS = (int, float, complex, bool, str, bytes, bytearray, type(None), type(...), type(NotImplemented))


class Scope:
    """The local or the global variables of a frame."""

    def __init__(self, frame: Frame, *, of_module: bool) -> None:
        self.frame = frame
        self.of_module = of_module

    def rows(self) -> list[Row]:
        """Return the variables: first the plain names, then the private, then the special ones."""
        frame = self.frame.frame
        names = frame.f_globals if self.of_module else frame.f_locals
        rows = [(name, value, name) for name, value in list(names.items()) if name[:1] != "."]
        return sorted(rows, key=lambda row: _rank(row[0]))


class Holder:
    """A value whose inside may be asked for, and the expression that leads to it."""

    def __init__(self, value: object, path: str, thread: int, first: int = 0) -> None:
        self.value = value
        self.path = path
        self.thread = thread
        self.first = first  # items before this one are shown elsewhere


class Reader:
    """Makes the bodies of `variables`, and the fields that tell of a value in other bodies."""

    def __init__(self, references: References) -> None:
        self._references = references

    def describe(self, value: object, path: str, thread: int, guard: Guard | None, chars: int) -> Json:
        """Return `value`, `type`, `variablesReference` and the numbers of children."""
        return {"value": render(value, guard, chars), **self.outline(value, path, thread)}

    def outline(self, value: object, path: str, thread: int) -> Json:
        """Return what `describe` does, but for the text."""
        body: Json = {"type": type_name(value), "variablesReference": 0}
        items, names = item_count(value), len(attributes(value))
        if items or names:
            body["variablesReference"] = self._references.add(Holder(value, path, thread))
            if items:
                body["indexedVariables"] = items
            if names:
                body["namedVariables"] = names
        return body

    def page(self, holder: Scope | Holder, arguments: Json) -> list[Row]:
        """Return the rows that a `variables` request asks for. Runs no code of the program."""
        wanted, start, count = arguments.get("filter"), _number(arguments, "start"), _number(arguments, "count")
        if isinstance(holder, Scope):
            rows = [] if wanted == "indexed" else holder.rows()
            return rows[start : start + count] if count else rows[start:]
        rows = []
        if wanted != "indexed" and not holder.first:
            rows += [(name, value, _attribute(holder.path, name)) for name, value in attributes(holder.value)]
            if wanted == "named":
                return rows[start : start + count] if count else rows[start:]
        if wanted == "named":
            return rows
        size = item_count(holder.value)
        begin = holder.first + start
        if count:
            return rows + items(holder.value, begin, begin + count, holder.path)
        end = min(size, begin + limits.UNPAGED_ITEMS)
        rows += items(holder.value, begin, end, holder.path)
        if end < size:
            rows.append((f"[{end}…]", Rest(holder, end, size - end), ""))
        return rows

    def variable(self, row: Row, thread: int, guard: Guard | None, *, lost: bool = False) -> Json:
        """Return the description of one row; `lost` says that its own code did not end."""
        name, value, path = row
        if type(value) is Rest:
            return {
                "name": name,
                "value": f"{value.size:,} more items",
                "variablesReference": self._references.add(
                    Holder(value.holder.value, value.holder.path, thread, value.first)
                ),
                "indexedVariables": value.size,
                "presentationHint": {"kind": "virtual"},
            }
        body: Json = {"name": name, **self.describe(value, path, thread, guard, limits.VALUE_CHARS)}
        if lost:
            body["value"] = timed_out(value)
        if path:
            body["evaluateName"] = path
        hint = _hint(name, value)
        if hint:
            body["presentationHint"] = hint
        return body


class Rest:
    """The items that an answer has no room for."""

    def __init__(self, holder: Holder, first: int, size: int) -> None:
        self.holder = holder
        self.first = first
        self.size = size


def attributes(value: object) -> list[tuple[str, object]]:
    """Return the stored attributes of a value: its `__dict__`, its slots, and what exceptions add."""
    if type(value) in _SCALARS:
        return []
    found: dict[str, object] = {}
    if is_a(value, BaseException):
        names = ["args", "__cause__", "__context__"] + ["exceptions"] * is_a(value, BaseExceptionGroup)
        found = {name: stored(value, name) for name in names}  # type: ignore[arg-type]  # by is_a
    for kind in reversed(mro(value)):
        for name, member in kind.__dict__.items():
            if type(member) is _MEMBER and kind.__dict__.get("__slots__") is not None and name != "__weakref__":
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue  # a slot that holds nothing
    found.update((str(name), held) for name, held in list(_dict_of(value).items()))
    return sorted(found.items(), key=lambda pair: _rank(pair[0]))


class _Slotted:
    __slots__ = ("slot",)


_MEMBER = type(_Slotted.__dict__["slot"])
_GETTER = type(References.__dict__["__dict__"])
_CALLABLES = (type(_Slotted.__init__), type(len), type(attributes), type(References().begin))


def _dict_of(value: object) -> dict[str, object]:
    if type(value) in _CALLABLES:
        return {}
    if is_a(value, type):
        return dict(type.__dict__["__dict__"].__get__(value))  # of a class: a mapping that cannot be changed
    for kind in mro(value):
        member: Any = kind.__dict__.get("__dict__")
        if type(member) is _GETTER:  # not a property of that name
            return member.__get__(value) or {}
    return {}


def item_count(value: object) -> int:
    """Return how many items a container holds, 0 for what is none."""
    kind = _container_kind(value)
    return kind.__len__(value) if kind is not None else 0


def _container_kind(value: object) -> Any:  # noqa: ANN401 - one of several classes with like methods
    """Return the built-in class by which a value is a container, whatever it has overridden."""
    deque = getattr(sys.modules.get("_collections"), "deque", None)
    return next((kind for kind in mro(value) if kind in _CONTAINERS or kind is deque), None)


_CONTAINERS = frozenset(
    (list, tuple, dict, set, frozenset, range, type({}.keys()), type({}.values()), type({}.items()))
)


def items(value: Any, start: int, end: int, path: str) -> list[Row]:  # noqa: ANN401 - any container
    """Return a page of the items of a container."""
    kind = _container_kind(value)
    if kind in (list, tuple, range):
        page = kind.__getitem__(value, slice(start, end))
        return [(f"[{at}]", item, f"{path}[{at}]" if path else "") for at, item in enumerate(page, start)]
    if kind is dict:
        # An OrderedDict has an order of its own, which `dict.items` does not know.
        ordered: Any = getattr(sys.modules.get("_collections"), "OrderedDict", None)
        pairs: Any = (ordered if type(value) is ordered else kind).items(value)
        return [_entry(key, item, path) for key, item in islice(pairs, start, end)]
    if kind is None:
        return []
    return [(f"[{at}]", item, "") for at, item in enumerate(islice(kind.__iter__(value), start, end), start)]


def _entry(key: object, item: object, path: str) -> Row:
    text = render(key, None, 80)
    known = type(key) in _SCALARS and "…" not in text
    return key if type(key) is str and key else text, item, f"{path}[{text}]" if path and known else ""


def _rank(name: str) -> int:
    return 2 if name.startswith("__") and name.endswith("__") else 1 if name.startswith("_") else 0


def _attribute(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name.isidentifier() else ""


def _hint(name: str, value: object) -> Json:
    hint: Json = {}
    if type(value) in _CALLABLES:
        hint["kind"] = "method"
    elif is_a(value, type):
        hint["kind"] = "class"
    if _rank(name):
        hint["visibility"] = "private" if _rank(name) == 1 else "internal"
    return hint


def _number(arguments: Json, field: str) -> int:
    value = arguments.get(field)
    return value if isinstance(value, int) and value > 0 else 0
