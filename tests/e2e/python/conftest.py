"""An adapter per test, and the Python that programs are debugged in."""

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

import dapkit
from e2e.python.adapter_client import AdapterClient, adapter_client
from interpreters import interpreter

IN_C = ("*.so", "*.pyd", "dapkit-supervisor", "native")
"""What a package has that was built by a C compiler, and its sources."""


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[AdapterClient]:
    """Return a client of a new adapter."""
    async with adapter_client(tmp_path) as driver:
        yield driver


@pytest.fixture(scope="session")
def without_extension(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return the environment in which adapters are those of a dapkit for which nothing in C was built."""
    package = Path(dapkit.__file__).parent
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(package, folder / "dapkit", ignore=shutil.ignore_patterns(*IN_C, "__pycache__"))
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the interpreter that programs run in; dapkit is not installed there."""
    return str(interpreter(request.param))
