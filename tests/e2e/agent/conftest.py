"""A caller of actions, and a hub that ends all that they started."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_driving import Caller
from dapkit.agent.handler import ActionHandler
from dapkit.sessions.registry import SessionRegistry


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    async with SessionRegistry() as sessions:
        yield Caller(ActionHandler(sessions), tmp_path)
