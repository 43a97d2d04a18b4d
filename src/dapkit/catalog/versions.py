"""Versions that programs report, asked with a deadline.

An answer is kept while the program's file is unchanged: an update is seen at once.
"""

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from dapkit.catalog import limits

_VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)*)")

type Version = tuple[int, ...]


def version_told(command: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """Return the version that a command prints; None if it fails, or prints none in time."""
    said = answer(command, env)
    found = None if said is None else _VERSION.search(said)
    return None if found is None else found[1]


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
    if (known := _ANSWERS.get(key)) is not None:
        return known
    said = _asked(command, env, cwd)
    if said is not None:
        if len(_ANSWERS) >= limits.VERSIONS_KEPT:
            _ANSWERS.clear()
        _ANSWERS[key] = said
    return said


def _asked(command: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> str | None:
    try:
        process = subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            said, remarks = process.communicate(timeout=limits.VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the group: its children would hold the pipes open
            return None
    text = said if said.strip() else remarks
    return text.decode(errors="replace") if process.returncode == 0 else None
