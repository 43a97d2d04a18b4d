"""An adapter per test, and the Python that programs are debugged in."""

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

import dapkit
from e2e.python.driving import Driver, driving
from interpreters import interpreter

IN_C = ("*.so", "dapkit-supervisor", "native")
"""What a package has that was built by a C compiler, and its sources."""


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[Driver]:
    """Return a client of a new adapter."""
    async with driving(tmp_path) as driver:
        yield driver


TRAVEL_NEEDS_EXTENSION = "3.15"
"""The first version on which there is no time travel without the extension."""


@pytest.fixture(scope="session")
def without_extension(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return the environment in which adapters are those of a dapkit for which nothing in C was built."""
    package = Path(dapkit.__file__).parent
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(package, folder / "dapkit", ignore=shutil.ignore_patterns(*IN_C, "__pycache__"))
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.fixture
def travel_without_extension(without_extension: Mapping[str, str], request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Return that environment for tests of time travel, which are skipped on versions that need the extension."""
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if parameters.get("python") == TRAVEL_NEEDS_EXTENSION:
        pytest.skip(f"time travel needs the extension on Python {TRAVEL_NEEDS_EXTENSION}")
    return without_extension


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the interpreter that programs run in; dapkit is not installed there."""
    return str(interpreter(request.param))
