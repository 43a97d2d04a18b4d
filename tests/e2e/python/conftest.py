"""An adapter per test, and the Python that programs are debugged in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from e2e.python.driving import Driver, driving
from interpreters import interpreter


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[Driver]:
    """Return a client of a new adapter."""
    async with driving(tmp_path) as driver:
        yield driver


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the interpreter that programs run in; dapkit is not installed there."""
    return str(interpreter(request.param))
