"""Work profiles and CPU profiles of programs of real sessions."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dapkit.cli import exit_codes
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.samples import WAITING
from dapkit.diagnostics.profiling.work import work
from dapkit.diagnostics.programs import program_of
from dapkit.diagnostics.sessions import Where
from e2e.diagnostics.commands import as_json, dapkit, start_running
from e2e.diagnostics.profiled import GO, GO_WITHOUT_SERVER, PATIENCE, PYTHON, C, LongWork, running, seen
from private_files import is_for_its_owner

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(240)]


def hottest(profile: Profile) -> str:
    """Return the function with the most samples that ran."""
    return max(profile.functions, key=lambda row: row.own - row.waiting).frame.function if profile.samples else ""


def waits(profile: Profile, function: str) -> bool:
    """Whether a function is on a stack that waits."""
    return any(stack[-1] is WAITING and function in {frame.function for frame in stack} for stack in profile.stacks)


@pytest.mark.thorough
def test_python_threads_are_seen_running_and_waiting_without_those_of_the_debugger(project: Path) -> None:
    where = running(project, "busy.py", PYTHON)
    found = seen(where, lambda profile: hottest(profile) == "spin" and waits(profile, "wait_for_news"))
    profile = found.profile
    assert (profile.tool, profile.waiting_included, profile.complete) == ("py-spy", True, True)
    assert not waits(profile, "spin")
    frames = {frame for stack in profile.stacks for frame in stack}
    assert {frame.function for frame in frames if frame.kind == "thread"} == {"MainThread", "news"}
    assert [frame for frame in frames if "debuggee" in frame.place] == []
    assert profile.hidden > 0
    assert "<module> (busy.py)" in found.as_text()
    assert is_for_its_owner(found.path)
    assert found.path.parent == Path(as_json(project, "open-artifacts")["folder"])
    assert ET.parse(found.path).getroot().tag.endswith("svg")  # noqa: S314 - what we have written ourselves


@pytest.mark.thorough
def test_native_program_is_seen_by_perf(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("perf")
    require_tool("lldb-dap-22")
    (project / "busy.c").write_text(C)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-pthread", "-o", "busy", "busy.c"], cwd=project, check=True)
    start_running(project, "--adapter", "lldb-dap", "busy")
    profile = seen(Where.of(project), lambda profile: hottest(profile) == "spin").profile
    assert (profile.tool, profile.waiting_included) == ("perf", False)
    assert "main" in {frame.function for stack in profile.stacks for frame in stack}
    assert "Only time on a processor" in profile.as_text()


def launch_go(project: Path, text: str, require_tool: Callable[[str], Path]) -> Where:
    require_tool("go")
    require_tool("dlv")
    (project / "go.mod").write_text("module example.com/busy\n\ngo 1.19\n")
    (project / "main.go").write_text(text.lstrip())
    dapkit(project, "launch", "-b", "main.spin", "--timeout", "200", ".")  # which builds it
    dapkit(project, "remove-breakpoint", "main.spin")
    dapkit(project, "continue", "--timeout", "5")
    return Where.of(project)


@pytest.mark.thorough
def test_go_program_gives_its_own_profile(project: Path, require_tool: Callable[[str], Path]) -> None:
    where = launch_go(project, GO, require_tool)
    assert program_of(where).language == "go"
    profile = seen(where, lambda profile: hottest(profile) == "main.spin").profile
    assert (profile.tool, profile.waiting_included) == ("net/http/pprof", False)
    profile = LongWork(where).end().profile
    assert not profile.complete
    assert hottest(profile) in {"main.spin", ""}


@pytest.mark.thorough
def test_go_program_without_a_server_is_seen_by_perf(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("perf")
    where = launch_go(project, GO_WITHOUT_SERVER, require_tool)
    profile = seen(where, lambda profile: hottest(profile) == "main.spin").profile
    assert profile.tool == "perf"
    [note] = profile.notes
    assert 'import _ "net/http/pprof"' in note


@pytest.mark.thorough
def test_profile_that_is_ended_early_has_what_was_seen(project: Path) -> None:
    found = LongWork(running(project, "busy.py", PYTHON)).end()
    assert not found.profile.complete
    assert found.profile.seconds < 300
    assert hottest(found.profile) == "spin"
    assert "ended early" in found.as_text()


@pytest.mark.thorough
def test_hub_answers_while_a_profile_is_recorded(project: Path) -> None:
    recorded = LongWork(running(project, "busy.py", PYTHON))
    assert [thread["name"] for thread in as_json(project, "threads")["details"]["threads"]] == ["MainThread", "news"]
    assert as_json(project, "sessions")["details"]["sessions"][0]["status"] == "running"
    assert not recorded.end().profile.complete


@pytest.mark.thorough
def test_program_is_the_same_after_a_profile(project: Path) -> None:
    where = running(project, "busy.py", PYTHON.replace("        spin()", "        spin(); time.sleep(0.001)"))
    process = Path(f"/proc/{program_of(where).pid}")

    def state() -> tuple[list[str], list[str], list[str]]:
        descriptors = sorted(str(entry.readlink()) for entry in (process / "fd").iterdir())
        threads = sorted(entry.name for entry in (process / "task").iterdir())
        fields = [
            line
            for line in (process / "status").read_text().splitlines()
            if line.startswith(("Tracer", "SigPnd", "SigBlk", "SigIgn", "SigCgt"))
        ]
        return descriptors, threads, fields

    before = state()
    work(where, seconds=1)
    assert state() == before
    dapkit(project, "set-breakpoint", "busy.py:7")
    assert as_json(project, "pause")["details"]["snapshot"]["status"] == "stopped"
    assert as_json(project, "evaluate", "2 + 3")["details"]["evaluation"]["result"] == "5"


@pytest.mark.thorough
def test_program_that_is_stopped_is_not_profiled(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    for entry in ("work", "performance"):
        error = dapkit(project, entry, expect=exit_codes.WRONG_STATE)
        assert "is stopped (breakpoint)" in error
        assert "Continue it first: dapkit continue" in error


@pytest.mark.thorough
def test_program_that_ends_meanwhile_leaves_its_profile(project: Path) -> None:
    where = running(project, "busy.py", PYTHON)
    recorded = LongWork(where)
    os.kill(program_of(where).pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while recorded.alive and time.monotonic() < deadline:
        time.sleep(0.05)
    found = recorded.end()
    assert not found.profile.complete
    assert "The program has ended meanwhile." in found.as_text()
    with pytest.raises(DiagnosticsError, match="has ended"):
        work(where, seconds=1)


@pytest.mark.thorough
@pytest.mark.parametrize("entry", ["work", "performance"])
def test_missing_extra_is_named_with_its_install_line(project: Path, entry: str) -> None:
    running(project, "busy.py", PYTHON)
    script = "import shutil; shutil.which = lambda *_, **__: None\nfrom dapkit.cli.main import dapkit; dapkit()"
    command = [sys.executable, "-c", script, entry, "--json"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == exit_codes.NO_ADAPTER
    error = json.loads(done.stdout)["error"]
    assert (error["code"], "pip install 'dapkit[profile]'" in error["message"]) == ("not_installed", True)


@pytest.mark.thorough
def test_command_shows_the_text_in_a_pipe_and_says_where_the_picture_is(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    command = [sys.executable, "-m", "dapkit.cli", "work", "--seconds", "1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.startswith("Work profile of busy.py, process ")
    path = Path(done.stderr.strip().removeprefix("Flame graph: "))
    assert path.read_text().startswith("<svg ")
    shown = as_json(project, "work", "--seconds", "1")
    assert (shown["kind"], shown["waitingIncluded"], Path(shown["path"]).exists()) == ("work", True, True)


def tools_of(pid: int) -> set[int]:
    """Return the processes of py-spy that a process has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child) for child in children if name_of(child) == "py-spy\n"}


def name_of(pid: str) -> str:
    """Return what a process is called; nothing of one that has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_for(fact: Callable[[], bool], failure: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < deadline, failure
        time.sleep(0.02)


@pytest.mark.thorough
def test_tools_end_with_a_command_that_is_killed(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    with subprocess.Popen([sys.executable, "-m", "dapkit.cli", "work"], cwd=project) as command:
        wait_for(lambda: len(tools_of(command.pid)) == 3, "py-spy was not started")
        tools = tools_of(command.pid)
        command.kill()
    wait_for(lambda: not [pid for pid in tools if Path(f"/proc/{pid}/exe").exists()], "py-spy runs on")


@pytest.mark.thorough
def test_performance_is_a_report_with_both_profiles(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    shown = as_json(project, "performance", "--seconds", "1", "--work-seconds", "1")
    assert Path(shown["path"]).name.startswith("performance-")
    assert (shown["cpu"]["waitingIncluded"], shown["work"]["waitingIncluded"]) == (False, True)
    with tarfile.open(shown["path"]) as tar:
        files = {entry.name: entry for entry in tar}
        endings = ("txt", "svg", "json", "folded")
        assert {f"profiles/{name}.{ending}" for name in ("cpu", "work") for ending in endings} < set(files)
        assert {"README.md", "profiles/README.md", "session.json", "system.txt", "wire.jsonl"} < set(files)
        for name in ("profiles/cpu.json", "profiles/work.json"):
            content = tar.extractfile(name)
            assert content is not None
            assert json.load(content)["pid"] == shown["cpu"]["pid"]
    assert is_for_its_owner(Path(shown["path"]))


@pytest.mark.thorough
def test_ctrl_c_ends_each_profile_of_performance_with_what_it_has(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    command = [sys.executable, "-m", "dapkit.cli", "performance", "--json"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
        first: set[int] = set()
        for _ in range(2):
            wait_for(lambda: len(tools_of(process.pid) - first) == 3, "py-spy was not started")  # noqa: B023 - called here
            first = tools_of(process.pid)
            process.send_signal(signal.SIGINT)
        written, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_codes.DONE
    shown = json.loads(written)
    assert shown["complete"]
    assert shown["work"]["complete"] is False
