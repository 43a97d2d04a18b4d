"""Programs that read what is typed, and programs that start others."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.protocol import EvaluateArguments
from dapkit.sessions.errors import NoInput, StartFailed
from dapkit.sessions.registry import SessionRegistry
from hub_fixtures import DEBUGPY, OURS, at_text, python_start

both = pytest.mark.parametrize(
    "command", [OURS, pytest.param(DEBUGPY, marks=pytest.mark.each_adapter)], ids=["ours", "debugpy"]
)


@both
async def test_program_in_a_terminal_reads_what_is_typed(
    sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]
) -> None:
    start = python_start(
        PROGRAMS / "greeting.py", at_text("greeting.py", 'print("hello"'), command=command, console="integratedTerminal"
    )
    session = await sessions.open(tmp_path, start)
    shown = await session.wait_for_output("name? ")
    assert "terminal True" in shown.text
    await session.write_input("Ada\n")
    assert (await session.execution.wait()).stop is not None
    asked = EvaluateArguments(expression="name", frame_id=await session.requests.frame(), context="watch")
    assert (await session.requests.ask(asked)).result == "'Ada'"
    ended = await session.execution.resume()
    assert (ended.state, ended.exit_code) == ("terminated", 4)
    assert session.output.read("stdout", since=shown.end).text.endswith("hello Ada\r\n")


async def test_program_without_a_terminal_reads_nothing_of_ours(sessions: SessionRegistry, tmp_path: Path) -> None:
    session = await sessions.open(tmp_path, python_start(PROGRAMS / "greeting.py"))
    with pytest.raises(NoInput, match="Launch it with its console in a terminal"):
        await session.write_input("Ada\n")
    assert (await session.execution.wait()).state == "terminated"
    assert "EOFError" in session.output.read("stderr").text


async def test_end_of_input_is_typed_too(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "counts.py"
    program.write_text("import sys\nprint('lines', len(sys.stdin.readlines()))\n")
    session = await sessions.open(tmp_path, python_start(program, console="integratedTerminal"))
    await session.write_input("one\ntwo\n", end=True)
    assert (await session.execution.wait()).state == "terminated"
    assert session.output.read("stdout").text.endswith("lines 2\r\n")


@both
@pytest.mark.thorough
async def test_child_process_stops_in_the_foreground_and_its_parent_comes_back(
    sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]
) -> None:
    start = python_start(PROGRAMS / "parent.py", at_text("child.py", "return result"), command=command)
    session = await sessions.open(tmp_path, start)
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.target, stop.line) == (1, line_of("child.py", "return result"))
    assert stop.hit_breakpoints == (1,)
    assert session.breakpoints.get(1).verified
    asked = EvaluateArguments(expression="result", frame_id=await session.requests.frame(), context="watch")
    assert (await session.requests.ask(asked)).result == "42"
    ended = await session.execution.resume()
    assert (ended.state, ended.exit_code) == ("terminated", 0)
    assert session.output.read("stdout").text.splitlines() == ["child 42", "parent done"]


@both
async def test_program_reads_a_file_as_its_input(
    sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]
) -> None:
    program, text = tmp_path / "counts.py", tmp_path / "input.txt"
    program.write_text(
        "import sys\nprint('read', len(sys.stdin.read()), sys.stdin.isatty(), sys.stdout.isatty())\n"
        "print('of', sys.stderr.isatty(), file=sys.stderr)\n"
    )
    text.write_text("x" * 10_000)
    start = python_start(program, command=command, console="integratedTerminal")
    session = await sessions.open(tmp_path, replace(start, input=text))
    assert (await session.execution.wait()).state == "terminated"
    assert session.output.read("stdout").text == "read 10000 False False\n"
    assert session.output.read("stderr").text == "of False\n"


async def test_input_that_cannot_be_read_fails_the_start(sessions: SessionRegistry, tmp_path: Path) -> None:
    start = python_start(PROGRAMS / "greeting.py", console="integratedTerminal")
    with pytest.raises(StartFailed, match="cannot be read as the program's input: No such file"):
        await sessions.open(tmp_path, replace(start, input=tmp_path / "missing"))
