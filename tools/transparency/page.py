"""How it is shown: a table by mode and version, and the page of the reference."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from transparency.explained import Explanation, explanations, open_changes
from transparency.modes import MODES, reason_of
from transparency.subjects import HERE
from transparency.trial import Verdict

INTRODUCTION = """\
# Transparency

<!-- Written by tools/measure_transparency.py; do not edit. -->

Does a program behave under the debugger as it does without? CPython's own tests are asked, measured on {day}.

    make transparency                          # some modules, in each mode, on each version; in CI
    make transparency ARGS=--all               # all modules
    make transparency ARGS=--packages          # the tests of packages, by pytest
    make transparency ARGS='test_io test_pdb'  # these modules

A module's tests run plain, twice; what fails, or differs between the two, is left out. Then they run under the
adapter in each mode. A test that becomes something else there runs again alone, with and without the debugger, and is
*confirmed* if that differs, too. *Ended* counts programs that hung, or ended before their last test.

| mode | what the client does |
| --- | --- |
| `nothing` | filter `uncaught`, which is the default, and no breakpoint |
| `breakpoints` | breakpoints with the condition `False` in 20 functions, and one that is never reached |
| `steps` | stops in 8 tests, and makes up to 600 random steps, with stack, scopes and variables at each |
| `pauses` | pauses five times a second, looks at stack, scopes and variables, and continues |
| `raised` | filter `raised`, up to 2,000 stops |
| `data` | data breakpoints on locals, globals and attributes that the first test sees |
| `travel` | time travel; stops in 8 tests and once a second, and makes up to 200 random jumps back and forth |

In all modes but `nothing` the standard library counts as the program's own code.
"""

TRAVEL = """\
# Transparency of time travel

<!-- Written by tools/measure_transparency.py; do not edit. -->

Does a program behave as it does without a debugger while its client goes back and forth in time? CPython's own tests
are asked, measured on {day}. [Transparency](transparency.md) describes how.

    make transparency ARGS='--mode travel test_io test_pdb'

The client stops in 8 tests of a module and once a second, and makes up to 200 random jumps: back by line, by
instruction and to a breakpoint, to any moment, and forwards in the past, with stack, scopes and variables at each. Then
it goes on with the live program. The standard library counts as the program's own code. A jump that was refused has
changed nothing: the client gets the reason, and is shown what it was shown before, or the live program.
"""


@dataclass(frozen=True)
class Total:
    """The findings of one mode on one version."""

    version: str
    mode: str
    tests: int = 0
    changed: int = 0
    confirmed: int = 0
    ended: int = 0
    unexplained: int = 0


def totals(found: Sequence[Verdict]) -> list[Total]:
    """Add up the findings, by version and mode."""
    known = explanations()
    rows = []
    for version in sorted({verdict.version for verdict in found}):
        for mode in MODES:
            here = [verdict for verdict in found if verdict.version == version and verdict.mode == mode]
            if here:
                rows.append(
                    Total(
                        version,
                        mode,
                        tests=sum(verdict.tests for verdict in here),
                        changed=sum(len(verdict.changed) for verdict in here),
                        confirmed=sum(len(verdict.confirmed) for verdict in here),
                        ended=sum(len(verdict.stuck) for verdict in here),
                        unexplained=sum(len(open_changes(verdict, known)) for verdict in here),
                    )
                )
    return rows


def as_text(found: Sequence[Verdict]) -> str:
    """Return the totals for a terminal."""
    lines = [f"{'mode':14}{'version':>8}{'tests':>8}{'changed':>9}{'confirmed':>11}{'unexplained':>13}{'ended':>7}"]
    lines += [
        f"{row.mode:14}{row.version:>8}{row.tests:>8}{row.changed:>9}{row.confirmed:>11}{row.unexplained:>13}{row.ended:>7}"
        for row in totals(found)
    ]
    return "\n".join(lines)


CORPUS = "<!-- The rest is written by tools/measure_travel.py. -->"


def without_corpus(page: str) -> tuple[str, str]:
    """Split a page in what this module has written and the section on programs with packages, empty if it has none."""
    own, mark, corpus = page.partition(CORPUS)
    return own, mark + corpus


def document(found: Sequence[Verdict], *, day: date) -> str:
    """Return the page of the reference, or that of time travel if nothing else was measured."""
    if {verdict.mode for verdict in found} == {"travel"}:
        tables = f"{as_table(totals(found))}\n## Jumps\n\n{jumps(found)}"
        return f"{TRAVEL.format(day=day)}\n{subjects(found)}\n\n{tables}\n## What remains\n\n{remaining(found)}"
    parts = [INTRODUCTION.format(day=day)]
    before = json.loads((HERE / "before.json").read_text(encoding="utf-8"))
    for measured in before["measured"]:
        rows = [Total(**row) for row in measured["rows"]]
        parts.append(f"## {measured['title']}\n\n{measured['text']}\n\n{as_table(rows)}")
    parts.append(f"## Now\n\n{subjects(found)}\n\n{as_table(totals(found))}")
    parts.append(f"## Jumps through time\n\n{jumps(found)}")
    parts.append(f"## What remains\n\n{remaining(found)}")
    return "\n".join(parts)


def subjects(found: Sequence[Verdict]) -> str:
    """Return in a sentence whose tests were run on which version."""
    by_version: dict[str, list[str]] = {}
    for version in sorted({verdict.version for verdict in found}):
        names = {verdict.subject.removeprefix("test_") for verdict in found if verdict.version == version}
        by_version[version] = sorted(names)
    parts = [f"on {version}: {len(names)} ({', '.join(names)})" for version, names in by_version.items()]
    return f"Tests of modules and packages {'; '.join(parts)}."


def as_table(rows: Sequence[Total]) -> str:
    """Return totals as a table."""
    lines = [
        "| mode | Python | tests | changed | confirmed | unexplained | ended |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = (f"`{row.mode}`", row.version, f"{row.tests:,}", row.changed, row.confirmed, row.unexplained, row.ended)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def jumps(found: Sequence[Verdict]) -> str:
    """Return how many jumps were made in mode `travel`, and why some were refused."""
    lines = ["| Python | jumps | refused | why |", "| --- | ---: | ---: | --- |"]
    for version in sorted({verdict.version for verdict in found if verdict.jumps}):
        here = [verdict for verdict in found if verdict.version == version]
        refused: Counter[str] = Counter()
        for verdict in here:
            for reason, count in verdict.refused.items():
                refused[reason_of(reason)] += count
        why = "; ".join(f"{reason} ({count})" for reason, count in refused.most_common())
        lines.append(f"| {version} | {sum(verdict.jumps for verdict in here):,} | {refused.total()} | {why} |")
    return "\n".join(lines) + "\n"


def remaining(found: Sequence[Verdict]) -> str:
    """Return the confirmed changes with their explanations, and those that have none."""
    modes = {verdict.mode for verdict in found}
    known = [row for row in explanations() if modes.intersection(row.modes)]
    lines = [f"* `{row.test}`{where(row)}: {row.reason} ({row.source})." for row in known]
    for verdict in found:
        place = f"mode `{verdict.mode}`, Python {verdict.version}"
        lines += [f"* `{name}`, {place}: not explained." for name in open_changes(verdict, known)]
    return "\n".join(lines) + "\n"


def where(row: Explanation) -> str:
    """Return in which modes and versions, if not in all."""
    words = [
        *([] if row.modes == Explanation.modes else row.modes),
        *([] if row.versions == Explanation.versions else row.versions),
    ]
    return f", {', '.join(words)}" if words else ""
