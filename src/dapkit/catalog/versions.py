"""Versions that programs report, asked with a deadline.

An answer is kept while the program's file is unchanged: an update is seen at once.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from dapkit.catalog import limits
from dapkit.system.signals import KILL
from dapkit.system.started_processes import APART
from dapkit.system.this_system import SYSTEM

_VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)*)")

type Version = tuple[int, ...]


def version_told(command: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """Return the version that a command prints; None if it fails, or prints none in time."""
    output = answer(command, env)
    match = None if output is None else _VERSION.search(output)
    return None if match is None else match[1]


def numbers(version: str) -> Version:
    """Return a version as numbers that compare: (14, 1)."""
    return tuple(int(part) for part in version.split("."))


_ANSWERS: dict[tuple[object, ...], str] = {}
"""The answers of programs; a failure is not kept, since a busy machine may have caused it."""


def answer(command: tuple[str, ...], env: Mapping[str, str], cwd: Path = Path(os.sep)) -> str | None:
    """Return the output of a command; None if it fails, or does not end in time.

    It is started in the root folder unless another is given: `python -m` would load modules of the project.
    """
    try:
        state = Path(command[0]).stat()
    except OSError:
        return None
    key = (command, state.st_mtime_ns, state.st_size, tuple(sorted(env.items())), cwd)
    if (earlier_answer := _ANSWERS.get(key)) is not None:
        return earlier_answer
    output = _asked(command, env, cwd)
    if output is not None:
        if len(_ANSWERS) >= limits.VERSIONS_KEPT:
            _ANSWERS.clear()
        _ANSWERS[key] = output
    return output


def _asked(command: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> str | None:
    try:
        process = subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            **APART,
        )
    except OSError:
        return None
    with process:
        try:
            output, remarks = process.communicate(timeout=limits.VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            SYSTEM.signal_group(process.pid, KILL)  # the group: its children would hold the pipes open
            return None
    text = output if output.strip() else remarks
    return text.decode(errors="replace") if process.returncode == 0 else None
