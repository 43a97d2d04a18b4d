"""A caller who has patience with adapters, and a hub that ends all that they started."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from action_fixtures import OUR_PYTHON_AND_TOOLS, Caller, patient_caller
from dapkit.catalog import NoAdapter, load
from dapkit.settings import Settings
from missing import missing

PATIENT = Settings(adapter_ready_seconds=60, request_timeout_seconds=60, session_initial_stop_seconds=60)


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    async with patient_caller(monkeypatch, tmp_path, PATIENT, path=OUR_PYTHON_AND_TOOLS) as caller:
        yield caller


@pytest.fixture
def require_adapter(caller: Caller) -> Callable[[str], None]:
    """Return a function that ends the test if an adapter is not there, or too old; with CI=true that fails it."""

    def require(adapter: str) -> None:
        try:
            load(caller.project, env=caller.env).choose(cwd=caller.project, adapter=adapter)
        except NoAdapter as error:
            missing(error.problem)

    return require
