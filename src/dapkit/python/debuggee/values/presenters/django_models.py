"""Models and query sets of Django: their fetched values.

Looking at a value never asks the database. So the text of a model is never its own `__repr__`, whose `__str__` may read
fields that are not loaded; such fields, and the results of a query that was not made yet, are read only when a client
opens them.
"""

import sys
from typing import Any

from ...interpreter import limits
from ...interpreter.safe_types import defined, namespace, plain_text, simple_name
from ..members import attribute_row, lazy_row, members
from ..row_types import ValueRow
from .presenter import Inner, Presenter


class ModelPresenter(Presenter):
    """How an instance of a model is shown."""

    keeps_text = True
    repr_may_run = False

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401 - a model
        """Return the fields that are loaded, and how many are not."""
        stored = namespace(value)
        names = [field.attname for field in value._meta.concrete_fields]
        loaded = [name for name in names if name in stored]
        parts = [f"{name}={inner(stored[name])}" for name in loaded[: limits.TEXT_COLUMNS]]
        if len(parts) < len(loaded):
            parts.append(f"… {len(loaded) - len(parts):,} more")
        if len(loaded) < len(names):
            parts.append(f"… {len(names) - len(loaded):,} not loaded")
        return f"{simple_name(type(value))}({', '.join(parts)})"

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a model
        """Return the fields in their order, unloaded ones as lazy, then all others."""
        stored = namespace(value)
        related: Any = namespace(stored.get("_state")).get("fields_cache")
        related = related if type(related) is dict else {}
        rows: dict[str, ValueRow] = {}

        def add(name: str, field: Any) -> None:  # noqa: ANN401 - values by name
            is_known = name in field
            row = attribute_row(value, name, field[name], path) if is_known else lazy_row(value, name, path, None)
            rows[name] = row

        for field in value._meta.concrete_fields:
            add(field.attname, stored)
            if field.is_relation and field.name != field.attname:
                add(field.name, related)
        others = [row for row in members(value, path) if row.name not in rows and not self._is_of_library(row)]
        return [*rows.values(), *others]

    def _is_of_library(self, row: ValueRow) -> bool:
        """Return whether a row is one that every model has."""
        return row.name == "_state" or (row.lazy and defined(self.base, row.name) is row.declared)


class QuerySetPresenter(Presenter):
    """How a query is shown: its text, and its results if they were fetched."""

    has_items = True
    keeps_text = True
    repr_may_run = False

    def text(self, value: Any, inner: Inner) -> str:  # noqa: ANN401, ARG002 - a query set
        """Return the model, and the number of objects."""
        model: Any = namespace(value).get("model")
        of = f" of {model._meta.label}" if model is not None else ""
        fetched = _fetched(value)
        state = "not evaluated" if fetched is None else f"{len(fetched):,} row{'s' * (len(fetched) != 1)}"
        return f"{simple_name(type(value))}{of}, {state}"

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a query set
        """Return the text of the query, and the way to its results."""
        rows = [ValueRow("query", _query(value), f"str({path}.query)" if path else "")]
        if _fetched(value) is None:
            own = f"list({path}[:{limits.UNPAGED_ITEMS}])" if path else ""
            rows.append(ValueRow("results", None, own, read_value=lambda: _results(value), lazy=True, kind="property"))
        return rows

    def size(self, value: Any) -> int:  # noqa: ANN401 - a query set
        """Return the number of rows that were fetched."""
        return len(_fetched(value) or ())

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow]:  # noqa: ANN401 - a query set
        """Return rows that were fetched."""
        fetched = _fetched(value) or []
        return [
            ValueRow(f"[{at}]", item, f"{path}[{at}]" if path else "")
            for at, item in enumerate(fetched[start:end], start)
        ]


def _results(query_set: Any) -> list[object]:  # noqa: ANN401 - a query set
    """Fetch as many results as are shown; the query set stays as it was."""
    return list(query_set[: limits.UNPAGED_ITEMS])


def _fetched(value: object) -> list[object] | None:
    cache = namespace(value).get("_result_cache")
    return cache if type(cache) is list else None


def _query(value: Any) -> str:  # noqa: ANN401 - a query set
    """Return the text of a query, compiled from a copy and without a question to the database."""
    connections: Any = namespace(sys.modules.get("django.db")).get("connections")
    with connections[value.db].execute_wrapper(_refuse):
        return plain_text(str(value._chain().query))


def _refuse(*_given: object) -> object:
    raise RuntimeError("the text of the query depends on the database, which is not asked")
