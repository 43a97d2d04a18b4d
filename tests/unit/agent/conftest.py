"""Sessions for the actions of these tests, and a caller of the actions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from action_fixtures import Caller
from dapkit.agent.handler import ActionHandler
from dapkit.sessions.registry import SessionRegistry


@pytest.fixture
async def sessions() -> AsyncIterator[SessionRegistry]:
    """Return sessions that all end with the test."""
    async with SessionRegistry() as several:
        yield several


@pytest.fixture
def caller(sessions: SessionRegistry, tmp_path: Path) -> Caller:
    """Return who calls actions on these sessions, in the test's folder."""
    return Caller(ActionHandler(sessions), tmp_path)
