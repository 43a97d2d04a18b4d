"""The versions of Python that programs are debugged in."""

import functools
import sys
from pathlib import Path

import pytest

import bootstrap

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The version of Python that the tests run on."""


def interpreter(version: str) -> Path:
    """Return an interpreter of a version ("3.12") in which dapkit is not installed, or skip the test."""
    path = _found(version)
    if path is None:
        pytest.skip(f"no Python {version} on this machine")
    return Path(path)


@functools.cache
def free_threaded() -> tuple[str, ...]:
    """Return the free-threaded versions ("3.13t") that this machine has."""
    return tuple(version for version in bootstrap.FREE_THREADED if _found(version) is not None)


@functools.cache
def _found(version: str) -> str | None:
    if sys.platform == "win32":  # tools/windows/pythons.py has made them
        path = Path(sys.executable).parents[1] / f"python-{version}" / "python.exe"
        return str(path) if path.exists() else None
    return bootstrap.find_interpreter(version)
