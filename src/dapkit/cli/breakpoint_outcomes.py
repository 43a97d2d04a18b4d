"""The outcome of each breakpoint of a whole session, and a list of those that never took effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BreakpointOutcome:
    """One breakpoint at the end.

    Attributes:
        row: as the action `breakpoints` shows it.
        place: where it was asked for.

    """

    row: Mapping[str, Any]
    place: str

    @property
    def was_set(self) -> bool:
        """Whether the adapter has verified it."""
        return bool(self.row.get("verified"))

    @property
    def hits(self) -> int:
        """How often it was hit, as far as its adapter reports that."""
        return int(self.row.get("hits", 0))

    @property
    def logs(self) -> bool:
        """Whether it writes instead of stopping, which its adapter need not report as a hit."""
        return self.row.get("logMessage") is not None

    def problem(self, *, within: int | None = None) -> str | None:
        """Return the breakpoint's fault as text; None if it was hit at the requested place.

        Args:
            within: after how many stops the program no longer stopped, if it did not any more.

        """
        message = self.row.get("message")
        if not self.was_set:
            return f"{self.place} was not set{f': {message}' if message else ''}"
        if self.hits or self.logs:
            return None if "requestedLine" not in self.row else f"{self.place} was set on line {self.row['line']}"
        limited = "" if within is None else f" within the first {within} stops"
        return f"{self.place} was never hit{limited}: {f'{message}; ' if message else ''}{self._unmet}"

    def shown(self, *, within: int | None = None) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "breakpoint": self.place,
            "verified": self.was_set,
            "hits": self.hits,
            "problem": self.problem(within=within),
        }

    @property
    def _unmet(self) -> str:
        conditions = {"its condition": self.row.get("condition"), "its hit count": self.row.get("hitCondition")}
        texts = [f"{name} ({text})" for name, text in conditions.items() if text]
        reasons = [f"{' or '.join(texts)} was never met"] if texts else []
        reasons.append("the program did not come there")
        if "name" in self.row:
            reasons.append("has no such function")
        return ", or ".join(reasons)


def breakpoint_outcomes(details: Mapping[str, Any]) -> list[BreakpointOutcome]:
    """Read the result of the action `breakpoints`."""
    lines, functions = details.get("breakpoints", ()), details.get("functionBreakpoints", ())
    return [
        *(BreakpointOutcome(row, f"{row['path']}:{row.get('requestedLine', row['line'])}") for row in lines),
        *(BreakpointOutcome(row, str(row["name"])) for row in functions),
    ]
