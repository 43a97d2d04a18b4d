"""Actions as one would type them: the shell takes such a line apart again into what was given."""

import json
import shlex
from collections.abc import Mapping

import pytest

from dapkit.agent.command_words import command_line
from dapkit.cli import actions
from dapkit.cli.arguments import parameters


def read_back(line: str) -> tuple[str, dict[str, object]]:
    """Have a shell's words read as the command does."""
    program, dashed, *words = shlex.split(line)
    assert program == "dapkit"
    name = dashed.replace("-", "_")
    with actions.command(name).make_context(name, words) as context:
        return name, parameters(name, context.params)


@pytest.mark.parametrize(
    ("action", "arguments", "line"),
    [
        ("step_over", {}, "dapkit step-over"),
        ("step_over", {"thread": 0, "granularity": "line"}, "dapkit step-over --thread 0 --granularity line"),
        ("evaluate", {"expression": "a b"}, "dapkit evaluate 'a b'"),
        ("evaluate", {"expression": "f('x')"}, "dapkit evaluate \"f('x')\""),
        ("evaluate", {"expression": "f('$x')"}, "dapkit evaluate 'f('\"'\"'$x'\"'\"')'"),
        ("evaluate", {"expression": "-x"}, "dapkit evaluate -- -x"),
        ("launch", {"program": "a.py", "args": ["-v", "--"]}, "dapkit launch a.py -v --"),
        ("launch", {"module": "m", "args": ["--fast"]}, "dapkit launch --module m -- --fast"),
        ("launch", {"program": "a.py", "env": {"A": "1", "B": None}}, "dapkit launch --env A=1 --env B a.py"),
        ("launch", {"program": "a.py", "stop_on_entry": False}, "dapkit launch --no-stop-on-entry a.py"),
        ("launch", {"program": "a.py", "breakpoints": ["a.py:3 if x"]}, "dapkit launch -b 'a.py:3 if x' a.py"),
        ("launch", {"program": "a.py", "options": {"a": [1]}}, "dapkit launch --options '{\"a\": [1]}' a.py"),
        ("launch", {"program": "a.py", "timeout": 60.0}, "dapkit launch --timeout 60 a.py"),
        ("breakpoints", {"numbers": [1, 2]}, "dapkit breakpoints --number 1 --number 2"),
        ("breakpoints", {"do": "clear", "numbers": [1]}, "dapkit breakpoints clear 1"),
        ("set_breakpoint", {"function": "main"}, "dapkit set-breakpoint main"),
        (
            "custom_request",
            {"command": "threads", "arguments": {"a": "é"}},
            'dapkit custom-request threads \'{"a": "é"}\'',
        ),
    ],
)
def test_line_is_what_one_would_type_and_is_read_back(action: str, arguments: Mapping[str, object], line: str) -> None:
    assert command_line(action, arguments) == line
    name, found = read_back(line)
    found.pop("cwd", None)
    assert (name, found) == (action, dict(arguments))


def test_files_are_named_from_the_folder_in_which_the_line_is_typed() -> None:
    given = {"file": "/work/src/app.py", "line": 3, "column": 5}
    assert command_line("set_breakpoint", given, folder="/work") == "dapkit set-breakpoint src/app.py:3:5"
    assert command_line("run_to", {"file": "/elsewhere/app.py", "line": 3}, folder="/work").endswith(
        " /elsewhere/app.py:3"
    )
    assert command_line("launch", {"program": "a.py", "cwd": "/work"}, folder="/work") == "dapkit launch a.py"
    assert command_line("launch", {"program": "a.py", "cwd": "/work/b"}, folder="/work") == (
        "dapkit launch --cwd b a.py"
    )


def test_line_end_stays_readable() -> None:
    assert command_line("stdin", {"input": "yes\n"}) == r"dapkit stdin $'yes\n'"


def test_what_an_action_does_not_have_or_was_given_wrong_makes_a_line_all_the_same() -> None:
    assert command_line("threads", {"nonsense": 1, "timeout": None}) == "dapkit threads"
    wrong = {"breakpoints": "app.py:3", "env": ["A"], "program": 4}
    assert command_line("launch", wrong) == f"dapkit launch -b app.py:3 --env A {json.dumps(4)}"
