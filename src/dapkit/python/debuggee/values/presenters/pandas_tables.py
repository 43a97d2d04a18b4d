"""Tables of pandas: shape, columns with their types, the first rows as a table; series and indexes."""

from typing import Any

from ...interpreter import limits
from ...interpreter.safe_types import plain_text, simple_name
from ..row_types import ValueRow
from ..storage import Attribute, ContainerItem
from .numpy_arrays import ORDERED, item_text, too_many
from .presenter import Inner, Presenter, more_row

_SHOWN = 10
"""Items that are all shown in a text; of more, the first and the last ones are."""


class FramePresenter(Presenter):
    """How a DataFrame is shown."""

    has_items = True

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401, ARG002 - a frame
        """Return shape and columns."""
        some = value.dtypes.iloc[: limits.TEXT_COLUMNS]
        columns = [f"{name} {kind}" for name, kind in zip(some.index, some, strict=True)]
        if value.shape[1] > len(columns):
            columns.append(f"… {value.shape[1] - len(columns):,} more")
        return f"{simple_name(type(value))} {value.shape} {', '.join(columns)}".rstrip()

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a frame
        """Return its shape, the first rows as a table, and the columns, the first of very many."""
        head = value.head(limits.TABLE_ROWS)
        rows = [
            _attribute(value, "shape", path, stored=False),
            ValueRow("head", head, f"{path}.head({limits.TABLE_ROWS})" if path else "", text=_table(head)),
            *(_attribute(value, name, path) for name in ("index", "columns")),
            _attribute(value, "dtypes", path, stored=False),
        ]
        names = list(value.columns[: limits.UNPAGED_ITEMS])
        names_used = {row.name for row in rows}
        unique = value.columns.is_unique
        for at, name in enumerate(names):
            key = repr(name) if type(name) is str or type(name) is int else ""
            by_key = unique and bool(key)
            own = f"{path}[{key}]" if by_key else f"{path}.iloc[:, {at}]"
            label = str(name) if unique and str(name) not in names_used else f"[{key}]" if by_key else f"{name} [{at}]"
            stored = ContainerItem(value, name) if unique else None
            rows.append(ValueRow(label, value.iloc[:, at], own if path else "", stored=stored, kind="data"))
        if (rest := value.shape[1] - len(names)) > 0:
            rows.append(more_row(rest, "columns"))
        return rows

    def size(self, value: Any) -> int:  # noqa: ANN401 - a frame
        """Return the number of rows."""
        return len(value)

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - a frame
        """Return rows, each as a series."""
        return _page(value.iloc, ".iloc", start, end, path)


class SeriesPresenter(Presenter):
    """How a Series is shown."""

    has_items = True

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - a series
        """Return shape, type and the first items, with their labels if these are not just numbers in order."""
        labels = None if simple_name(type(value.index)) == "RangeIndex" else value.index
        items = _items_text(value.iloc, len(value), labels, inner)
        return f"{simple_name(type(value))} {value.shape} {value.dtype} {items}"

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a series
        """Return its name, its index, and the smallest and the largest item."""
        rows = [_attribute(value, name, path, stored=name in {"name", "index"}) for name in _OF_SERIES]
        if getattr(value.dtype, "kind", "") not in tuple(ORDERED) or not len(value):
            return rows
        paths = {name: f"{path}.{name}()" if path else "" for name in ("min", "max")}
        if len(value) > limits.ARRAY_ITEMS:
            return rows + [ValueRow(name, too_many(len(value), own)) for name, own in paths.items()]
        return [*rows, ValueRow("min", value.min(), paths["min"]), ValueRow("max", value.max(), paths["max"])]

    def size(self, value: Any) -> int:  # noqa: ANN401 - a series
        """Return the number of items."""
        return len(value)

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - a series
        """Return items by their numbers."""
        return _page(value.iloc, ".iloc", start, end, path)


class IndexPresenter(Presenter):
    """How an Index is shown."""

    has_items = True

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - an index
        """Return shape, type and the first items."""
        return f"{simple_name(type(value))} {value.shape} {value.dtype} {_items_text(value, len(value), None, inner)}"

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - an index
        """Return its name."""
        return [_attribute(value, name, path, stored=name == "name") for name in ("shape", "dtype", "name")]

    def size(self, value: Any) -> int:  # noqa: ANN401 - an index
        """Return the number of labels."""
        return len(value)

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - an index
        """Return labels by their numbers."""
        rows = _page(value, "", start, end, path)
        for row in rows:
            row.stored = None  # an index never changes
        return rows


_OF_SERIES = ("shape", "dtype", "name", "index")


def _attribute(value: object, name: str, path: str, *, stored: bool = True) -> ValueRow:
    where = Attribute(value, name) if stored else None
    return ValueRow(name, getattr(value, name), f"{path}.{name}" if path else "", stored=where, kind="data")


def _page(table: Any, by_number: str, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - has items
    return [
        ValueRow(f"[{at}]", table[at], f"{path}{by_number}[{at}]" if path else "", stored=ContainerItem(table, at))
        for at in range(start, end)
    ]


def _items_text(items: Any, size: int, labels: Any, inner: Inner) -> str:  # noqa: ANN401 - a sequence
    opening, closing = ("[", "]") if labels is None else ("{", "}")

    def one(at: int) -> str:
        text = item_text(items[at], inner)
        return text if labels is None else f"{item_text(labels[at], str)}: {text}"

    if size <= _SHOWN:
        return opening + ", ".join(one(at) for at in range(size)) + closing
    return opening + ", ".join(one(at) for at in range(3)) + " … " + one(size - 1) + closing


def _table(frame: object) -> str:
    """Write the first rows as pandas does."""
    return plain_text(repr(frame))
