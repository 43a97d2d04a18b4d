"""The command `dapkit` and the MCP server, each as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit import limits
from dapkit.hub.client import HubClient

pytestmark = pytest.mark.timeout(300)

AVERAGE = "def average(items):\n    return sum(items) / len(items)\nprint(average([1, 2]))\nprint(average([]))\n"


PATIENT_HUB = """
import runpy
from dapkit.agent import limits
from dapkit.sessions import limits as session_limits
session_limits.STOP_CAPTURE_SECONDS = limits.REPORT_SECONDS = limits.CONTENTS_SECONDS = 60.0
runpy.run_module("dapkit.agent", run_name="__main__")
"""
"""A hub that leaves nothing out of a report because the machine is busy."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a program, with a hub of its own."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("DAPKIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(folder))
    for setting in ("ADAPTER_READY", "SESSION_INITIAL_STOP", "REQUEST_TIMEOUT"):  # of a busy machine
        monkeypatch.setenv(f"DAPKIT_{setting}_SECONDS", "60")
    monkeypatch.setattr(limits, "HUB_START_SECONDS", 120.0)
    patient_hub = HubClient(str(folder), command=[sys.executable, "-P", "-c", PATIENT_HUB])
    patient_hub.connect().close()  # a command would not wait so long for it
    project = tmp_path / "project"
    project.mkdir()
    (project / "app.py").write_text(AVERAGE)
    yield project
    HubClient(str(folder)).stop()


INTERRUPTED_COMMAND = """
import signal, sys, threading
from dapkit.cli.entry import main
from dapkit.hub.connection import HubConnection
begin = HubConnection.begin
def begin_and_interrupt(self, *arguments):
    begin(self, *arguments)
    threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
HubConnection.begin = begin_and_interrupt
main()
"""
"""The command `dapkit`, with Ctrl+C while it waits for the hub's answer."""


def dapkit(project: Path, *words: str, way: tuple[str, str] = ("-m", "dapkit.cli")) -> tuple[int, str]:
    """Carry out a command; return its exit code, and what it wrote to both streams."""
    command = [sys.executable, *way, *words]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=project, **streams, text=True, encoding="utf-8", check=False)  # type: ignore[call-overload]
    return done.returncode, done.stdout


def test_session_is_had_by_commands(project: Path) -> None:
    code, stopped = dapkit(project, "launch", "-b", "app.py:2", "app.py")
    assert code == 0
    assert stopped.startswith(f"{project / 'app.py'}:2 in average\nStop 1: breakpoint")
    code, evaluated = dapkit(project, "evaluate", "len(items)")
    assert (code, evaluated.splitlines()[0]) == (0, "Result: 2")  # output of the program may follow, here and below
    code, heap = dapkit(project, "memory")
    assert (code, "objects, " in heap) == (0, True)
    assert dapkit(project, "why", "items")[0] == 5  # which needs time travel, and that needs Linux
    code, terminated = dapkit(project, "terminate")
    assert (code, terminated.splitlines()[0]) == (0, "Debug session debug-1 terminated.")
    assert dapkit(project, "hub", "stop") == (0, "The hub has ended.\n")
    assert dapkit(project, "hub", "status") == (0, "No hub runs.\n")


def test_command_says_where_a_program_crashes(project: Path) -> None:
    code, crash = dapkit(project, "run", "app.py")
    assert code == 1
    place = f"{project / 'app.py'}:2:12 in average, called from line 4\n"
    assert crash.startswith(f"{place}Exception: ZeroDivisionError: division by zero\n")
    assert crash.endswith("\nExit code: 1\n")


def test_program_that_fails_after_a_breakpoint_ends_with_its_own_exit_code(project: Path) -> None:
    code, shown = dapkit(project, "run", "-b", "app.py:2", "-e", "len(items)", "app.py")
    assert code == 1
    assert "Output:\n1.5\n(traceback of the exception above)\n\nExit code: 1\n" in shown


def test_interrupt_ends_a_command_that_waits_but_not_the_session(project: Path) -> None:
    (project / "app.py").write_text("import time\nwhile True:\n    time.sleep(0.1)\n")
    assert dapkit(project, "launch", "app.py")[0] == 0
    assert dapkit(project, "continue", "--timeout", "0")[0] == 0
    assert dapkit(project, "wait", "--timeout", "600", way=("-c", INTERRUPTED_COMMAND)) == (130, "Interrupted.\n")
    code, sessions = dapkit(project, "sessions")
    assert code == 0
    assert "running" in sessions
    assert dapkit(project, "terminate")[0] == 0


def test_recording_is_refused(project: Path) -> None:
    assert dapkit(project, "record", "app.py") == (1, "Error: recording a run needs Linux\n")


def test_agent_debugs_by_mcp(project: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    calls: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "debug", "arguments": {"action": "run", "program": "app.py"}},
        },
    ]
    command = [sys.executable, "-m", "dapkit.cli", "mcp"]
    with subprocess.Popen(command, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for call in calls:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n")
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    assert [answer["id"] for answer in answers] == [1, 2]
    [content] = answers[1]["result"]["content"]
    assert "Exception: ZeroDivisionError: division by zero" in content["text"]
    assert server.returncode == 0
