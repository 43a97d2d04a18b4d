"""Helpers of the tests of jobs: waiting for what a job has not come to yet, and reading answers of the command."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dapkit.system.this_system import SYSTEM

SECONDS = 120.0

type Dapkit = Callable[..., tuple[int, str]]
"""Runs the command in a project of its own, and returns its exit code and its output."""

type StartJob = Callable[..., int]
"""Starts ranks and returns the launcher's process id: `start("mpi" | "store", *command, ranks=8, restarts=0)`."""


def until[T](get: Callable[[], T], fits: Callable[[T], bool]) -> T:
    """Return a value once it fits."""
    end = time.monotonic() + SECONDS
    while not fits(value := get()):
        assert time.monotonic() < end, value
        time.sleep(0.1)
    return value


def details(answer: tuple[int, str]) -> Any:  # noqa: ANN401 - any JSON
    """Return the details of an answer as JSON, which must be a success."""
    code, text = answer
    assert code == 0, text
    return json.loads(text)["details"]


def marked_line(file: Path, mark: str) -> int:
    """Return the number of the line that ends with a comment."""
    lines = file.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def may_make_namespaces() -> bool:
    """Return whether the system lets us make machines of our own: root may, but not in each container."""
    command = ["unshare", "--uts", "--net", "--pid", "--fork", "--mount-proc", "true"]
    try:
        return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def relays() -> list[int]:
    """Return the processes of this test that carry connections to members on other machines; orphans are ours."""
    return [pid for pid in SYSTEM.descendants(os.getpid()) if _is_relay(Path("/proc", str(pid)))]


def _is_relay(process: Path) -> bool:
    try:
        return b"\0dapkit.cluster.relay\0" in (process / "cmdline").read_bytes()
    except OSError:
        return False
