"""The hub process with the actions: `python -m dapkit.agent`, started by the first call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dapkit.system.gc_freeze import frozen_imports

with frozen_imports():
    from dapkit.agent.handler import ActionHandler
    from dapkit.hub.daemon import run
    from dapkit.sessions.registry import SessionRegistry
    from dapkit.settings import Settings


@asynccontextmanager
async def agent(settings: Settings) -> AsyncIterator[ActionHandler]:
    """Offer the actions, and end all sessions in the end."""
    async with SessionRegistry(settings) as sessions:
        yield ActionHandler(sessions)


if __name__ == "__main__":
    run(agent)
