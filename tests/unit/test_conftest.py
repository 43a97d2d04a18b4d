"""The common ground of the tests: see tests/conftest.py."""

import os
import re
from pathlib import Path

import pytest

from interpreters import OURS, interpreter

pytest_plugins = ["pytester"]

GROUND = Path(__file__).parents[1] / "conftest.py"


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Tests of a test run that has our conftest.py, in a process of its own."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # starts in a quarter of the time
    monkeypatch.setenv("PYTHONPATH", f"{GROUND.parent}{os.pathsep}{GROUND.parents[1] / 'tools'}")
    pytester.makeconftest(re.sub(r"(?m)^(ENDING_SECONDS) = .*", r"\1 = 1.0", GROUND.read_text()))
    return pytester


def run(inner: pytest.Pytester) -> pytest.RunResult:
    return inner.runpytest_subprocess("-p", "no:cacheprovider")


PROCESSES = """
import subprocess
def test_that_leaves_a_process(): subprocess.Popen(['sleep', '60'])
def test_that_leaves_an_orphan(): subprocess.run('sleep 61 & exec true', shell=True)
def test_whose_process_ends_shortly_after(): subprocess.Popen(['sleep', '0.1'])
"""


@pytest.mark.thorough
def test_process_that_outlives_its_test_is_an_error_even_as_an_orphan(inner: pytest.Pytester) -> None:
    inner.makepyfile(PROCESSES)

    result = run(inner)

    result.assert_outcomes(passed=3, errors=2)
    for seconds in (60, 61):
        result.stdout.fnmatch_lines(["*the test left processes running, which were killed:", f"* sleep {seconds}"])


def test_missing_tool_skips_the_test(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    inner.makepyfile("def test_needs_a_tool(require_tool): require_tool('no-such-debugger')")

    run(inner).assert_outcomes(skipped=1)


@pytest.mark.thorough
def test_missing_tool_fails_the_test_in_ci(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    inner.makepyfile("def test_needs_a_tool(require_tool): require_tool('no-such-debugger')")

    run(inner).assert_outcomes(failed=1)


def test_interpreters_are_found_by_version() -> None:
    assert interpreter(OURS).is_file()


MARKED = """
import pytest
@pytest.mark.row('setBreakpoints: lines')
def test_lines(): pass
@pytest.mark.thorough
@pytest.mark.row('setBreakpoints')
def test_all(): pass
@pytest.mark.row('evaluate')
def test_value(): pass
"""
MARKERS = """
[pytest]
testpaths = .
markers =
    row
    thorough
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "passed"),
    [
        ((), 2),
        (("--thorough",), 3),
        ((".",), 2),
        (("test_marked.py",), 3),
        (("--row", "setBreakpoints"), 2),
        (("--row", "setBreakpoints: lines"), 1),
    ],
)
def test_tests_are_chosen_by_path_thoroughness_and_row(
    inner: pytest.Pytester, words: tuple[str, ...], passed: int
) -> None:
    inner.makeini(MARKERS)
    inner.makepyfile(test_marked=MARKED)
    inner.runpytest_subprocess("-p", "no:cacheprovider", *words).assert_outcomes(passed=passed, deselected=3 - passed)


@pytest.mark.thorough
def test_unknown_row_is_an_error_that_names_the_nearest(inner: pytest.Pytester) -> None:
    inner.makeini(MARKERS)
    inner.makepyfile(test_marked=MARKED)
    result = inner.runpytest_subprocess("-p", "no:cacheprovider", "--row", "evaluat")
    result.stderr.fnmatch_lines(["ERROR: --row: no test belongs to the row 'evaluat'; did you mean evaluate*"])
