"""The hub, its callers, and terminals of our own, in which Windows differs."""

import dataclasses
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from action_fixtures import patient_caller
from dapkit import limits
from dapkit.client.terminal import open_terminal
from dapkit.hub.client import HubClient
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.settings import Settings
from e2e.hub.processes import suspend
from strangers import strangers_port

pytestmark = pytest.mark.timeout(300)

PATIENT = Settings(session_initial_stop_seconds=60, adapter_ready_seconds=60, request_timeout_seconds=60)


@pytest.fixture
def hub_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubClient]:
    """Return a caller of a hub in a folder of its own."""
    monkeypatch.setattr(limits, "HUB_START_SECONDS", 60.0)
    folder = tmp_path / "run"
    folder.mkdir()
    hub_client = HubClient(str(folder))
    yield hub_client
    hub_client.stop()


def pid_of(hub_client: HubClient) -> int:
    with hub_client.connect() as connection:
        return connection.pid


@pytest.fixture
def port_of_stranger() -> Iterator[int]:
    """Return a port at which a program listens that knows no key, and ends each connection."""
    with strangers_port() as port:
        yield port


def test_hub_is_started_though_a_stranger_has_the_port_of_one_that_was_killed(
    hub_client: HubClient, tmp_path: Path, port_of_stranger: int
) -> None:
    (tmp_path / "run/hub.sock").write_text(f"{port_of_stranger} {os.urandom(32).hex()} {os.getppid()}\n")
    assert hub_client.status() is None
    assert not hub_client.stop()
    assert psutil.Process(pid_of(hub_client)).cmdline()[-1] == "dapkit.agent"


def test_hub_that_answers_nothing_is_killed(hub_client: HubClient) -> None:
    pid = pid_of(hub_client)
    suspend(pid)
    assert hub_client.stop()
    assert not psutil.pid_exists(pid)  # in Wine its port stays open for a while, so that no other hub is called here


async def test_program_reads_a_file_as_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with patient_caller(monkeypatch, tmp_path, PATIENT) as caller:
        caller.write("hello.py", "import sys\nprint('hello', input(), flush=True)\nprint('beside', file=sys.stderr)\n")
        caller.write("names", "Ann\n")
        await caller("launch", program="hello.py", breakpoints=["hello.py:3"], stdin_file="names")
        assert "exit code 0" in (await caller("continue")).text
        assert (await caller("output", category="stdout")).text == "| hello Ann"
        assert (await caller("output", category="stderr")).text == "| beside"


async def test_end_of_a_program_in_a_terminal_is_seen(tmp_path: Path) -> None:
    command = RunInTerminalRequestArguments(args=[sys.executable, "-S", "-c", "print('done')"], cwd=str(tmp_path))
    async with open_terminal(command) as terminal:
        assert await terminal.wait(deadline=60) == 0
        assert terminal.returncode == 0
        assert terminal.read().text == "done\r\n"


async def test_text_is_typed_into_a_program_in_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = dataclasses.replace(PATIENT, session_initial_stop_seconds=0.1)  # it stops nowhere
    async with patient_caller(monkeypatch, tmp_path, running) as caller:
        caller.write("sum.py", "import sys\nprint('ready', flush=True)\nprint(sum(map(int, sys.stdin)))\n")
        await caller("launch", program="sum.py", terminal=True, stop_on_entry=False)
        await caller("stdin", input="1\n2\n", end=True)
        assert "exit code 0" in (await caller("wait", timeout=60)).text
        assert (await caller("output")).text == "| ready\n| 3"
