"""A caller who has patience with adapters, and a hub that ends all that they started."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_driving import Caller, have_patience
from dapkit.agent.handler import ActionHandler
from dapkit.catalog import NoAdapter, load
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings
from missing import missing

PATIENT = Settings(adapter_ready_seconds=60, request_timeout_seconds=60, session_initial_stop_seconds=60)
TOOLS = Path(__file__).parents[3] / ".tools" / "bin"
"""Where tools/debian_trees.sh puts gdb 16."""


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    have_patience(monkeypatch)
    async with SessionRegistry() as sessions:
        path = os.pathsep.join([str(Path(sys.executable).parent), str(TOOLS), os.environ["PATH"]])
        yield Caller(ActionHandler(sessions), tmp_path, PATIENT, env={**os.environ, "PATH": path})


@pytest.fixture
def require_adapter(caller: Caller) -> Callable[[str], None]:
    """Return a function that ends the test if an adapter is not there, or too old; with CI=true that fails it."""

    def require(adapter: str) -> None:
        try:
            load(caller.project, env=caller.env).choose(cwd=caller.project, adapter=adapter)
        except NoAdapter as error:
            missing(error.problem)

    return require
