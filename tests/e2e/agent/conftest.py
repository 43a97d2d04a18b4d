"""A caller of actions, and a hub that ends all that they started."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from action_fixtures import Caller, patient_caller
from dapkit.settings import Settings
from missing import missing


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """Return a caller in an empty project."""
    of_a_slow_machine = Settings(session_initial_stop_seconds=30, adapter_ready_seconds=30)
    async with patient_caller(monkeypatch, tmp_path, of_a_slow_machine) as caller:
        yield caller


@pytest.fixture
def with_adapters_of_sid(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put gdb, lldb-dap, Delve and Go of Debian sid before all others."""
    folder = Path(__file__).parents[3] / ".tools/sid"
    if not (folder / "go").exists():
        missing("tools/debian_trees.sh has not installed the adapters of Debian sid")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")  # the tests build with this Go
    caller.env = {**caller.env, "PATH": f"{folder}{os.pathsep}{caller.env['PATH']}"}


@pytest.fixture(params=["of the machine", pytest.param("of Debian sid", marks=pytest.mark.each_adapter)])
def versions(request: pytest.FixtureRequest) -> str:
    """Run a test with the adapters of the machine, and with the newest ones."""
    if request.param == "of Debian sid":
        request.getfixturevalue("with_adapters_of_sid")
    return str(request.param)
