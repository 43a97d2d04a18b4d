"""Sessions for the actions of these tests, and a caller of the actions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_driving import Caller
from dapkit.agent.performing import Agent
from dapkit.hub.sessions import Sessions


@pytest.fixture
async def sessions() -> AsyncIterator[Sessions]:
    """Return sessions that all end with the test."""
    async with Sessions() as several:
        yield several


@pytest.fixture
def caller(sessions: Sessions, tmp_path: Path) -> Caller:
    """Return who calls actions on these sessions, in the test's folder."""
    return Caller(Agent(sessions), tmp_path)
