"""Figures of the comparison, and the ways to show them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

UNITS = {"x": "{:.2f}", "us": "{:.2f} us", "ms": "{:.2f} ms", "s": "{:.3f} s", "MB": "{:.1f} MB", "": "{:.0f}"}
"""How a figure of each unit is written; `x` is the ratio to the program without a debugger."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        case: name of the case that it belongs to.
        title: what was measured.
        unit: one of UNITS.
        debugpy: its figure, None where it cannot do this.
        ours: the same.
        goal: the most that ours may be; None if the row only informs.
        remark: what has to be known to read it.

    """

    case: str
    title: str
    unit: str
    debugpy: float | None
    ours: float | None
    goal: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met, None if there is nothing to say."""
        return None if self.goal is None or self.ours is None else self.ours <= self.goal

    def cells(self) -> list[str]:
        """Return the row as texts."""
        verdict = {True: "yes", False: "NO", None: ""}[self.met]
        if self.goal is not None and self.ours is None:
            verdict = "not there yet"
        goal = "" if self.goal is None else self._written(self.goal)
        debugpy = "not there" if self.debugpy is None else self._written(self.debugpy)
        ours = "" if self.ours is None else self._written(self.ours)
        return [self.title, debugpy, ours, goal, verdict, self.remark]

    def beside(self) -> str:
        """Return ours and debugpy's figure for a table of several versions; a figure over its goal is marked."""
        ours = "" if self.ours is None else self._written(self.ours)
        debugpy = "" if self.debugpy is None else f" ({self._written(self.debugpy)})"
        return f"**{ours}**{debugpy}" if self.met is False else f"{ours}{debugpy}"

    def _written(self, figure: float) -> str:
        return UNITS[self.unit].format(figure)


HEADINGS = ["case", "debugpy", "ours", "at most", "met", "remark"]


def as_text(rows: Iterable[Row]) -> str:
    """Lay the rows out in columns."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join(_columns(line, widths) for line in lines)


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *figures, remark = cells
    middle = [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=False)]
    return "  ".join([first.ljust(widths[0]), *middle, remark]).rstrip()


def as_markdown_beside(tables: Mapping[str, Sequence[Row]]) -> str:
    """Write the tables of several versions as one, with a column for each."""
    columns = [_by_place(rows) for rows in tables.values()]
    lines = ["| case | " + " | ".join(tables) + " |", "| --- |" + " ---: |" * len(columns)]
    for place in dict.fromkeys(place for column in columns for place in column):
        cells = [column[place].beside() if place in column else "" for column in columns]
        lines.append(f"| {place[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _by_place(rows: Sequence[Row]) -> dict[tuple[str, str, int], Row]:
    """Return rows by case, title, and how many of this title come before."""
    places: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        number = sum((row.case, row.title) == place[:2] for place in places)
        places[row.case, row.title, number] = row
    return places


def as_markdown(rows: Iterable[Row]) -> str:
    """Write the rows as a table of a document."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "| --- | ---: | ---: | ---: | --- | --- |"]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines)
