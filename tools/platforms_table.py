"""Write the table of docs/reference/platforms.md: which features were tested on which system.

    python tools/platforms_table.py            write the table
    python tools/platforms_table.py --check    fail if it is not about the tests that there are

The features are in platforms_table.toml. Numbers are read from the reports that `make test-all`, `make test-posix` and
`make test-windows` leave in build/reports; a system without a report keeps its numbers. Each file of tests belongs to
one feature, so that none is left out.
"""

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from junit_reports import outcome, testcases
from made_files import ROOT, run, table, with_tables

PAGE = ROOT / "docs/reference/platforms.md"
TABLE = "features by system"
TESTS = ROOT / "tests"
FEATURES = Path(__file__).with_suffix(".toml")
REPORTS = ROOT / "build/reports"
SYSTEMS = {"Linux": "python.xml", "macOS": "posix*.xml", "Windows": "windows*.xml"}
NO_FEATURES = ("tests.unit.tools.", "tests.e2e.docs.", "tests.js.")
"""Folders with tests of tools and pages."""
CELL = re.compile(r"\d+ of \d+|no")

type Outcomes = Mapping[str, set[str]]
"""By test function: the outcomes of its cases."""


def features() -> list[dict[str, Any]]:
    """Return the features as they are written down."""
    listed: list[dict[str, Any]] = tomllib.loads(FEATURES.read_text(encoding="utf-8"))["feature"]
    return listed


def place(folder: str, name: str) -> str:
    """Return the dotted name of a file or folder of tests.

    Raises:
        SystemExit: there is none with this name.

    """
    for path in (TESTS / folder / f"test_{name}.py", TESTS / folder / name):
        if path.exists():
            return ".".join(path.relative_to(ROOT).with_suffix("").parts)
    raise SystemExit(f"{FEATURES.name}: tests/{folder} has no tests {name!r}")


def feature_by_place() -> dict[str, str]:
    """Return the names of the features by their tests' files and folders."""
    by_place: dict[str, str] = {}
    for feature in features():
        for folder, names in feature["tests"].items():
            for name in names.split() or ("",):
                by_place[place(folder, name)] = feature["name"]
    return by_place


def feature_of(test: str, by_place: Mapping[str, str]) -> str | None:
    """Return the feature of a test, by the longest place that its dotted name begins with; None if it has none."""
    while test:
        if test in by_place:
            return by_place[test]
        test = test.rpartition(".")[0]
    return None


def outcomes_by_feature(reports: Iterable[Path], by_place: Mapping[str, str]) -> Mapping[str, Outcomes]:
    """Return the outcomes of the test functions of each feature."""
    by_feature: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for report in reports:
        for case in testcases(report):
            test = f"{case.get('classname')}.{case.get('name', '').partition('[')[0]}"
            feature = feature_of(test, by_place)
            if feature is not None:
                by_feature[feature][test].add(outcome(case))
    return by_feature


def passed(outcomes: Outcomes) -> set[str]:
    """Return the test functions of which a case has passed, and none has failed."""
    return {test for test, cases in outcomes.items() if "passed" in cases and "failed" not in cases}


def numbers(by_place: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the cells by system and feature, of the systems that have a report."""
    outcomes = {
        system: outcomes_by_feature(reports, by_place)
        for system, pattern in SYSTEMS.items()
        if (reports := sorted(REPORTS.glob(pattern)))
    }
    on_linux = outcomes.get("Linux")
    if on_linux is None:
        raise SystemExit(f"there is no report of Linux in {REPORTS.relative_to(ROOT)}: run make test-all")
    cells: dict[str, dict[str, str]] = {}
    for system, by_feature in outcomes.items():
        cells[system] = {}
        for feature in by_place.values():
            there, all_tests = passed(by_feature.get(feature, {})), passed(on_linux.get(feature, {}))
            cells[system][feature] = f"{len(there)} of {len(all_tests | there)}" if there else "no"
    return cells


def written() -> dict[str, dict[str, str]]:
    """Return the cells of the page, by system and feature."""
    cells: dict[str, dict[str, str]] = {system: {} for system in SYSTEMS}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        feature, *row = line.strip("| ").split(" | ")
        if len(row) >= len(SYSTEMS) and all(CELL.fullmatch(cell) for cell in row[: len(SYSTEMS)]):
            for system, cell in zip(SYSTEMS, row, strict=False):
                cells[system][feature] = cell
    return cells


def lines(cells: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of the table."""
    rows = (
        (
            feature["name"],
            *(cells[system].get(feature["name"], "no") for system in SYSTEMS),
            feature.get("difference", ""),
        )
        for feature in features()
    )
    yield from table(("feature", "Linux", "macOS: its code, on Linux", "Windows: under Wine", "difference"), rows)


def make() -> Mapping[Path, str]:
    """Return the page as it has to be.

    Raises:
        SystemExit: a file of tests belongs to no feature, or a feature names tests that are not there.

    """
    by_place = feature_by_place()
    for path in sorted(TESTS.rglob("test_*.py")):
        test = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not test.startswith(NO_FEATURES) and feature_of(test, by_place) is None:
            raise SystemExit(f"{FEATURES.name}: {path.relative_to(ROOT)} belongs to no feature")
    cells = written() | ({} if "--check" in sys.argv else numbers(by_place))
    return {PAGE: with_tables(PAGE, {TABLE: lambda: lines(cells)})}


if __name__ == "__main__":
    raise SystemExit(run("Write the table of docs/reference/platforms.md.", make))
