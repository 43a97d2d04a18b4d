"""Write docs/reference/adapters.md: which action works with which debug adapter, and why not.

    python tools/adapters_table.py            write the page
    python tools/adapters_table.py --check    fail if it is not about the actions that there are

What works is read from the report of the tests in tests/e2e/matrix, which `make test` leaves in build/. An adapter
that these could not try keeps its column. The tests themselves compare the page with what they find.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from dapkit.agent.table import ACTIONS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/adapters.md"
YES, NO = "yes", "no"
INTRODUCTION = """\
# What works with which adapter

This page is made by `make adapters-table` from what `make test` has found: tests perform each [action](actions.md)
with each adapter, on a program in the language that is named with it. A yes means that the effect of the action was
seen: that a breakpoint stopped the program, that a value which was set was read back, that a program which was released
ran on.

`mock` is the adapter in `examples/mock_adapter`, which is there to be read, and can go back in time.
"""

type Verdicts = Mapping[str, str]
"""By action: yes, or why not."""


def page(columns: Mapping[str, Verdicts]) -> str:
    """Return the page; columns go by the titles of adapters."""
    titles = sorted(columns)
    matrix = [(f"`{action}`", *(_yes_or_no(columns[title][action]) for title in titles)) for action in ACTIONS]
    why: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for action in ACTIONS:
        for title in titles:
            if (verdict := columns[title][action]) != YES:
                why[f"`{action}`", verdict].append(title)
    reasons = [(action, verdict, ", ".join(several)) for (action, verdict), several in why.items()]
    return "\n".join(
        [
            INTRODUCTION,
            *_table(("action", *titles), matrix),
            "",
            "## Why not",
            "",
            *_table(("action", "why not", "with"), reasons),
            "",
        ]
    )


def columns_of(text: str) -> dict[str, dict[str, str]]:
    """Read a page again."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    titles = rows[0][1:] if rows else []
    columns: dict[str, dict[str, str]] = {title: {} for title in titles}
    for action, *cells in rows:
        if len(cells) == len(titles) and set(cells) <= {YES, NO}:
            for title, cell in zip(titles, cells, strict=True):
                columns[title][action.strip("`")] = cell
        elif len(cells) == 2 and action.startswith("`"):
            for title in cells[1].split(", "):
                columns[title][action.strip("`")] = cells[0]
    return columns


def written() -> dict[str, dict[str, str]]:
    """Return what the page says."""
    return columns_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}


def found(report: Path) -> dict[str, Verdicts | None]:
    """Return what tests have found, by the titles of the adapters; None for what could not be tried."""
    columns: dict[str, Verdicts | None] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - our own test runner wrote it
        told = {entry.get("name", ""): entry.get("value", "") for entry in case.iter("property")}
        if "adapter" in told:
            columns[told["adapter"]] = json.loads(told["verdicts"]) if "verdicts" in told else None
    return columns


def _yes_or_no(verdict: str) -> str:
    return YES if verdict == YES else NO


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="write docs/reference/adapters.md")
    parser.add_argument("--check", action="store_true", help="only see whether it is about the actions that there are")
    parser.add_argument(
        "--report",
        type=Path,
        default=ROOT / "build/reports/python.xml",
        help="what `make test` left; default: %(default)s",
    )
    options = parser.parse_args()
    known = written()
    if options.check:
        different = [title for title, verdicts in known.items() if list(verdicts) != list(ACTIONS)]
        if different or not known or PAGE.read_text(encoding="utf-8") != page(known):
            raise SystemExit(f"{PAGE.relative_to(ROOT)} is out of date (make test; make adapters-table)")
        return
    tried = found(options.report)
    if not tried:
        raise SystemExit(
            f"{options.report} has no adapter: run make test first, or make test ARGS='tests/e2e/matrix --each-adapter'"
        )
    columns = {**known, **{title: verdicts or known.get(title) for title, verdicts in tried.items()}}
    if unknown := sorted(title for title, verdicts in columns.items() if verdicts is None):
        raise SystemExit(f"nothing is known of {', '.join(unknown)}: install what the tests say is missing")
    PAGE.write_text(page({title: verdicts for title, verdicts in columns.items() if verdicts}), encoding="utf-8")


if __name__ == "__main__":
    main()
