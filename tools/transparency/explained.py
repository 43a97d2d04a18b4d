"""What rightly changes: the list in explained.toml, and what is left of the findings without it."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from transparency.modes import MODES
from transparency.subjects import HERE
from transparency.trial import Verdict


@dataclass(frozen=True)
class Explanation:
    """Why a test changes.

    Attributes:
        test: its name; an end in `*` stands for all that begins so.
        source: the line of CPython's source that explains it.
        reason: why, in a sentence.
        modes, versions: where.

    """

    test: str
    source: str
    reason: str
    modes: tuple[str, ...] = tuple(MODES)
    versions: tuple[str, ...] = ("3.12", "3.13", "3.14", "3.15")

    def covers(self, name: str, verdict: Verdict) -> bool:
        """Say whether a change is explained by this."""
        if verdict.mode not in self.modes or verdict.version not in self.versions:
            return False
        return fnmatchcase(name, self.test.replace("[", "[[]"))


def explanations() -> Sequence[Explanation]:
    """Read the list."""
    with (HERE / "explained.toml").open("rb") as file:
        rows = tomllib.load(file)["change"]
    return [_explanation(row) for row in rows]


def _explanation(row: dict[str, Any]) -> Explanation:
    lists = {key: tuple(row[key]) for key in ("modes", "versions") if key in row}
    return Explanation(row["test"], row["source"], row["reason"], **lists)


def open_changes(verdict: Verdict, known: Sequence[Explanation]) -> list[str]:
    """Return the confirmed changes that nothing explains."""
    return [name for name in verdict.confirmed if not any(row.covers(name, verdict) for row in known)]


def open_ends(verdict: Verdict, known: Sequence[Explanation]) -> list[str]:
    """Return the tests in which a program hung or ended, where nothing explains it."""
    return [name for name in verdict.stuck if not any(row.covers(name, verdict) for row in known)]


def unexplained(found: Iterable[Verdict], most: int) -> list[str]:
    """Return what makes a measurement fail: too many changes in a mode on a version, and each end of a program."""
    known = explanations()
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    for verdict in found:
        counts[verdict.version, verdict.mode] += len(open_changes(verdict, known))
        place = f"Python {verdict.version}, mode {verdict.mode}"
        said = "".join(f": {remark[-300:]!r}" for remark in verdict.remarks[:1])
        failures += [f"{place}: the program hung or ended in {name}{said}" for name in open_ends(verdict, known)]
        if verdict.errors:
            failures.append(f"{place}, {verdict.subject}: the debugger has reported an error of its own")
    failures += [
        f"Python {version}, mode {mode}: {count} tests change, at most {most} may"
        for (version, mode), count in counts.items()
        if count > most
    ]
    return failures
