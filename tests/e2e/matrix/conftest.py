"""A caller who has patience with adapters, and a hub that ends all that they started."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from action_fixtures import OUR_PYTHON_AND_TOOLS, Caller, patient_caller
from dapkit.settings import Settings

PATIENT = Settings(
    adapter_ready_seconds=60,
    request_timeout_seconds=60,
    session_initial_stop_seconds=1,  # so long is waited in vain for a stop of a program that runs on
)


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    async with patient_caller(monkeypatch, tmp_path, PATIENT, path=OUR_PYTHON_AND_TOOLS) as caller:
        yield caller
