"""Write docs/reference/adapters.md: which action works with which debug adapter, and why not.

    python tools/adapters_table.py            write the page
    python tools/adapters_table.py --check    fail if it is not about the actions that there are

What works is read from the report of the tests in tests/e2e/matrix, which `make test` leaves in build/. An adapter
that these could not try keeps its column. The tests themselves compare the page with what they find.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from dapkit.agent.command_words import OF_ADAPTERS
from junit_reports import testcases
from made_files import ROOT, table

PAGE = ROOT / "docs/reference/adapters.md"
YES, NO = "yes", "no"
WHY_NOT = "## Why not"
INTRODUCTION = """\
# What works with which adapter

This page is made by `make adapters-table` from what `make test` has found: tests perform each [action](actions.md)
with each adapter, on a program in the language that is named with it. A yes means that the effect of the action was
seen: that a breakpoint stopped the program, that a value which was set was read back, that a program which was released
ran on. Where it depends on the language, the languages are named with which it works.

`mock` is the adapter in `examples/mock_adapter`, which is there to be read, and can go back in time.
"""

type Verdicts = Mapping[str, str]
"""By action: yes, or why not."""


def page(columns: Mapping[str, Verdicts]) -> str:
    """Return the page; columns go by the titles of adapters, which share a column if they differ in the language."""
    titles = sorted(columns)
    adapters = _by_adapter(titles)
    matrix = [
        (f"`{action}`", *(_cell(action, adapter, columns) for adapter in adapters.items())) for action in OF_ADAPTERS
    ]
    why: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for action in OF_ADAPTERS:
        for title in titles:
            if (verdict := columns[title][action]) != YES:
                why[f"`{action}`", verdict].append(title)
    reasons = [(action, verdict, "; ".join(_heads(several))) for (action, verdict), several in why.items()]
    return "\n".join(
        [
            INTRODUCTION,
            *table(("action", *_heads(titles)), matrix),
            "",
            WHY_NOT,
            "",
            *table(("action", "why not", "with"), reasons),
            "",
        ]
    )


def columns_of(text: str) -> dict[str, dict[str, str]]:
    """Read a page again."""
    matrix, _, reasons = text.partition(WHY_NOT)
    head, *rows = _rows(matrix) or [[]]
    adapters = [_titles(cell) for cell in head[1:]]
    columns: dict[str, dict[str, str]] = {title: {} for titles in adapters for title in titles}
    for action, *cells in rows:
        for titles, cell in zip(adapters, cells, strict=True):
            for title in titles:
                columns[title][action.strip("`")] = YES if cell == YES or _language(title) in cell.split(", ") else NO
    for action, why, several in _rows(reasons)[1:]:
        for title in (title for cell in several.split("; ") for title in _titles(cell)):
            columns[title][action.strip("`")] = why
    return columns


def _by_adapter(titles: Iterable[str]) -> Mapping[str, list[str]]:
    """Take titles such as `gdb 16: C` apart: the languages by adapter."""
    adapters: defaultdict[str, list[str]] = defaultdict(list)
    for title in titles:
        adapters[title.partition(": ")[0]].append(_language(title))
    return adapters


def _heads(titles: Iterable[str]) -> list[str]:
    """Put titles together: `gdb 16: C, Rust`."""
    return [f"{adapter}: {', '.join(languages)}" for adapter, languages in _by_adapter(titles).items()]


def _titles(head: str) -> list[str]:
    adapter, _, languages = head.partition(": ")
    return [f"{adapter}: {language}" for language in languages.split(", ")]


def _language(title: str) -> str:
    return title.partition(": ")[2]


def _cell(action: str, adapter: tuple[str, list[str]], columns: Mapping[str, Verdicts]) -> str:
    """Return yes, no, or the languages with which it works."""
    name, languages = adapter
    working = [language for language in languages if columns[f"{name}: {language}"][action] == YES]
    return YES if working == languages else ", ".join(working) or NO


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [line.strip("| ").split(" | ") for line in lines]


def written() -> dict[str, dict[str, str]]:
    """Return what the page says."""
    return columns_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}


def found(report: Path) -> dict[str, Verdicts | None]:
    """Return what tests have found, by the titles of the adapters; None for what could not be tried."""
    columns: dict[str, Verdicts | None] = {}
    for case in testcases(report):
        told = {entry.get("name", ""): entry.get("value", "") for entry in case.iter("property")}
        if "adapter" in told:
            columns[told["adapter"]] = json.loads(told["verdicts"]) if "verdicts" in told else None
    return columns


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
        different = [title for title, verdicts in known.items() if list(verdicts) != list(OF_ADAPTERS)]
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
