"""Run tests of a module of the interpreter's own, and write down what becomes of each.

    run_unittest.py MODULE OUTCOMES [FILE WITH NAMES OF TESTS [SECONDS]]

A line of JSON is written before each test and after it, so that what was written is right wherever the program
ends. With SECONDS, the tests are run repeatedly until so much time has gone, or one of them has failed.
"""

import json
import sys
import time
import unittest
from types import TracebackType
from typing import TextIO

type Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Recorder(unittest.TestResult):
    """Writes what becomes of each test."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self._file = file
        self._outcome: tuple[str, str] | None = None
        self._begun = 0.0
        self.bad = False

    def write(self, **record: object) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._outcome = ("passed", "")
        self._begun = time.perf_counter()
        self.write(begun=test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        outcome, text = self._outcome or ("passed", "")
        self._outcome = None
        self.write(test=test.id(), outcome=outcome, text=text, seconds=round(time.perf_counter() - self._begun, 3))

    def addError(self, test: unittest.TestCase, err: Raised) -> None:
        self._failed("error", test, err)

    def addFailure(self, test: unittest.TestCase, err: Raised) -> None:
        self._failed("failed", test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Raised | None) -> None:
        if err is not None:
            self._failed("failed", test, err, about=f"{subtest.id()}\n")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        if self._outcome == ("passed", ""):
            self._outcome = ("skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Raised) -> None:
        self._outcome = ("xfailed", "")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._outcome = ("xpassed", "")

    def _failed(self, outcome: str, test: unittest.TestCase, err: Raised, about: str = "") -> None:
        text = about + self._exc_info_to_string(err, test)[-4000:]  # type: ignore[attr-defined]  # as TestResult does it
        self.bad = True
        if self._outcome is None:  # what stands around tests: setUpModule, tearDownClass
            self.write(test=test.id(), outcome=outcome, text=text, seconds=0)
        else:
            self._outcome = (outcome, self._outcome[1] + text)


def chosen(suite: unittest.TestSuite, names: set[str]) -> unittest.TestSuite:
    """Return the suite without the tests that have other names."""
    kept = type(suite)()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            kept.addTest(chosen(test, names))
        elif test.id() in names:
            kept.addTest(test)
    return kept


def load(module: str, names: set[str] | None) -> unittest.TestSuite:
    """Return the tests of a module, all of them or those with certain names."""
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    return suite if names is None else chosen(suite, names)


def main() -> None:
    """Run what the command line says."""
    module, outcomes, *rest = sys.argv[1:]
    from test import support  # type: ignore[import-not-found]  # typeshed leaves it out

    support.use_resources = {}
    support.verbose = 0
    names = None
    if rest:
        with open(rest[0], encoding="utf-8") as file:
            names = set(file.read().splitlines())
    until = time.monotonic() + float(rest[1]) if len(rest) > 1 else 0.0
    with open(outcomes, "w", encoding="utf-8") as file:
        recorder = Recorder(file)
        load(module, names).run(recorder)
        while time.monotonic() < until and not recorder.bad:
            load(module, names).run(recorder)
        recorder.write(done=True)


def never_called() -> str:
    """Hold a breakpoint."""
    return ""  # never reached


if __name__ == "__main__":
    main()
