"""A caller who has patience with adapters, and a hub that ends all that they started."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_driving import Caller, have_patience
from dapkit.agent.handler import ActionHandler
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings

PATIENT = Settings(
    adapter_ready_seconds=60,
    request_timeout_seconds=60,
    session_initial_stop_seconds=1,  # so long is waited in vain for a stop of a program that runs on
)


TOOLS = Path(__file__).parents[3] / ".tools" / "bin"
"""Where tools/debian_trees.sh puts gdb 16; there is also a Python, which is not the one to be debugged."""


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    have_patience(monkeypatch)
    async with SessionRegistry() as sessions:
        path = os.pathsep.join([str(Path(sys.executable).parent), str(TOOLS), os.environ["PATH"]])
        yield Caller(ActionHandler(sessions), tmp_path, PATIENT, env={**os.environ, "PATH": path})
