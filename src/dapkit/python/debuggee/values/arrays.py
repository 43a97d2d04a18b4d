"""The tables of numpy and pandas, as containers.

Nothing here imports them: there can only be such values where the program has.
"""

import sys
from typing import Any

from .. import limits
from ..classes import mro, once_per_class
from ..evaluation.guard import EvaluationGuard
from .rows import ValueRow
from .storage import Attribute, ContainerItem


def size(value: object) -> int:
    """Return the number of rows, 0 for what is not a table."""
    match _kind(value):
        case "ndarray":
            shape = _numpy().__dict__["shape"].__get__(value)
            return int(shape[0]) if shape else 0
        case "Series" | "Index" | "DataFrame":
            return _length(value)
    return 0


def page(value: Any, start: int, end: int, path: str, guard: EvaluationGuard | None) -> list[ValueRow]:  # noqa: ANN401 - a table
    """Return rows of a table; those of pandas run its Python code, so not without a guard."""
    kind = _kind(value)
    if kind == "ndarray":
        array = _numpy()
        here = range(start, min(end, size(value)))
        items = [array.__getitem__(value, at) for at in here]
        return [
            ValueRow(f"[{at}]", item, f"{path}[{at}]" if path else "", stored=ContainerItem(value, at))
            for at, item in zip(here, items, strict=True)
        ]
    if not kind or guard is None:
        return []
    return guard.call(limits.VALUE_SECONDS * 2, _pandas_page, value, kind, start, end, path)


def columns(value: Any, path: str, guard: EvaluationGuard | None) -> list[ValueRow]:  # noqa: ANN401 - a frame
    """Return the columns of a DataFrame, the first of very many."""
    if guard is None or _kind(value) != "DataFrame":
        return []
    return guard.call(limits.VALUE_SECONDS * 2, _columns, value, path)


def is_frame(value: object) -> bool:
    """Say whether a value is a DataFrame."""
    return _kind(value) == "DataFrame"


def _columns(value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a frame
    names = list(value.columns[: limits.UNPAGED_ITEMS])
    unique = len(set(names)) == len(names)
    rows = [
        ValueRow(
            str(name),
            value.iloc[:, at],
            f"{path}[{name!r}]" if path and unique and type(name) in (str, int) else f"{path}.iloc[:, {at}]",
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


@once_per_class
def _kind(value: object) -> str:
    for base in mro(value):
        module = type.__dict__["__module__"].__get__(base)
        name = type.__dict__["__name__"].__get__(base)
        if module == "numpy" and name == "ndarray":
            return "ndarray"
        if type(module) is str and module.partition(".")[0] == "pandas" and name in ("DataFrame", "Series", "Index"):
            return str(name)
    return ""


def _numpy() -> Any:  # noqa: ANN401 - the class numpy.ndarray
    return sys.modules["numpy"].ndarray


def _length(value: Any) -> int:  # noqa: ANN401 - a table
    """Return how many rows a table of pandas has, from where it keeps its axes."""
    try:
        manager = value._mgr if "_mgr" in value.__dict__ else None
        return int(manager.shape[-1]) if manager is not None else len(value)
    except Exception:
        return 0
