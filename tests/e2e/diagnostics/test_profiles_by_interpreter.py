"""Profiles of programs of Python 3.15 by its own interpreter, where py-spy is not there."""

import subprocess
import time
from pathlib import Path

import pytest

from dapkit.agent.results.snapshot import Snapshot
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling import interpreter_sampling, py_spy
from dapkit.diagnostics.profiling.profile_recording import recorder_for
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.samples import WAITING
from dapkit.diagnostics.programs import Program
from dapkit.python.stacks.threads import NoPySpy
from e2e.diagnostics.profiled import PATIENCE, PYTHON
from interpreters import interpreter


def program_of(process: "subprocess.Popen[bytes]", folder: Path) -> Program:
    snapshot = Snapshot(
        id="busy", adapter="debugpy", status="running", cwd=str(folder), launched_at="", last_used_at="",
        output_bytes=0, output_truncated=False, needs_configuration_done=False, breakpoint_files=0,
        breakpoint_count=0, function_breakpoint_count=0, program=str(folder / "busy.py"),
    )  # fmt: skip
    return Program(process.pid, "python", snapshot, str(folder), 0.0)


def lack_py_spy() -> str:
    raise NoPySpy("py-spy is not installed")


@pytest.mark.thorough
def test_threads_of_3_15_are_seen_running_and_waiting_without_py_spy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = interpreter("3.15")
    monkeypatch.setattr(py_spy, "find_py_spy", lack_py_spy)
    (tmp_path / "busy.py").write_text(PYTHON)
    with subprocess.Popen([python, "busy.py"], cwd=tmp_path) as process:
        try:
            program = program_of(process, tmp_path)
            deadline = time.monotonic() + PATIENCE
            while True:
                profile = recorder_for(program)(program, "work", Window(1.0, "work"))
                if {"spin", "wait_for_news"} <= {row.frame.function for row in profile.functions}:
                    break
                assert time.monotonic() < deadline
            cpu = recorder_for(program)(program, "cpu", Window(1.0, "cpu"))
        finally:
            process.kill()
    waiting = {frame.function for stack in profile.stacks if stack[-1] is WAITING for frame in stack}
    assert "wait_for_news" in waiting
    assert profile.waiting_included
    assert profile.tool == "Python 3.15"
    assert profile.notes == ["By the interpreter, since: " + str(lacking())]
    assert {frame.function for stack in profile.stacks for frame in stack if frame.kind == "thread"} == {
        "MainThread", "news",
    }  # fmt: skip
    assert "wait_for_news" not in {row.frame.function for row in cpu.functions}


def lacking() -> DiagnosticsError:
    message = f"Python programs are profiled by py-spy, which is not installed: {py_spy.INSTALL}"
    return DiagnosticsError("not_installed", message)


def test_other_versions_have_no_profile_without_py_spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(py_spy, "find_py_spy", lack_py_spy)
    (tmp_path / "busy.py").write_text(PYTHON)
    with subprocess.Popen([interpreter("3.13"), "busy.py"], cwd=tmp_path) as process:
        try:
            program = program_of(process, tmp_path)
            assert interpreter_sampling.interpreter_of(program) is None
            with pytest.raises(DiagnosticsError, match="which is not installed"):
                recorder_for(program)(program, "work", Window(1.0, "work"))
        finally:
            process.kill()
