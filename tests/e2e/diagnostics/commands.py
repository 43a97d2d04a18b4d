"""The command `dapkit`, run as a user runs it, and the menu in a terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dapkit.cli import exit_codes
from screens import Terminal, terminal

SECONDS = 150
MENU = [sys.executable, "-m", "dapkit.cli", "diagnose"]


def dapkit(project: Path, *words: str, expect: int = exit_codes.DONE) -> str:
    """Run a command and return what it wrote; its errors if it is to fail."""
    command = [sys.executable, "-m", "dapkit.cli", *words]
    done = subprocess.run(
        command, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == expect, (done.stdout, done.stderr)
    return done.stderr if expect else done.stdout


def as_json(project: Path, *words: str) -> dict[str, Any]:
    """Run a command with --json and return its object."""
    found: dict[str, Any] = json.loads(dapkit(project, *words, "--json"))
    return found


def start_running(project: Path, *words: str) -> None:
    """Launch a program that stops nowhere: its start may take long, and then it is waited for only a moment."""
    command = [sys.executable, "-m", "dapkit.cli", "launch", "--no-stop-on-entry", *words]
    at_once = {**os.environ, "DAPKIT_SESSION_INITIAL_STOP_SECONDS": "1"}
    done = subprocess.run(
        command, cwd=project, env=at_once, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == exit_codes.DONE, (done.stdout, done.stderr)


@contextmanager
def menu(project: Path, entry: str, *, columns: int = 100, lines: int = 32) -> Iterator[Terminal]:
    """Open an entry of the menu by its name, in a terminal; the menu is left at the end."""
    with terminal(MENU, project, {}, columns=columns, lines=lines) as screen:
        screen.wait("Type a name, or use the arrows.")
        screen.wait_until(lambda: "There is no session" in screen.text or "Session " in screen.text, "no session shown")
        screen.type(entry)
        screen.wait(f"Name: {entry}")
        screen.type("\r")
        yield screen
