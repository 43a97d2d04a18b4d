"""What programs tell of themselves, asked with a deadline.

An answer is kept as long as the program's file stays what it is: an update is seen
at once.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from dapkit import limits

_VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)*)")

type Version = tuple[int, ...]


def version_told(command: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """Return the version that a command tells; None if it fails, or tells none in time."""
    said = answer(command, env)
    found = None if said is None else _VERSION.search(said)
    return None if found is None else found[1]


def numbers(version: str) -> Version:
    """Return a version as numbers that compare: (14, 1)."""
    return tuple(int(part) for part in version.split("."))


def answer(command: tuple[str, ...], env: Mapping[str, str], cwd: Path = Path(os.sep)) -> str | None:
    """Return what a command prints; None if it fails, or does not end in time.

    It is started in the root folder unless another is given: `python -m` would load modules of the project.
    """
    try:
        state = Path(command[0]).stat()
    except OSError:
        return None
    return _asked(command, state.st_mtime_ns, state.st_size, tuple(sorted(env.items())), cwd)


@lru_cache(maxsize=256)
def _asked(
    command: tuple[str, ...], _changed: int, _size: int, env: tuple[tuple[str, str], ...], cwd: Path
) -> str | None:
    try:
        done = subprocess.run(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.VERSION_SECONDS,
            check=False,
            cwd=cwd,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout if done.stdout.strip() else done.stderr
    return said.decode(errors="replace") if done.returncode == 0 else None
