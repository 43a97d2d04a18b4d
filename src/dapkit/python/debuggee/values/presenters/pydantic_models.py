"""Models of pydantic: their fields, extra and private ones, as they are stored; serializers are not asked."""

from typing import Any

from ...interpreter.safe_types import defined, namespace
from ..members import attribute_row, members
from ..row_types import ValueRow
from .presenter import Presenter


class PydanticPresenter(Presenter):
    """How a model is shown. The text is its own."""

    def rows(self, value: Any, path: str) -> list[ValueRow]:  # noqa: ANN401 - a model
        """Return the fields, extra ones, private ones, and properties of the program's classes."""
        rows = [row for row in members(value, path) if not self._is_of_library(row)]
        for slot in ("__pydantic_extra__", "__pydantic_private__"):
            names = self._slot(value, slot)
            pairs = list(dict.items(names)) if type(names) is dict else []
            rows += [attribute_row(value, name, member, path) for name, member in pairs if type(name) is str]
        fields_set = self._slot(value, "__pydantic_fields_set__")
        if fields_set is not None:
            rows.append(ValueRow("model_fields_set", fields_set, f"{path}.model_fields_set" if path else ""))
        return sorted(rows, key=lambda row: row.lazy)

    def count(self, value: Any) -> int:  # noqa: ANN401 - a model
        """Return the number of fields."""
        return len(namespace(value)) or 1

    def runs_code(self, value: Any) -> bool:  # noqa: ANN401, ARG002 - a model
        """Return that all is read from where it is stored."""
        return False

    def _is_of_library(self, row: ValueRow) -> bool:
        """Return whether a row is a property that every model has."""
        return row.lazy and row.declared is not None and defined(self.base, row.name) is row.declared

    def _slot(self, value: object, name: str) -> Any:  # noqa: ANN401 - a dict or None
        slot = defined(self.base, name)
        try:
            return type(slot).__get__(slot, value, type(value))
        except (AttributeError, TypeError):  # an older pydantic, or a model that is being made
            return None
