"""A caller of actions, and a hub that ends all that they started."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from action_fixtures import Caller, patient_caller
from dapkit.settings import Settings


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    of_a_slow_machine = Settings(session_initial_stop_seconds=30, adapter_ready_seconds=30)
    async with patient_caller(monkeypatch, tmp_path, of_a_slow_machine) as caller:
        yield caller
