"""When hub and callers begin and end, in whatever order and by whatever force."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from dapkit.hub.client import HubClient
from e2e.hub.processes import ended
from e2e.hub.programs import ROOT

CALLING = Path(__file__).with_name("calling_command.py")


@contextmanager
def calling(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Make a call from a process of its own."""
    command = [sys.executable, str(CALLING), str(folder), "answering_hub", ROOT, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as caller:
        try:
            yield caller
        finally:
            caller.kill()


def counts(hub_client: HubClient) -> dict[str, object]:
    return hub_client.call("counts", {}, project=ROOT)


def wait_until_none_waits(hub_client: HubClient) -> None:
    deadline = time.monotonic() + 30
    while counts(hub_client)["waiting"]:
        assert time.monotonic() < deadline


def read_line(caller: subprocess.Popen[str]) -> str:
    assert caller.stdout is not None
    return caller.stdout.readline().strip()


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("hub_client")
def test_fifty_callers_at_once_start_one_hub(folder: Path) -> None:
    command = [sys.executable, str(CALLING), str(folder), "answering_hub", ROOT, "echo"]
    callers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(50)]
    try:
        answers = [json.loads(caller.communicate()[0]) for caller in callers]
    finally:
        for caller in callers:
            caller.kill()
    assert len({answer["pid"] for answer in answers}) == 1
    assert (folder / "hub.log").read_text().count(" INFO dapkit.hub.daemon: dapkit ") == 1


def test_interrupted_caller_has_its_call_cancelled_before_it_ends(hub_client: HubClient, folder: Path) -> None:
    with calling(folder, "wait") as caller:
        assert read_line(caller) == "waiting"
        caller.send_signal(signal.SIGINT)
        _, errors = caller.communicate()
    assert "KeyboardInterrupt" in errors
    assert counts(hub_client) == {"waiting": 0, "cancelled": 1}


def test_killed_caller_has_its_call_cancelled(hub_client: HubClient, folder: Path) -> None:
    with calling(folder, "wait") as caller:
        assert read_line(caller) == "waiting"
        caller.kill()
    wait_until_none_waits(hub_client)
    assert counts(hub_client) == {"waiting": 0, "cancelled": 1}


@pytest.mark.thorough
@pytest.mark.parametrize("milliseconds", [30, 60, 100, 150, 250, 400, 700])
def test_caller_killed_while_it_starts_the_hub_leaves_the_way_free(
    hub_client: HubClient, folder: Path, milliseconds: int
) -> None:
    with calling(folder, "echo") as caller:
        with suppress(subprocess.TimeoutExpired):  # the moment is the point
            caller.wait(milliseconds / 1000)
        caller.kill()
    first = hub_client.call("echo", {}, project=ROOT)["pid"]
    assert hub_client.call("echo", {}, project=ROOT)["pid"] == first
    assert (folder / "hub.log").read_text().count(" INFO dapkit.hub.daemon: dapkit ") == 1


def test_hub_told_to_end_by_a_signal_answers_what_is_under_way(hub_client: HubClient, folder: Path) -> None:
    with calling(folder, "wait") as caller:
        assert read_line(caller) == "waiting"
        pid = hub_client.call("echo", {}, project=ROOT)["pid"]
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGTERM)
        _, errors = caller.communicate()
    assert "CallRefused: wait was given up" in errors
    assert ended(pid)
    assert not (folder / "hub.sock").exists()


@pytest.mark.thorough
def test_call_made_while_a_hub_is_ending_is_done_by_the_next_one(hub_client: HubClient, folder: Path) -> None:
    with calling(folder, "linger") as caller:
        assert read_line(caller) == "waiting"
        pid = hub_client.call("echo", {}, project=ROOT)["pid"]
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGTERM)
        assert hub_client.call("echo", {}, project=ROOT)["pid"] != pid
        assert "CallRefused: linger was given up" in caller.communicate()[1]


@pytest.mark.thorough
def test_idle_hub_ends_by_itself(hub_client: HubClient, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_HUB_IDLE_SECONDS", "1")
    pid = hub_client.call("echo", {}, project=ROOT)["pid"]
    assert isinstance(pid, int)
    assert ended(pid)
    assert not (folder / "hub.sock").exists()
    assert hub_client.status() is None


@pytest.mark.thorough
def test_hub_that_holds_something_does_not_end(hub_client: HubClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_HUB_IDLE_SECONDS", "1")
    monkeypatch.setenv("DAPKIT_SESSION_SWEEP_SECONDS", "0.1")
    hub_client.call("hold", {}, project=ROOT)  # by the first call: the hub may end before a second one comes
    pid = hub_client.call("echo", {}, project=ROOT)["pid"]
    assert isinstance(pid, int)
    assert not ended(pid, seconds=2)
    assert hub_client.call("release", {}, project=ROOT) == {}
    assert ended(pid)


def test_line_that_is_no_message_is_answered_and_the_next_one_is_read(hub_client: HubClient, folder: Path) -> None:
    hub_client.call("echo", {}, project=ROOT)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(folder / "hub.sock"))
        caller.sendall(b'GET / HTTP/1.1\r\n[1]\n{"id":1}\n{"id":2,"call":"counts","project":"/"}\n')
        with caller.makefile("r") as lines:
            greeting, *answers = [json.loads(lines.readline()) for _ in range(5)]
    assert greeting["hub"] == "dapkit"
    assert [answer.get("error", {}).get("code") for answer in answers] == ["bad_line", "bad_line", "bad_line", None]
    assert answers[3] == {"id": 2, "result": {"waiting": 0, "cancelled": 0}}
