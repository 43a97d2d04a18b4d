"""`-m MODULE` before a program's words, as `python -m MODULE` has it."""

import click
import pytest

from dapkit.cli import actions
from dapkit.cli.module_option import module_apart, place_of_module
from dapkit.cli.record import record
from dapkit.cli.run import run


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("-m pytest -q tests", "--module pytest -- -q tests"),
        ("-b app.py:1 -m pytest", "-b app.py:1 --module pytest --"),
        ("-m pytest -m slow", "--module pytest -- -m slow"),
        ("-m pytest -- -q", "--module pytest -- -- -q"),
        ("app.py -m pytest", "app.py -m pytest"),
        ("-- -m pytest", "-- -m pytest"),
        ("-e -m app.py", "-e -m app.py"),
        ("--stops 2 app.py", "--stops 2 app.py"),
        ("-m", "-m"),
    ],
)
def test_words_after_a_module_belong_to_it(words: str, read: str) -> None:
    assert module_apart(run, click.Context(run, **run.context_settings), words.split()) == read.split()


def test_module_may_follow_what_a_command_takes_by_its_place() -> None:
    trace = actions.command("trace")
    words = ["app.py:12", "-m", "pytest", "-q"]
    assert module_apart(trace, click.Context(trace), words) == ["app.py:12", "--module", "pytest", "--", "-q"]


@pytest.mark.parametrize(
    ("words", "place"), [("--keep failed -m pytest -q", 2), ("app.py -m pytest", None), ("--keep -m pytest", None)]
)
def test_module_of_a_recording_is_found(words: str, place: int | None) -> None:
    assert place_of_module(record, click.Context(record, **record.context_settings), words.split()) == place
