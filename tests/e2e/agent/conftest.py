"""A caller of actions, and a hub that ends all that they started."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_driving import Caller
from dapkit.agent.performing import Agent
from dapkit.hub.sessions import Sessions


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    async with Sessions() as sessions:
        yield Caller(Agent(sessions), tmp_path)
