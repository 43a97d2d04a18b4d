"""Whatever is killed, nothing is left of it, and the next command works: with real adapters and programs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapkit.system.signals import KILL
from e2e.hub.debugger import Debugger
from e2e.hub.processes import ended, family, runs
from e2e.hub.programs import LINE, Debuggee, RequireTool, c_program, python_program

CALLING = Path(__file__).with_name("calling_command.py")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(
    params=["ours", *(pytest.param(name, marks=pytest.mark.each_adapter) for name in ("debugpy", "lldb-dap"))]
)
def debuggee(request: pytest.FixtureRequest, project: Path, require_tool: RequireTool) -> Debuggee:
    """Return a program that turns until it is ended, with each adapter."""
    if request.param == "lldb-dap":
        return c_program(project, require_tool)
    return python_program(project, adapter=request.param)


@contextmanager
def calling(folder: Path, project: Path, name: str, arguments: dict[str, object]) -> Iterator[subprocess.Popen[str]]:
    """Make a call from a process of its own."""
    command = [sys.executable, str(CALLING), str(folder), "debugging_hub", str(project), name, json.dumps(arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as caller:
        try:
            yield caller
        finally:
            caller.kill()


def assert_all_end(processes: dict[int, str]) -> None:
    assert [command for pid, command in processes.items() if not ended(pid)] == []


def works(debugger: Debugger, debuggee: Debuggee) -> bool:
    """Say whether a whole session can be had."""
    again = Debugger(debugger.hub_client, debugger.project)
    again.stop_at_the_line(debuggee)
    again.call("terminate")
    assert_all_end(again.started())
    return True


@pytest.mark.thorough
def test_killed_hub_takes_adapter_and_program_along(debugger: Debugger, debuggee: Debuggee) -> None:
    debugger.stop_at_the_line(debuggee)
    started = debugger.started()
    os.kill(debugger.hub, KILL)
    assert_all_end(started)
    assert works(debugger, debuggee)


@pytest.mark.thorough
def test_killed_hub_takes_a_running_program_along(debugger: Debugger, debuggee: Debuggee) -> None:
    debugger.launch(debuggee)
    assert debugger.call("wait", timeout=0.1)["status"] == "running"
    started = debugger.started()
    os.kill(debugger.hub, KILL)
    assert_all_end(started)


@pytest.mark.thorough
def test_killed_hub_takes_along_what_has_left_the_session_of_its_program(debugger: Debugger, project: Path) -> None:
    text = """\
import pathlib, subprocess
daemon = subprocess.check_output(["sh", "-c", "setsid sleep 60 >&2 & echo $!"], text=True)
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
pathlib.Path("pids").write_text(f"{child.pid} {daemon}")
child.wait()
"""
    debugger.launch(python_program(project, text), 5)
    assert debugger.call("wait", timeout=40)["status"] == "stopped"
    left = [int(pid) for pid in (project / "pids").read_text().split()]
    os.kill(debugger.hub, KILL)
    assert_all_end(dict.fromkeys(left, "a child"))


@pytest.mark.thorough
def test_hub_killed_while_it_starts_a_session_leaves_nothing(
    folder: Path, project: Path, debugger: Debugger, debuggee: Debuggee
) -> None:
    seen: dict[int, str] = {}
    with calling(folder, project, "launch", debuggee.launch(LINE)) as caller:
        while not any(debuggee.adapter[-1] in command for command in seen.values()):
            seen |= debugger.started()
        os.kill(debugger.hub, KILL)
        seen |= debugger.started()
        assert "HubLost: the hub" in caller.communicate()[1]
    assert_all_end(seen)


@pytest.mark.thorough
def test_hub_told_to_stop_ends_everything_before_it_is_gone(debugger: Debugger, debuggee: Debuggee) -> None:
    debugger.stop_at_the_line(debuggee)
    started = debugger.started()
    assert debugger.hub_client.stop()
    assert [command for pid, command in started.items() if runs(pid)] == []


@pytest.mark.thorough
def test_killed_adapter_ends_its_session_and_no_other(debugger: Debugger, debuggee: Debuggee) -> None:
    debugger.stop_at_the_line(debuggee)
    started = debugger.started()
    os.kill(debugger.process_of(*debuggee.adapter), KILL)
    debugger.wait_for_end("debug-1")
    assert_all_end(started)
    assert works(debugger, debuggee)
    assert runs(debugger.hub)


@pytest.mark.thorough
def test_killed_program_ends_its_session(debugger: Debugger, debuggee: Debuggee) -> None:
    debugger.stop_at_the_line(debuggee)
    started = debugger.started()
    os.kill(debugger.process_of(str(debuggee.program)), KILL)
    debugger.wait_for_end("debug-1")
    assert_all_end(started)
    assert runs(debugger.hub)


@pytest.mark.thorough
def test_killed_caller_leaves_its_session_as_it_is(
    folder: Path, project: Path, debugger: Debugger, debuggee: Debuggee
) -> None:
    debugger.launch(debuggee)
    with calling(folder, project, "continue", {"timeout": 30}) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "running\n"
        caller.kill()
    assert debugger.call("wait", timeout=0.1)["status"] == "running"
    debugger.call("terminate")


@pytest.mark.thorough
def test_caller_killed_while_it_launches_leaves_nothing_behind(
    folder: Path, project: Path, debugger: Debugger, debuggee: Debuggee
) -> None:
    with calling(folder, project, "launch", debuggee.launch(LINE)) as caller:
        while not debugger.started():
            assert caller.poll() is None
        caller.kill()
    deadline, quiet = time.monotonic() + 60, 0  # between two processes of a launch there may be none for a moment
    while quiet < 40 and time.monotonic() < deadline:
        quiet = 0 if debugger.started() else quiet + 1
        time.sleep(0.05)
    assert debugger.started() == {}
    assert debugger.call("status")["sessions"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("milliseconds", [50, 300, 700, 1500])
@pytest.mark.parametrize("adapter", ["ours", pytest.param("lldb-dap", marks=pytest.mark.each_adapter)])
def test_hub_killed_at_any_moment_leaves_nothing(
    folder: Path, debugger: Debugger, adapter: str, milliseconds: int, require_tool: RequireTool
) -> None:
    project = debugger.project
    debuggee = python_program(project) if adapter == "ours" else c_program(project, require_tool)
    seen: dict[int, str] = {}
    with calling(folder, project, "launch", debuggee.launch(LINE)) as caller:
        moment = time.monotonic() + milliseconds / 1000  # which one is the point
        while time.monotonic() < moment:
            seen |= debugger.started()
        seen |= debugger.started()
        os.kill(debugger.hub, KILL)
        caller.wait()
    assert_all_end(seen)
    assert Debugger(debugger.hub_client, project).hub != debugger.hub
    assert debugger.hub_client.stop()  # a caller that came only after the kill has its session in this one
    deadline = time.monotonic() + 60  # what was started after the last look at the hub may still be ending
    while programs_of(project) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert programs_of(project) == {}


def programs_of(project: Path) -> dict[int, str]:
    """Return what runs of a project among all that came from this test, orphans included."""
    return {pid: command for pid, command in family(os.getpid()).items() if str(project) in command}
