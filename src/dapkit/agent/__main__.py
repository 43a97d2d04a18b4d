"""The hub process with the actions: `python -m dapkit.agent`, started by the first call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dapkit.agent.performing import Agent
from dapkit.hub.daemon import run
from dapkit.hub.sessions import Sessions
from dapkit.hub.settings import Settings


@asynccontextmanager
async def agent(settings: Settings) -> AsyncIterator[Agent]:
    """Offer the actions, and end all sessions in the end."""
    async with Sessions(settings) as sessions:
        yield Agent(sessions)


if __name__ == "__main__":
    run(agent)
