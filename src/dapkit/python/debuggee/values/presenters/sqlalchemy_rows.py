"""Rows and mapped objects of SQLAlchemy: their columns, as far as they are loaded.

Looking at a value never asks the database. So the text of a mapped object is never its own `__repr__`, which may read
attributes that are not loaded; such attributes are read only when a client opens them.
"""

from typing import Any

from ...interpreter import limits
from ...interpreter.safe_types import defined, namespace, simple_name
from ..members import attribute_row, lazy_row, members
from ..row_types import ValueRow
from .presenter import Inner, Presenter, more_row


class RowPresenter(Presenter):
    """How a row of a result is shown."""

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - a row
        """Return the columns with their values."""
        parts = [f"{name}={inner(member)}" for name, member in _columns(value)[: limits.TEXT_COLUMNS]]
        return _text(value, parts, len(_columns(value)) - len(parts), "more")

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a row
        """Return the columns."""
        rows = []
        for at, (name, member) in enumerate(_columns(value)[: limits.UNPAGED_ITEMS]):
            dotted = type(name) is str and name.isidentifier() and defined(type(value), name) is None
            rows.append(ValueRow(str(name), member, (f"{path}.{name}" if dotted else f"{path}[{at}]") if path else ""))
        if (rest := len(_columns(value)) - len(rows)) > 0:
            rows.append(more_row(rest, "columns"))
        return rows


class MappedPresenter(Presenter):
    """How an object is shown that SQLAlchemy has loaded, or will store; none of its code runs."""

    keeps_text = True
    repr_may_run = False

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - a mapped object
        """Return the columns that are loaded, and how many are not."""
        stored = namespace(value)
        columns = [name for name, attribute in self._mapped() if _is_column(attribute)]
        loaded = [name for name in columns if name in stored]
        parts = [f"{name}={inner(stored[name])}" for name in loaded[: limits.TEXT_COLUMNS]]
        if len(parts) < len(loaded):
            parts.append(f"… {len(loaded) - len(parts):,} more")
        return _text(value, parts, len(columns) - len(loaded), "not loaded")

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a mapped object
        """Return the columns, then other mapped attributes, then all others; unloaded ones as lazy."""
        stored = namespace(value)
        names = [name for name, attribute in sorted(self._mapped(), key=lambda pair: not _is_column(pair[1]))]
        mapped = [
            attribute_row(value, name, stored[name], path) if name in stored else lazy_row(value, name, path, None)
            for name in names
        ]
        others = [row for row in members(value, path) if row.name not in names and not row.name.startswith("_sa_")]
        return mapped + others

    def count(self, value: Any) -> int:  # noqa: ANN401, ARG002 - a mapped object
        """Return the number of mapped attributes."""
        return len(self._mapped())

    def runs_code(self, value: Any) -> bool:  # noqa: ANN401, ARG002 - a mapped object
        """Return that all is read from where it is stored."""
        return False

    def _mapped(self) -> list[tuple[str, object]]:
        manager: Any = defined(self.base, "_sa_class_manager")  # a dict: attributes by name
        return list(dict.items(manager))


def _columns(row: Any) -> list[tuple[object, object]]:  # noqa: ANN401 - a row
    return list(zip(row._fields, row, strict=False))


def _is_column(attribute: object) -> bool:
    """Return whether a mapped attribute is a column, and not another object or several."""
    try:
        implementation = object.__getattribute__(attribute, "impl")
    except AttributeError:  # the mappers are not configured yet
        return False
    return defined(type(implementation), "uses_objects") is False


def _text(value: object, parts: list[str], row_count: int, why: str) -> str:
    rest = [f"… {row_count:,} {why}"] if row_count > 0 else []
    return f"{simple_name(type(value))}({', '.join(parts + rest)})"
