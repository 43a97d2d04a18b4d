"""Programs whose stacks are read, and `dapkit stacks`."""

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dapkit.cli import exit_codes

_WITHOUT_PY_SPY = "import shutil; shutil.which = lambda *_, **__: None\nfrom dapkit.cli.main import dapkit; dapkit()"


@contextmanager
def plain(text: str, folder: Path, python: str) -> Iterator[int]:
    """Start a program and wait until it is ready; yield its process id."""
    file = folder / "prog.py"
    file.write_text(textwrap.dedent(text).lstrip("\n"))
    with subprocess.Popen([python, str(file)], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process.pid
        finally:
            process.kill()


def dumped(pid: int, *options: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", "dapkit.cli", "stacks", str(pid), *options], capture_output=True, text=True, check=False
    )
    assert answer.returncode == exit_codes.DONE, answer.stderr
    return answer.stdout


def dumped_once(pid: int, expected: str) -> str:
    """Return what is shown once that contains something: the program is on its way there."""
    while expected not in (shown := dumped(pid)):
        time.sleep(0.1)
    return shown


def dumped_json_once(pid: int, *names: str) -> dict[str, Any]:
    """Return everything as JSON, once there are tasks of these names."""
    while True:
        found: dict[str, Any] = json.loads(dumped(pid, "--json"))
        if {*names} <= {task["name"] for task in found["tasks"] or ()}:
            return found
        time.sleep(0.1)


def dump_without_py_spy(pid: int, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _WITHOUT_PY_SPY, "stacks", str(pid), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def number_of(found: dict[str, Any], name: str) -> int:
    """Return the number of a thread that was dumped."""
    return next(int(thread["id"]) for thread in found["threads"] if thread["name"] == name)
