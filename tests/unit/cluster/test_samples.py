"""A state that a thread comes to while its process is read says nothing about the stack that was read."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from dapkit.cluster import samples
from dapkit.python.stacks.threads import find_py_spy

pytestmark = pytest.mark.timeout(300)

SECONDS = 30


def test_process_that_is_suspended_while_it_is_read_is_not_yet_suspended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            suspending = tmp_path / "py-spy"
            suspending.write_text(f'#!/bin/sh\n"{find_py_spy()}" "$@" && kill -STOP {process.pid} && sleep 0.2\n')
            suspending.chmod(0o755)
            with monkeypatch.context() as patched:
                patched.setattr(samples, "find_py_spy", lambda: str(suspending))
                first = read(process.pid)
            end = time.monotonic() + SECONDS
            while samples.states_of(process.pid).get(process.pid) != "T":
                assert time.monotonic() < end
                time.sleep(0.01)
            second = read(process.pid)
        finally:
            process.kill()  # a suspended process would be awaited for ever
    assert first.states.get(process.pid) != "T"
    assert second.states.get(process.pid) == "T"


def read(pid: int) -> samples.ProcessReading:
    """Read a process, as often as its stacks change meanwhile."""
    end = time.monotonic() + SECONDS
    while True:
        reading = samples.read_processes([pid])[pid]
        if reading.threads:
            return reading
        assert time.monotonic() < end, reading.problem
