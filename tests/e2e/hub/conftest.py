"""A hub of its own for each test, in a folder of its own."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from dapkit.hub.client import HubClient
from e2e.hub.debugger import Debugger

ANSWERING = (sys.executable, str(Path(__file__).with_name("answering_hub.py")))
DEBUGGING = (sys.executable, str(Path(__file__).with_name("debugging_hub.py")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the hub, with no settings of the user around it, and no sockets of others."""
    for variable in [name for name in os.environ if name.startswith("DAPKIT_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("DAPKIT_ADAPTER_READY_SECONDS", "60")  # of a slow machine
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = tmp_path / "run"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def hub_clients(folder: Path) -> Iterator[Callable[..., HubClient]]:
    """Return a function that makes callers of the test's hub, which ends with the test."""

    def hub_client(*arguments: str, command: Sequence[str] = ANSWERING) -> HubClient:
        return HubClient(str(folder), command=(*command, *arguments))

    yield hub_client
    hub_client().stop()


@pytest.fixture
def hub_client(hub_clients: Callable[..., HubClient]) -> HubClient:
    """Return a caller of the test's hub."""
    return hub_clients()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project."""
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def debugger(hub_clients: Callable[..., HubClient], project: Path) -> Debugger:
    """Return a caller of a hub that debugs."""
    return Debugger(hub_clients(command=DEBUGGING), project)
