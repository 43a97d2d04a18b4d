"""A server by HTTP, which ends with the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit.system.selection import IS_WINDOWS
from e2e.mcp.http_server import Served, serving


@pytest.fixture
def served(project: Path, runtime: Path) -> Iterator[Served]:  # noqa: ARG001 - where its token is
    """Return a server that ends with the test."""
    with serving(project, DAPKIT_SESSION_INITIAL_STOP_SECONDS="30") as found:
        yield found
    if not IS_WINDOWS:  # there a process that is ended leaves its files, and the next server removes them
        assert not found.token.exists()
        assert not found.token.with_suffix(".sock").exists()
