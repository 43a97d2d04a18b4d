"""The plainest command lines are read as click reads them, and by nothing that takes as long to import."""

import shlex
import subprocess
import sys

import click
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from dapkit.agent.command_words import OWN_COMMANDS, WITH_PROGRAM, flags
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli import actions
from dapkit.cli.arguments import WrongWords, parameters
from dapkit.cli.fast_parser import Unclear, read

HARMLESS = st.sampled_from(
    ["app.py:12", "main", "5", "0", "1.5", ".5", "x=1", "raised", "{}", "", "-", "--", "1_0", "٣"]
)
AROUND = [("--session", "one"), ("-s", "two"), ("--project", "/x"), ("--json",), ("--read-only",), ("--help",)]


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Make an action with options of its own and words beside them, which may go together or not."""
    name = draw(st.sampled_from(sorted(ACTIONS)))
    words = [name]
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            words.append(draw(HARMLESS))
        elif kind == 1:
            words += draw(st.sampled_from(AROUND))
        else:
            parameter = draw(st.sampled_from(ACTIONS[name]["parameters"]))
            row = PARAMETERS[parameter]
            flag = draw(st.sampled_from([*flags(parameter), f"--no-{parameter}"]))
            value = draw(st.sampled_from(row["choices"]) if row["choices"] else HARMLESS)
            words += [flag] if row["type"] == "boolean" else [flag, value]
    return words


def read_by_click(words: list[str]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the parameters that click comes to, and the rest."""
    name, *rest = words
    made = actions.command(name).make_context(name, rest).params
    around = {key: made.pop(key) for key in ("session", "project", "read_only", "as_json")}
    return parameters(name, made), around


@drawn(lines())
def test_what_is_read_without_click_is_what_click_reads(words: list[str]) -> None:
    try:
        name, found = read(words)
        plainly = parameters(name, found)
    except (Unclear, WrongWords):
        return
    around = {key: found[key] for key in ("session", "project", "read_only", "as_json")}
    assert (plainly, around) == read_by_click(words)


@pytest.mark.parametrize("name", ACTIONS)
def test_example_of_an_action_needs_no_click_unless_a_program_has_options(name: str) -> None:
    _, *words = shlex.split(actions.example(name))
    if name in (*OWN_COMMANDS, *WITH_PROGRAM, "compare_runs", "launch"):  # the last has an argument with dashes
        with pytest.raises(Unclear):
            read(words)
    else:
        read(words)


@pytest.mark.parametrize("variable", ["_DAPKIT_COMPLETE", "DAPKIT_READ_ONLY"])
def test_variables_that_click_reads_leave_the_line_to_it(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(Unclear):
        read(["threads"])


def test_session_and_project_are_taken_from_variables_as_click_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_SESSION", "one")
    monkeypatch.setenv("DAPKIT_PROJECT", "some/folder")
    _, found = read(["threads"])
    _, around = read_by_click(["threads"])
    assert {key: found[key] for key in around} == around


def test_wrong_words_are_refused_by_click() -> None:
    name, found = read(["set_breakpoint", "app.py:3", "--line", "4"])
    with pytest.raises(WrongWords, match="line was given twice"):
        parameters(name, found)
    with pytest.raises(click.UsageError, match="line was given twice"):
        actions.command(name).main(["app.py:3", "--line", "4"], standalone_mode=False)


def test_entry_imports_nothing_that_takes_long() -> None:
    imported = "import sys; before = set(sys.modules); import dapkit.cli.entry; print(*set(sys.modules) - before)"
    listed = subprocess.run([sys.executable, "-I", "-c", imported], capture_output=True, text=True, check=True)
    assert not {"click", "typing", "inspect", "dataclasses", "shutil", "asyncio"} & set(listed.stdout.split())
