"""The tables of numpy and pandas, as containers, and the rows that SQLAlchemy fetches.

Nothing here imports them: there can only be such values where the program has. What runs their code, or what a
class of the program has derived from them, runs under a guard.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

from .. import limits
from ..classes import module_of, mro, namespace, once_per_class, simple_name
from ..errors import NotBegun, TimeIsUp
from ..evaluation.guard import EvaluationGuard
from .rows import UnreadProperty, ValueRow
from .storage import Attribute, ContainerItem
from .text import say

_PANDAS: Final = ("DataFrame", "Series", "Index")
_ORDERED: Final = "biufmM"
"""Kinds of numpy's items that have a smallest and a largest one: truth values, numbers, times."""


def size(value: Any, guard: EvaluationGuard | None) -> int:  # noqa: ANN401 - any value
    """Return the number of rows, 0 for what is not a table, or where code of pandas may not run."""
    kind = _kind(value)
    if kind == "ndarray":
        shape = _of_array("shape", value)
        return int(shape[0]) if shape else 0
    if kind not in _PANDAS or guard is None:
        return 0
    try:
        return guard.call_quarantined(limits.VALUE_SECONDS, len, value)
    except BaseException:
        return 0  # the page of it will say why


def page(value: object, start: int, end: int, path: str, guard: EvaluationGuard | None) -> list[ValueRow]:
    """Return rows of a table."""
    kind = _kind(value)
    if kind == "ndarray" and type(value) is _of_class(kind):
        return _items(value, start, end, path)
    if kind == "ndarray":  # code of the program may be called for each part of it
        return _asked(guard, lambda array: _items(array, start, end, path), value)
    if kind in _PANDAS:
        return _asked(guard, lambda table: _pandas_page(table, kind, start, end, path), value)
    return []


def has_names(value: object) -> bool:
    """Say whether `named` knows all attributes of a value that are worth a look."""
    return _kind(value) in ("DataFrame", "Row")


def named(value: object, path: str, guard: EvaluationGuard | None) -> list[ValueRow]:
    """Return the columns of a DataFrame, the first of very many, or of a row; what an array has in it at most."""
    match _kind(value):
        case "DataFrame":
            return _asked(guard, lambda frame: _columns(frame, path), value)
        case "Row":
            return _asked(guard, lambda row: _fields(row, path), value)
        case "ndarray" if _statistics(value):
            return _asked(guard, lambda array: _extremes(array, path), value)
    return []


def named_count(value: object) -> int:
    """Return how many rows `named` gives, at least about."""
    return 1 if has_names(value) else len(_statistics(value)) if _kind(value) == "ndarray" else 0


def _asked(guard: EvaluationGuard | None, rows: Callable[[Any], list[ValueRow]], value: object) -> list[ValueRow]:
    if guard is None:
        return []
    try:
        return guard.call_quarantined(limits.VALUE_SECONDS * 2, rows, value)
    except NotBegun:
        why = "was not read: what was read before took too long"
    except TimeIsUp:
        why = f"timed out after {limits.VALUE_SECONDS * 2} s"
    except BaseException as error:
        why = f"raised {say(error)}"
    return [ValueRow("content", UnreadProperty(why))]


# numpy


def _items(array: object, start: int, end: int, path: str) -> list[ValueRow]:
    item = _of_class("ndarray").__getitem__
    here = range(start, min(end, size(array, None)))
    return [
        ValueRow(f"[{at}]", item(array, at), f"{path}[{at}]" if path else "", stored=ContainerItem(array, at))
        for at in here
    ]


def _statistics(value: object) -> tuple[str, ...]:
    """Return the names of what `_extremes` finds out."""
    if type(value) is not _of_class("ndarray") and type(value) is not _of_class("memmap"):
        return ()  # a masked array, for one, has items that do not count
    kind, count = _of_array("dtype", value).kind, _of_array("size", value)
    if kind not in _ORDERED or not 0 < count <= limits.ARRAY_ITEMS:
        return ()
    return ("min", "max", "NaNs") if kind in "fmM" else ("min", "max")


def _extremes(array: object, path: str) -> list[ValueRow]:
    """Find the smallest and the largest item, but for those that are not a number, and how many these are."""
    numpy: Any = sys.modules["numpy"]
    plain = _of_class("ndarray").view(array, _of_class("ndarray"))
    values = {"min": numpy.fmin.reduce(plain, axis=None), "max": numpy.fmax.reduce(plain, axis=None)}
    if "NaNs" in _statistics(array):
        values["NaNs"] = int((plain != plain).sum())  # noqa: PLR0124 - what is not a number is not equal to itself
    of_all = path and not values.get("NaNs")
    return [
        ValueRow(name, held, f"{path}.{name}()" if of_all and name != "NaNs" else "", kind="data")
        for name, held in values.items()
    ]


def _of_array(name: str, value: object) -> Any:  # noqa: ANN401 - as the attribute
    return _of_class("ndarray").__dict__[name].__get__(value)


def _of_class(name: str) -> Any:  # noqa: ANN401 - a class of numpy
    return namespace(sys.modules["numpy"])[name]


# pandas


def _columns(value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a frame
    names = list(value.columns[: limits.UNPAGED_ITEMS])
    unique = len(set(names)) == len(names)
    rows = [
        ValueRow(
            str(name),
            value.iloc[:, at],
            f"{path}[{name!r}]"
            if path and unique and (type(name) is str or type(name) is int)
            else f"{path}.iloc[:, {at}]",
            stored=ContainerItem(value, name) if unique else None,
            kind="data",
        )
        for at, name in enumerate(names)
    ]
    for name in ("index", "columns", "dtypes", "shape"):
        stored = Attribute(value, name) if name in ("index", "columns") else None
        rows.append(ValueRow(name, getattr(value, name), f"{path}.{name}" if path else "", stored=stored, kind="data"))
    return rows


def _pandas_page(value: Any, kind: str, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - a table
    here = range(start, min(end, len(value)))
    by_number = "" if kind == "Index" else ".iloc"
    table = value if kind == "Index" else value.iloc
    return [
        ValueRow(
            f"[{at}]",
            table[at],
            f"{path}{by_number}[{at}]" if path else "",
            stored=ContainerItem(table, at) if kind != "Index" else None,
        )
        for at in here
    ]


# SQLAlchemy


def _fields(row: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a row
    rows = []
    for at, (name, held) in enumerate(list(zip(row._fields, row, strict=False))[: limits.UNPAGED_ITEMS]):
        dotted = path and type(name) is str and name.isidentifier()
        rows.append(ValueRow(str(name), held, f"{path}.{name}" if dotted else f"{path}[{at}]" if path else ""))
    return rows


@once_per_class
def _kind(value: object) -> str:
    for base in mro(value):
        module, name = module_of(base), simple_name(base)
        if module == "numpy" and name == "ndarray" and namespace(sys.modules.get("numpy")).get(name) is base:
            return name
        if module.partition(".")[0] == "pandas" and name in _PANDAS:
            return name
        if module == "sqlalchemy.engine.row" and name == "Row":
            return name
    return ""
