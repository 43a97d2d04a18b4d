"""A session from its start to its end, by Python adapters."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.protocol import EvaluateArguments, ScopesArguments, StackTraceArguments, VariablesArguments
from dapkit.sessions.errors import NameTaken, NoFrame, NoSession, NotStopped, StaleReference, StartFailed
from dapkit.sessions.registry import SessionRegistry
from hub_fixtures import DEBUGPY, OURS, at_text, python_start

SUMS = PROGRAMS / "sums.py"
TOTAL = line_of("sums.py", "total = left")

both = pytest.mark.parametrize(
    "command", [OURS, pytest.param(DEBUGPY, marks=pytest.mark.each_adapter)], ids=["ours", "debugpy"]
)


@both
async def test_whole_session(sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]) -> None:
    session = await sessions.open(tmp_path, python_start(SUMS, at_text("sums.py", "total = left"), command=command))
    assert (session.name, session.state.status in ("running", "stopped")) == ("debug-1", True)
    outcome = await session.execution.wait()
    stop = outcome.stop
    assert stop is not None
    assert (stop.number, stop.reason, stop.line, stop.frame_name) == (1, "breakpoint", TOTAL, "add")
    assert stop.path == str(SUMS)
    assert stop.hit_breakpoints == (1,)

    scopes = (await session.requests.ask(ScopesArguments(frame_id=await session.requests.frame()))).scopes
    asked = VariablesArguments(variables_reference=scopes[0].variables_reference)
    assert {one.name: one.value for one in (await session.requests.ask(asked)).variables}["right"] == "10"

    stepped = await session.execution.resume("next")
    assert stepped.stop is not None
    assert (stepped.stop.number, stepped.stop.reason, stepped.stop.line) == (2, "step", TOTAL + 1)
    with pytest.raises(StaleReference, match="reference from stop 1, now at stop 2"):
        await session.requests.ask(asked)

    assert (await session.execution.resume()).state == "stopped"
    await session.breakpoints.clear()
    ended = await session.execution.resume()
    assert (ended.state, ended.exit_code) == ("terminated", 3)
    assert session.output.read("stdout").text == "sum 33\n"
    assert (session.state.status, session.state.ending) == ("terminated", "the program ended with exit code 3")
    with pytest.raises(NoFrame):
        await session.requests.frame()


@both
async def test_frames_are_chosen_by_index(sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]) -> None:
    session = await sessions.open(tmp_path, python_start(SUMS, at_text("sums.py", "total = left"), command=command))
    await session.execution.wait()
    thread = await session.requests.thread()
    frames = (await session.requests.ask(StackTraceArguments(thread_id=thread))).stack_frames
    assert frames[0].id == await session.requests.frame()
    assert frames[1].id == await session.requests.frame(index=1)
    caller = EvaluateArguments(expression="__name__", frame_id=frames[1].id, context="watch")
    assert (await session.requests.ask(caller)).result == "'__main__'"
    await session.terminate()


@pytest.mark.thorough
async def test_sessions_of_two_projects_do_not_meet(sessions: SessionRegistry, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    start = python_start(SUMS, at_text("sums.py", "total = left"))
    first = await sessions.open(one, start)
    second = await sessions.open(other, start)
    assert (first.name, second.name) == ("debug-1", "debug-1")
    assert sessions.find(one) is first
    assert sessions.find(other) is second
    with pytest.raises(NameTaken):
        await sessions.open(one, start, name="debug-1")
    with pytest.raises(NoSession):
        sessions.find(tmp_path)


async def test_deadline_leaves_the_program_running_and_pause_stops_it(
    sessions: SessionRegistry, tmp_path: Path
) -> None:
    program = tmp_path / "forever.py"
    program.write_text("import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    session = await sessions.open(tmp_path, python_start(program))
    outcome = await session.execution.resume(deadline=0.05)
    assert (outcome.state, outcome.timed_out) == ("running", True)
    with pytest.raises(NotStopped):
        await session.requests.frame()
    paused = await session.execution.pause()
    assert paused.stop is not None
    assert paused.stop.reason == "pause"
    await session.terminate()
    assert (session.state.status, session.state.ending) == ("terminated", "it was terminated")


async def test_refused_start_leaves_no_session(sessions: SessionRegistry, tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="launch failed"):
        await sessions.open(tmp_path, python_start(tmp_path / "missing.py"))
    assert sessions.of(tmp_path) == ()
