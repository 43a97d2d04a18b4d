"""An adapter per test, and the Python versions that programs are debugged in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bootstrap
from e2e.python.driving import Driver, driving


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[Driver]:
    """Return a client of a new adapter."""
    async with driving(tmp_path) as driver:
        yield driver


@pytest.fixture(params=bootstrap.VERSIONS)
def python(request: pytest.FixtureRequest, pythons: dict[str, Path]) -> str:
    """Return an interpreter of each version in which dapkit is not installed; one that is not at hand is a skip."""
    if request.param not in pythons:
        pytest.skip(f"no Python {request.param} on this machine")
    return str(pythons[request.param])
