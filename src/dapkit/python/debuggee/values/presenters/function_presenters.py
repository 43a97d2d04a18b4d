"""Presenters of a project: plain Python functions that return the display of a value.

A function returns a text; the contents, as a dict by name or a list; or both, as a pair. An entry whose name ends in
`()` is a function, which is called when a client opens the entry.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any

from ...interpreter import limits
from ...interpreter.safe_types import is_a, plain_text, qualified_name
from ..members import attribute_row, members
from ..row_types import ValueRow
from .presenter import Inner, Presenter, more_row


class GivenPresenter(Presenter):
    """How a function of the project shows a value."""

    has_items = True
    counts_ahead = False
    keeps_text = True

    def __init__(self, base: type, function: Callable[[Any], object]) -> None:
        super().__init__(base)
        self._function = function

    @property
    def name(self) -> str:
        """The class that it is for."""
        return f"presenter of {qualified_name(self.base)}"

    def text(self, value: Any, inner: Inner) -> str | None:  # noqa: ANN401, ARG002 - any value
        """Return the text, if it gives one."""
        return self._answer(value)[0]

    def rows(self, value: Any, path: str) -> list[ValueRow] | None:  # noqa: ANN401 - any value
        """Return the entries of the dict, the first of very many; None if the function gives a text alone."""
        _, children = self._answer(value)
        if children is None:
            return None
        pairs = list(dict.items(children)) if is_a(children, dict) else []
        stored = {row.name: row for row in members(value, path)}
        rows = [_row(value, str(name), member, path, stored) for name, member in pairs]
        if (rest := len(rows) - limits.UNPAGED_ITEMS) > 0:
            rows[limits.UNPAGED_ITEMS :] = [more_row(rest, "entries")]
        return rows

    def size(self, value: Any) -> int | None:  # noqa: ANN401 - any value
        """Return the length of the list; None if the function gives a text alone."""
        _, children = self._answer(value)
        return len(children) if is_a(children, list) else None if children is None else 0

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow] | None:  # noqa: ANN401, ARG002 - any value
        """Return items of the list; None if the function gives a text alone."""
        _, children = self._answer(value)
        if children is None:
            return None
        some = children[start:end] if is_a(children, list) else []
        return [ValueRow(f"[{at}]", item) for at, item in enumerate(some, start)]

    def _answer(self, value: object) -> tuple[str | None, dict[object, object] | list[object] | None]:
        answer: Any = self._function(value)
        text, children = None, answer
        if is_a(answer, str):
            text, children = answer, None
        elif type(answer) is tuple and len(answer) == 2:
            text, children = answer
        if not (text is None or is_a(text, str)) or not (
            children is None or is_a(children, dict) or is_a(children, list)
        ):
            raise TypeError("a presenter returns a text, a dict or list of the contents, or both as a pair")
        return (None if text is None else plain_text(text)), children


def _row(value: object, name: str, member: Any, path: str, stored: dict[str, ValueRow]) -> ValueRow:  # noqa: ANN401 - any value
    if name.endswith("()") and callable(member):
        of_value = type(member) is MethodType and member.__self__ is value and member.__name__ == name[:-2]
        own = f"{path}.{name}" if path and of_value else ""
        return ValueRow(name, None, own, read_value=member, lazy=True, kind="property")
    own_row = stored.get(name)
    if own_row is not None and not own_row.lazy and own_row.value is member:
        return attribute_row(value, name, member, path)
    return ValueRow(name, member)
