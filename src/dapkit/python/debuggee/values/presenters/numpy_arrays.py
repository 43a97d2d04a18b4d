"""Arrays of numpy: shape, type, extremes and items, none of it by a copy of the array."""

import sys
from typing import Any, Final

from ...interpreter import limits
from ...interpreter.safe_types import is_a, namespace, simple_name
from ..row_types import UnreadProperty, ValueRow
from ..storage import Attribute, ContainerItem
from .presenter import Inner, Presenter

ORDERED: Final = "biufmM"
"""Kinds of items that have a smallest and a largest one: truth values, numbers, times."""
_NUMBERS: Final = "biufcmM"
"""Kinds of items whose `str` is short, and a user's word for the value."""
_SHOWN: Final = 10
"""Items of an array that are all shown in its text; of a larger one the first and the last ones are."""


class ArrayPresenter(Presenter):
    """How an array is shown.

    One of a derived class may run code of the program for each of its parts. Others are read by code in C.
    """

    has_items = True

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - an array
        """Return class, shape and type, and the first items and the last one."""
        shape = array_field("shape", value)
        return f"{simple_name(type(value))} {shape} {_type(value)} {_items_text(value, inner)}"

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - an array
        """Return shape and type, and the smallest and the largest item."""
        rows = [
            ValueRow(name, array_field(name, value), f"{path}.{name}" if path else "", stored=Attribute(value, name))
            for name in ("shape", "dtype")
        ]
        return rows + _extremes(value, path)

    def count(self, value: Any) -> int:  # noqa: ANN401 - an array
        """Return the number of these."""
        return 2 + len(_statistics(value))

    def size(self, value: Any) -> int:  # noqa: ANN401 - an array
        """Return the length of the first dimension."""
        shape = array_field("shape", value)
        return int(shape[0]) if shape else 0

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - an array
        """Return items of the first dimension."""
        item = type(value).__getitem__
        return [
            ValueRow(f"[{at}]", item(value, at), f"{path}[{at}]" if path else "", stored=ContainerItem(value, at))
            for at in range(start, end)
        ]

    def runs_code(self, value: Any) -> bool:  # noqa: ANN401 - an array
        """Return whether the class of an array is one of the program's."""
        return type(value) is not self.base


def array_field(name: str, value: object) -> Any:  # noqa: ANN401 - as the attribute
    """Return an attribute that every array has, whatever its class makes of it."""
    return _numpy("ndarray").__dict__[name].__get__(value)


def _numpy(name: str) -> Any:  # noqa: ANN401 - a class or function of numpy
    return namespace(sys.modules["numpy"])[name]


def _type(value: object) -> str:
    text = str(array_field("dtype", value))
    return text if len(text) <= limits.KEY_CHARS else text[: limits.KEY_CHARS] + "…"


def _plain(value: object) -> Any:  # noqa: ANN401 - an array
    """Return the same array as one of the base class."""
    base = _numpy("ndarray")
    return value if type(value) is base else base.view(value, base)


def _items_text(value: object, inner: Inner) -> str:
    plain = _plain(value)
    flat = plain.flat
    size = plain.size
    if not plain.shape:
        return item_text(plain[()], inner)
    if size > _SHOWN:
        return f"[{', '.join(item_text(flat[at], inner) for at in range(3))} … {item_text(flat[size - 1], inner)}]"

    def nested(part: Any) -> str:  # noqa: ANN401 - an array
        parts = [nested(inside) for inside in part] if part.ndim > 1 else [item_text(one, inner) for one in part]
        return f"[{', '.join(parts)}]"

    return nested(plain)


def item_text(item: Any, inner: Inner) -> str:  # noqa: ANN401 - any value
    """Write an item: a number of numpy as a number."""
    if not is_a(item, _numpy("generic")):
        return inner(item)
    return str(item) if item.dtype.kind in _NUMBERS else inner(item.item())


def _statistics(value: object) -> tuple[str, ...]:
    """Return the names of the results of `_extremes`."""
    if type(value) is not _numpy("ndarray") and type(value) is not _numpy("memmap"):
        return ()  # a masked array, for example, has items that do not count
    kind, count = array_field("dtype", value).kind, array_field("size", value)
    if kind not in ORDERED or not count:
        return ()
    return ("min", "max", "NaNs") if kind in "fmM" and count <= limits.ARRAY_ITEMS else ("min", "max")


def _extremes(array: object, path: str) -> list[ValueRow]:
    """Find the smallest and the largest item, but for those that are not a number, and how many these are."""
    names = _statistics(array)
    if not names:
        return []
    if (count := array_field("size", array)) > limits.ARRAY_ITEMS:
        return [ValueRow(name, too_many(count, f"{path}.{name}()" if path else "")) for name in names]
    plain = _plain(array)
    values = {"min": _numpy("fmin").reduce(plain, axis=None), "max": _numpy("fmax").reduce(plain, axis=None)}
    if "NaNs" in names:
        values["NaNs"] = int((plain != plain).sum())  # noqa: PLR0124 - NaN is not equal to itself
    of_all = path and not values.get("NaNs")
    return [
        ValueRow(name, extreme, f"{path}.{name}()" if of_all and name != "NaNs" else "", kind="data")
        for name, extreme in values.items()
    ]


def too_many(count: int, path: str) -> UnreadProperty:
    """Report that a result was not computed for so many items, and the expression that computes it."""
    what = f"; {path} does" if path else ""
    return UnreadProperty(f"was not computed of {count:,} items, more than {limits.ARRAY_ITEMS:,}{what}")
