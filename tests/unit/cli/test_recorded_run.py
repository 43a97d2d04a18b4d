"""Plain command lines of `dapkit record`, which are read without click."""

import re
from pathlib import Path

import pytest

from dapkit.cli.record import record
from dapkit.cli.recorded_run import RecordOptions
from dapkit.python.debuggee.engine.interpreter_checks import NEWEST_TESTED


@pytest.mark.parametrize(
    ("words", "options", "program"),
    [
        ("app.py --fast", RecordOptions(), "app.py --fast"),
        ("-q app.py -q -m x", RecordOptions(quiet=True), "app.py -q -m x"),
        ("-o run.dapkit -q python -m pytest", RecordOptions(output=Path("run.dapkit"), quiet=True), "python -m pytest"),
        ("-m pytest -x", RecordOptions(), "python -m pytest -x"),
    ],
)
def test_plain_line_is_read_as_click_reads_it(words: str, options: RecordOptions, program: str) -> None:
    assert RecordOptions.of_words(words.split()) == (options, program.split())
    context = record.make_context("record", words.split())
    read = {name: value for name, value in context.params.items() if name not in ("program", "args")}
    assert RecordOptions(**read) == options
    assert [context.params["program"], *context.params["args"]] == program.split()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "-o",
        "-o run.dapkit",
        "--help",
        "--keep failed app.py",
        "--children app.py",
        "-- app.py",
        "-m",
        "app.py -o run.dapkit",
        "app.py --keep=failed",
    ],
)
def test_any_other_line_is_left_to_click(words: str) -> None:
    assert RecordOptions.of_words(words.split()) is None


def test_processes_of_each_tested_python_are_recorded_and_no_others() -> None:
    startup = Path(__file__).parents[3] / "src/dapkit/python/startup/sitecustomize.py"
    versions = re.search(r"if not (\S+, \S+) <= sys\.version_info\[:2\] <= (\S+, \S+):", startup.read_text())
    assert versions is not None
    assert versions.groups() == ("(3, 12)", str(NEWEST_TESTED))
