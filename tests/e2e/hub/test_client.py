import importlib.metadata
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import dapkit
from dapkit.hub import CallRefused, HubLost, HubSilent, HubUnavailable, OtherVersion, wire
from dapkit.hub.client import HubClient
from dapkit.hub.spawn import spawn_hub
from e2e.hub.conftest import ANSWERING
from e2e.hub.processes import runs, suspend
from e2e.hub.programs import ROOT

PROJECT = str(Path(ROOT, "project"))


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


NOBODY = 65534

LISTENING = """
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind("hub.sock")
os.setuid(int(sys.argv[1]))
listening.listen()
print("listening", flush=True)
while True:
    listening.accept()
"""

needs_root = pytest.mark.usefixtures("root")


def pid_of(hub_client: HubClient) -> int:
    pid = hub_client.call("echo", {}, project=ROOT)["pid"]
    assert isinstance(pid, int)
    return pid


def kill(hub_client: HubClient) -> None:
    with pytest.raises(HubLost, match="ended before it answered"):
        hub_client.call("die", {}, project=ROOT)


def test_files_of_a_project_that_never_end_keep_nobody_waiting(hub_client: HubClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".dapkit.toml")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.dapkit.toml").symlink_to("/dev/zero")
    for project in (tmp_path, tmp_path / "other", Path("/")):
        assert hub_client.call("echo", {}, project=str(project))["pid"] == pid_of(hub_client)


def test_first_call_starts_a_hub_and_the_next_one_finds_it(hub_client: HubClient) -> None:
    assert hub_client.status() is None
    first = hub_client.call("echo", {"line": 3}, project=PROJECT, session="s", read_only=True)
    assert first == {
        "arguments": {"line": 3},
        "project": PROJECT,
        "session": "s",
        "read_only": True,
        "env": None,
        "timeout": 30.0,
        "pid": first["pid"],
    }
    assert pid_of(hub_client) == first["pid"]


def test_hub_is_nobodys_child_and_holds_nothing_of_its_starter(hub_client: HubClient) -> None:
    surroundings = hub_client.call("surroundings", {}, project=ROOT)
    assert surroundings["cwd"] == ROOT
    assert surroundings["stdin"] == surroundings["stdout"] == "/dev/null"
    assert surroundings["session"] != os.getsid(0)


def test_environment_of_the_caller_comes_only_with_what_starts_a_program(
    hub_client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hub_client.call("echo", {}, project=ROOT)["env"] is None
    monkeypatch.setenv("OF_THE_CALLER", "it has \udcff bytes")
    env = hub_client.call("launch", {}, project=ROOT)["env"]
    assert isinstance(env, dict)
    assert env["OF_THE_CALLER"] == "it has \udcff bytes"


def test_settings_are_those_of_the_caller_and_not_of_who_started_the_hub(
    hub_client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_client.call("echo", {}, project=ROOT)
    monkeypatch.setenv("DAPKIT_REQUEST_TIMEOUT_SECONDS", "77")
    assert hub_client.call("echo", {}, project=ROOT)["timeout"] == 77


@pytest.mark.parametrize(
    ("name", "text"),
    [("fail", "fail failed: RuntimeError: this is how it fails"), ("unfit", "unfit failed: TypeError")],
)
@pytest.mark.thorough
def test_handler_that_fails_is_an_answer_and_the_hub_goes_on(hub_client: HubClient, name: str, text: str) -> None:
    pid = pid_of(hub_client)
    with pytest.raises(CallRefused, match=text) as refusal:
        hub_client.call(name, {}, project=ROOT)
    assert refusal.value.code == "internal"
    assert pid_of(hub_client) == pid


@pytest.mark.parametrize(
    ("project", "text"),
    [
        ("here", "expected an absolute path, found 'here'"),
        (f"{ROOT}a\0b", "expected a path in UTF-8 and without NUL, found '.*a.x00b'"),
        (f"{ROOT}a\udc9b", "expected a path in UTF-8 and without NUL, found '.*a.udc9b'"),
    ],
)
@pytest.mark.thorough
def test_project_must_be_an_absolute_path(hub_client: HubClient, project: str, text: str) -> None:
    with pytest.raises(CallRefused, match=f"project: {text}"):
        hub_client.call("echo", {}, project=project)


def test_progress_is_told(hub_client: HubClient) -> None:
    class Enough(Exception):  # noqa: N818 - it is none: it ends the call
        pass

    def note(*progress: object) -> None:
        raise Enough(*progress)

    with pytest.raises(Enough) as told:
        hub_client.call("wait", {}, project=ROOT, timeout=30, on_progress=note)
    assert told.value.args == ("waiting", 50.0)


@pytest.mark.thorough
def test_call_that_takes_too_long_is_given_up(hub_client: HubClient) -> None:
    with pytest.raises(HubSilent, match="did not answer in time"):
        hub_client.call("wait", {}, project=ROOT, timeout=2)
    while hub_client.call("counts", {}, project=ROOT)["waiting"]:
        pass
    assert hub_client.call("counts", {}, project=ROOT) == {"waiting": 0, "cancelled": 1}


def test_killed_hub_leaves_a_socket_that_the_next_call_replaces(hub_client: HubClient, folder: Path) -> None:
    kill(hub_client)
    assert "hub.sock" in names_in(folder)
    assert hub_client.status() is None
    assert pid_of(hub_client) == pid_of(hub_client)


def test_stop_waits_until_the_hub_has_gone_and_leaves_no_socket(hub_client: HubClient, folder: Path) -> None:
    pid = pid_of(hub_client)
    assert hub_client.stop()
    assert not runs(pid)
    assert names_in(folder) - {"lock"} == {"hub.lock", "hub.log", "state"}  # that is the lock of the folder on Windows
    assert not hub_client.stop()


@pytest.mark.thorough
def test_stop_kills_a_hub_that_answers_nothing(hub_client: HubClient) -> None:
    pid = pid_of(hub_client)
    suspend(pid)
    assert hub_client.stop()
    assert hub_client.status() is None
    assert pid_of(hub_client) != pid


def test_hub_that_cannot_start_says_why(hub_clients: Callable[..., HubClient]) -> None:
    with pytest.raises(HubUnavailable, match=r"(?s)could not be started:.*No module named 'missing_module'"):
        hub_clients(command=(sys.executable, "-c", "import missing_module")).call("echo", {}, project=ROOT)


def start_other_version(folder: Path) -> None:
    with Path(os.devnull).open() as no_lock:
        spawn_hub((*ANSWERING, "0.0.1"), str(folder), lock=no_lock.fileno(), deadline=time.monotonic() + 30)


@pytest.mark.thorough
def test_idle_hub_of_another_version_is_replaced(hub_client: HubClient, folder: Path) -> None:
    start_other_version(folder)
    old = hub_client.status()
    assert old is not None
    assert old["version"] == "0.0.1"
    assert pid_of(hub_client) != old["pid"]


@pytest.mark.thorough
def test_hub_of_another_version_that_holds_sessions_is_left_alone(
    hub_client: HubClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_other_version(folder)
    with monkeypatch.context() as as_that_version:
        as_that_version.setattr(wire, "VERSION", "0.0.1")
        hub_client.call("hold", {}, project=ROOT)
    with pytest.raises(
        OtherVersion, match=rf"is dapkit 0.0.1 and holds sessions, this is dapkit {wire.VERSION}"
    ) as error:
        hub_client.call("echo", {}, project=ROOT)
    assert error.value.hint == "Terminate those sessions, or end the hub with: dapkit hub stop"
    assert hub_client.stop()
    assert pid_of(hub_client)


@needs_root
def test_socket_that_another_user_holds_is_not_talked_to(hub_client: HubClient, folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, str(NOBODY)], stdout=subprocess.PIPE, cwd=folder, text=True
    ) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == "listening\n"
        with pytest.raises(HubUnavailable, match=f"held by user {NOBODY}, expected user 0"):
            hub_client.call("echo", {}, project=ROOT)
        with pytest.raises(HubUnavailable):
            hub_client.stop()
        stranger.kill()
    (folder / "hub.sock").unlink()


def test_version_is_that_of_the_package() -> None:
    assert importlib.metadata.version("dapkit") == dapkit.__version__ == wire.VERSION
