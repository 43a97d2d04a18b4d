"""A hub, and a folder that its sessions belong to."""

from collections.abc import AsyncIterator

import pytest

from dapkit.sessions.registry import SessionRegistry


@pytest.fixture
async def sessions() -> AsyncIterator[SessionRegistry]:
    """Return a hub that ends all that it started."""
    async with SessionRegistry() as hub:
        yield hub
