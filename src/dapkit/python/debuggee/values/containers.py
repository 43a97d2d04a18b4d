"""Items of containers, a page at a time.

A page costs the same wherever it lies in a list, tuple, range, text, buffer, array or dict. A deque is walked from
its nearer end; a set has no order to jump into, so the first page of a new place walks there, and the
pages after it continue from where it ended. Arrays and tables of libraries have presenters.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from ..interpreter import limits
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import (
    MAPPINGS,
    ClassSet,
    is_a,
    module_of,
    mro,
    names_in_class,
    namespace,
    once_per_class,
    simple_name,
)
from .row_types import ValueRow
from .storage import ContainerItem
from .text import render

_SEQUENCES: Final = ClassSet(list, tuple, range, str, bytes, bytearray, memoryview)
_WALKED: Final = ClassSet(set, frozenset, type({}.keys()), type({}.values()), type({}.items()))
_UNCHANGING: Final = ClassSet(tuple, range, str, bytes)
_SCALARS: Final = ClassSet(int, float, complex, bool, str, bytes, type(None), type(...))
_LAZILY_IMPORTED: Final = {"deque": "_collections", "array": "array", "mmap": "mmap", "Array": "_ctypes"}
"""Kinds of sequence that there can only be objects of once their module is imported."""
_MODULES: Final = ("collections", "array", "mmap", "_ctypes")
"""Where these say that they are from."""


class Cursor:
    """Where the last page of a container without an order of its own ended."""

    def __init__(self) -> None:
        untrack(self)
        self._walk: Iterator[Any] | None = None
        self._at = 0

    def page(self, kind: Any, container: object, start: int, end: int) -> list[Any]:  # noqa: ANN401 - a class
        """Return some items, walking on from the last page if that was before."""
        if self._walk is None or self._at > start:
            self._walk, self._at = kind.__iter__(container), 0
        walk = self._walk
        try:
            items = list(islice(walk, start - self._at, end - self._at))
        except RuntimeError:  # it changed
            self._walk = None
            return list(islice(kind.__iter__(container), start, end))
        self._at = start + len(items)
        return items


def unwrapped(value: object) -> object:
    """Return the mapping behind a read-only view of it, any other value itself."""
    if type(value) is not MappingProxyType:
        return value
    import gc

    return gc.get_referents(value)[0]


def size(value: object) -> int:
    """Return the number of items of a value, 0 if it is not a container."""
    value = unwrapped(value)
    kind = kind_of(value)
    if kind is None:
        return 0
    try:
        count: int = kind.__len__(value)
    except (TypeError, ValueError):
        return 0  # an array without dimensions, a buffer that was closed
    if (kind is str or kind is bytes) and count <= limits.VALUE_CHARS:
        return 0  # it is shown whole
    return 0 if kind is memoryview and len(value.shape or ()) != 1 else count  # type: ignore[attr-defined]  # is one


@once_per_class
def kind_of(value: object) -> Any:  # noqa: ANN401 - one of several classes with like methods
    """Return the class by which a value is a container, whatever it has overridden."""
    for kind in mro(value):
        if kind in _SEQUENCES or kind in MAPPINGS or kind in _WALKED:
            return kind
        name = simple_name(kind)
        module = _LAZILY_IMPORTED.get(name) if module_of(kind) in _MODULES else None
        if module is not None and namespace(sys.modules.get(module)).get(name) is kind:
            return kind
    return None


def page(
    value: Any,  # noqa: ANN401 - any container
    start: int,
    end: int,
    path: str,
    *,
    cursor: Cursor,
) -> list[ValueRow]:
    """Return the items from `start` to before `end`."""
    wrapper, value = value, unwrapped(value)
    kind = kind_of(value)
    if kind is None:
        return []
    if kind in MAPPINGS:
        pairs = _pairs(value, kind, start, end)
        own = _base(value, kind, path, "__getitem__") if wrapper is value else ""
        rows = [_entry(value, key, item, path, own) for key, item in pairs]
        for row in rows if wrapper is not value or kind is not dict else ():
            row.stored = None  # it is read-only
        return rows
    if kind in _WALKED:
        return [ValueRow(f"[{at}]", item) for at, item in enumerate(cursor.page(kind, value, start, end), start)]
    if kind.__name__ == "deque":
        # A slice of a deque does not exist, and an index is found from the nearer end.
        items = [kind.__getitem__(value, at) for at in range(start, min(end, kind.__len__(value)))]
    else:
        items = kind.__getitem__(value, slice(start, end))
        if kind is memoryview:
            items = items.tolist()
    own = _base(value, kind, path, "__getitem__")
    fixed = kind in _UNCHANGING
    return [
        ValueRow(f"[{at}]", item, _item_path(path, own, str(at)), stored=None if fixed else ContainerItem(value, at))
        for at, item in enumerate(items, start)
    ]


def _base(value: object, kind: type, path: str, method: str) -> str:
    """Return the name of the built-in class by which an item must be asked for, if the value's own would differ."""
    if not path or type(value) is kind:
        return ""
    for base in mro(value):
        if base is kind:
            return ""
        if method in names_in_class(base) and module_of(kind) == "builtins":
            return simple_name(kind)
    return ""


def _item_path(path: str, own: str, key: str) -> str:
    if not path:
        return ""
    return f"{own}.__getitem__({path}, {key})" if own else f"{path}[{key}]"


def _entry(container: object, key: object, item: object, path: str, own: str) -> ValueRow:
    text = render(key, None, limits.KEY_CHARS)
    is_whole_literal = _is_literal(key) and "…" not in text
    return ValueRow(
        text, item, _item_path(path, own, text) if is_whole_literal else "", stored=ContainerItem(container, key)
    )


def _is_literal(key: object) -> bool:
    """Return whether a key, as it is written, is an expression for an equal key."""
    if type(key) is tuple:
        return all(map(_is_literal, key))
    if type(key) is float or type(key) is complex:
        return abs(key) < float("inf")
    return type(key) in _SCALARS


def _pairs(value: Any, kind: Any, start: int, end: int) -> list[tuple[object, object]]:  # noqa: ANN401 - of `kind`
    # An OrderedDict has an order of its own, which `dict.items` does not know.
    ordered: Any = namespace(sys.modules.get("_collections")).get("OrderedDict")
    if ordered is not None and is_a(value, ordered):
        return list(islice(ordered.items(value), start, end))
    return list(islice(kind.items(value), start, end))  # in one call: no other thread comes between
