"""Run the tests of a package by pytest, and write down what becomes of each.

    run_pytest.py OUTCOMES NAMES [ARGUMENT OF PYTEST...]

NAMES is a file with the tests to run, one a line, or - for all. What is written is as `run_unittest.py` does it.
"""

import json
import sys
from pathlib import Path
from typing import TextIO

import pytest


class Recorder:
    """A plugin of pytest that writes what becomes of each test."""

    def __init__(self, file: TextIO, names: set[str] | None) -> None:
        self._file = file
        self._names = names
        self._outcome = ("passed", "")
        self._seconds = 0.0

    def write(self, **record: object) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._names is not None:
            items[:] = [item for item in items if item.nodeid in self._names]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._outcome = ("passed", "")
        self._seconds = 0.0
        self.write(begun=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds += report.duration
        if hasattr(report, "wasxfail"):
            self._outcome = ("xfailed" if report.skipped else "xpassed", "")
        elif report.failed:
            text = self._outcome[1] + report.longreprtext[-4000:]
            self._outcome = ("failed" if report.when == "call" else "error", text)
        elif report.skipped and self._outcome[0] == "passed":
            self._outcome = ("skipped", "")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        outcome, text = self._outcome
        self.write(test=nodeid, outcome=outcome, text=text, seconds=round(self._seconds, 3))


def main() -> int:
    """Run what the command line says; the exit code is pytest's."""
    outcomes, names, *arguments = sys.argv[1:]
    wanted = None
    if names != "-":
        wanted = set(Path(names).read_text(encoding="utf-8").splitlines())
    sys.argv[1:] = []
    with Path(outcomes).open("w", encoding="utf-8") as file:
        recorder = Recorder(file, wanted)
        code = pytest.main(["-p", "no:cacheprovider", "-q", *arguments], plugins=[recorder])
        recorder.write(done=True)
    return int(code)


def never_called() -> str:
    """Hold a breakpoint."""
    return ""  # never reached


if __name__ == "__main__":
    sys.exit(main())
