"""Restarts: breakpoints stay, follow their lines through edits, and say what became of them."""

from pathlib import Path

import anyio.lowlevel
import pytest

from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.protocol import EvaluateArguments
from dapkit.sessions.errors import Misplaced
from dapkit.sessions.registry import SessionRegistry
from hub_fixtures import python_start

PROGRAM = """\
def add(left, right):
    total = left + right
    return total


print("first", add(1, 2))
print("second", add(3, 4))
"""


def edit(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that tests edit."""
    path = tmp_path / "adding.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.thorough
async def test_breakpoints_follow_their_lines_when_the_file_was_edited(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    start = python_start(
        program,
        BreakpointSpec(SourceLocation(program, text="return total")),
        BreakpointSpec(SourceLocation(program, 7)),
    )
    session = await sessions.open(tmp_path, start)
    first = (await session.execution.wait()).stop
    assert first is not None
    assert (first.line, first.hit_breakpoints) == (3, (1,))

    edit(program, "# a line that was not there\n" + PROGRAM.replace('print("first"', "print('1st'"))
    await session.restart()
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.number, stop.line, stop.hit_breakpoints) == (2, 4, (1,))
    by_text, by_line = session.breakpoints
    assert by_text.remarks == ("moved from line 3 to 4: the file was edited",)
    assert (by_line.line, by_line.remarks) == (8, ("moved from line 7 to 8: the file was edited",))
    second = (await session.execution.resume()).stop
    assert second is not None
    assert (second.line, second.hit_breakpoints) == (8, (2,))
    await session.terminate()


@pytest.mark.thorough
async def test_breakpoint_whose_text_has_gone_says_so(sessions: SessionRegistry, tmp_path: Path, program: Path) -> None:
    session = await sessions.open(
        tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, text="return total")))
    )
    await session.execution.wait()
    edit(program, PROGRAM.replace("total", "summe"))
    await session.restart()
    assert (await session.execution.wait()).state == "terminated"
    [placed] = session.breakpoints
    assert not placed.verified
    assert "has no line with 'return total'" in placed.remarks[0]
    assert "The most similar is line 3: 'return summe'." in placed.remarks[0]


async def test_ended_program_is_started_again_with_what_was_set_meanwhile(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    session = await sessions.open(tmp_path, python_start(program))
    assert (await session.execution.wait()).state == "terminated"
    placed = await session.breakpoints.set(
        BreakpointSpec(SourceLocation(program, text="return total"), condition="left == 3")
    )
    assert placed.remarks == ("not set yet: it will be with the next start of the program",)
    await session.restart()
    assert (await session.execution.wait()).stop is not None
    asked = EvaluateArguments(expression="total", frame_id=await session.requests.frame(), context="watch")
    assert (await session.requests.ask(asked)).result == "7"
    assert session.breakpoints.get(placed.number).remarks == ()
    await session.terminate()


async def test_text_that_is_on_several_lines_has_to_be_chosen_from(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    session = await sessions.open(
        tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, text="return total")))
    )
    await session.execution.wait()
    with pytest.raises(Misplaced, match="on 2 lines: 6, 7"):
        await session.breakpoints.set(BreakpointSpec(SourceLocation(program, text="print(")))
    placed = await session.breakpoints.set(BreakpointSpec(SourceLocation(program, 7, text="print(")))
    assert placed.line == 7
    again = await session.breakpoints.set(BreakpointSpec(SourceLocation(program, 7), condition="False"))
    assert (again.number, again.spec.condition) == (placed.number, "False")
    await session.breakpoints.enable(again.number, enabled=False)
    assert not session.breakpoints.get(again.number).spec.enabled
    await session.terminate()


async def test_two_callers_that_continue_at_once_get_the_same_stop(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    session = await sessions.open(
        tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, text="return total")))
    )
    await session.execution.wait()
    answers: list[object] = []

    async def go_on() -> None:
        answers.append(await session.execution.resume())

    async with anyio.create_task_group() as callers:
        callers.start_soon(go_on)
        callers.start_soon(go_on)
    assert answers[0] == answers[1]
    assert session.state.stop is not None
    assert session.state.stop.number == 2
    await session.terminate()


@pytest.mark.thorough
async def test_given_up_wait_leaves_the_program_running(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    edit(program, "import time\nwhile True:\n    time.sleep(0.01)\n")
    session = await sessions.open(tmp_path, python_start(program))
    async with anyio.create_task_group() as callers:
        callers.start_soon(session.execution.resume)
        await anyio.lowlevel.checkpoint()
        callers.cancel_scope.cancel()
    assert session.state.status == "running"
    assert (await session.execution.pause()).stop is not None
    await session.terminate()


@pytest.mark.thorough
async def test_run_to_a_line_leaves_no_breakpoint(sessions: SessionRegistry, tmp_path: Path, program: Path) -> None:
    session = await sessions.open(tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 6))))
    await session.execution.wait()
    stop = (await session.execution.run_to(SourceLocation(program, text="return total"))).stop
    assert stop is not None
    assert stop.line == 3
    assert len(list(session.breakpoints)) == 1
    await session.terminate()


@pytest.mark.thorough
async def test_run_to_a_line_stops_at_a_breakpoint_that_would_not(
    sessions: SessionRegistry, tmp_path: Path, program: Path
) -> None:
    never = BreakpointSpec(SourceLocation(program, text="return total"), condition="False")
    session = await sessions.open(tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 6)), never))
    await session.execution.wait()
    stop = (await session.execution.run_to(SourceLocation(program, 3))).stop
    assert stop is not None
    assert (stop.line, stop.hit_breakpoints) == (3, (2,))
    assert [placed.spec for placed in session.breakpoints][1] == never
    assert (await session.execution.resume()).state == "terminated"
