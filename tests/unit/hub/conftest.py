"""A hub for sessions with scripted adapters."""

from collections.abc import AsyncIterator

import pytest

from dapkit.hub.sessions import Sessions


@pytest.fixture
async def sessions() -> AsyncIterator[Sessions]:
    """Return a hub that ends all that it started."""
    async with Sessions() as hub:
        yield hub
