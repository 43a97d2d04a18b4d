"""`python -m dapkit.python` as an editor or a person starts it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from dapkit.client import Ended, Session, StartRefused
from dapkit.protocol import encode_frame
from dapkit.transport import connect_tcp, new_token, token_left_for
from e2e.python.adapter_client import ADAPTER

SECONDS = 30.0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ADAPTER, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder of mode 0700 whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@asynccontextmanager
async def serving(*arguments: str) -> AsyncIterator[str]:
    """Start a server; the block gets the place that it tells."""
    command = [*ADAPTER, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220 - on every event loop
        assert server.stdout is not None
        try:
            with anyio.fail_after(SECONDS):
                told = await anyio.to_thread.run_sync(server.stdout.readline, abandon_on_cancel=True)
            yield told.removeprefix("DAP server listening at: ").strip()
        finally:
            server.terminate()
            try:
                await anyio.to_thread.run_sync(server.wait, SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()  # the end of the block waits for it
                raise


async def debug(session: Session) -> None:
    """Run a program through a session."""
    async with session:
        await session.launch({"code": "print('hello')"})
        assert await session.wait_until_ended() == Ended(0)
        assert session.output.read("stdout").text.replace("\r\n", "\n") == "hello\n"


@pytest.mark.thorough
def test_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"dapkit {version('dapkit')}\n"


@pytest.mark.thorough
def test_help_names_every_way_to_reach_it() -> None:
    text = run("--help").stdout
    assert text.startswith("usage: python -m dapkit.python ")
    for option in ("--listen", "--socket", "--token-file", "--log", "--transcript", "--version"):
        assert option in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments", [["--no-such-option"], ["--listen", "here"], ["--listen", "0.0.0.0:0"], ["--token-file", "/nowhere"]]
)
def test_wrong_arguments_end_it_with_2_and_the_reason(arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.returncode == 2
    assert "python -m dapkit.python: error: " in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.thorough
def test_end_of_input_ends_it_at_once() -> None:
    ended = subprocess.run(ADAPTER, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.thorough
@pytest.mark.parametrize("module", ["dapkit.python", "dapkit.cli"])
def test_nothing_is_imported_from_the_folder_it_is_started_in(folder: Path, module: str) -> None:
    for name in ("queue", "grp", "anyio", "click", "msgspec", "asyncio", "selectors", "debugpy", "argparse", "json"):
        (folder / f"{name}.py").write_text(f"open('trapped-{name}', 'w')")
    ended = subprocess.run(
        [sys.executable, "-m", module, "--version"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not list(folder.glob("trapped-*"))


IN_A_REMOVED_FOLDER = ["sh", "-c", 'cd "$0" && mkdir gone && cd gone && rmdir ../gone && exec "$@"']


@pytest.mark.thorough
async def test_launch_from_a_folder_that_was_removed_is_a_clear_error(folder: Path) -> None:
    async with Session.spawn([*IN_A_REMOVED_FOLDER, str(folder), *ADAPTER]) as session:
        with pytest.raises(StartRefused, match="the folder of the adapter was removed: give an absolute path as cwd"):
            await session.launch({"code": "print(1)"})
    async with Session.spawn([*IN_A_REMOVED_FOLDER, str(folder), *ADAPTER]) as session:
        await session.launch({"code": "print(1)", "cwd": str(folder)})
        assert await session.wait_until_ended() == Ended(0)


@pytest.mark.thorough
@pytest.mark.parametrize("words", [["sessions"], ["launch", "a.py"], ["adapters"]])
def test_command_in_a_folder_that_was_removed_says_so(folder: Path, words: list[str]) -> None:
    command = [*IN_A_REMOVED_FOLDER, str(folder), sys.executable, "-m", "dapkit.cli", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "Error: the current folder was removed: change to another one.\n")


async def test_launch_without_a_folder_for_sockets_names_each_place_and_why(folder: Path) -> None:
    for name in ("run", "home"):
        (folder / name).touch()
    variables = {"XDG_RUNTIME_DIR": str(folder / "run"), "HOME": str(folder / "home")}
    program = "from dapkit.system import runtime_folder; runtime_folder.TEMPORARY = '/proc'; import runpy, sys; "
    program += "runpy.run_module('dapkit.python', None, '__main__')"
    async with Session.spawn([sys.executable, "-c", program], env={**os.environ, **variables}) as session:
        with pytest.raises(StartRefused) as refused:
            await session.launch({"code": "print(1)"})
    for place in (f"/proc/dapkit-{os.geteuid()} cannot be used", f"{folder}/home/.cache/dapkit/run cannot be used"):
        assert place in str(refused.value)


@pytest.mark.thorough
async def test_unix_socket_serves_several_sessions_at_once(folder: Path) -> None:
    async with serving("--socket", str(folder / "adapter")) as place:
        assert place == str(folder / "adapter")
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(debug, Session.connect_unix(Path(place)))


@pytest.mark.thorough
async def test_port_asks_for_the_token(folder: Path) -> None:
    token = new_token()
    secret = folder / "token"
    write_secret(secret, token)
    async with serving("--listen", "127.0.0.1:0", "--token-file", str(secret)) as place:
        host, _, port = place.rpartition(":")
        await debug(Session.connect(host, int(port), token=token))


def write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


@pytest.mark.thorough
async def test_token_that_is_made_for_a_port_is_found_by_clients_of_the_own_user() -> None:
    async with serving("--listen", "127.0.0.1:0") as place:
        host, _, port = place.rpartition(":")
        await debug(Session.connect(host, int(port)))
        async with await connect_tcp(host, int(port)) as editor:
            await editor.send(encode_frame(b'{"seq":1,"type":"request","command":"initialize"}'))
            assert b"Session.connect" in await editor.receive()
    assert token_left_for(host, int(port)) is None


@pytest.mark.thorough
async def test_client_that_goes_ends_its_program_and_not_the_server(folder: Path) -> None:
    async with serving("--socket", str(folder / "adapter")) as place:
        async with Session.connect_unix(Path(place)) as session:
            await session.launch({"code": "import time; time.sleep(60)"})
        await debug(Session.connect_unix(Path(place)))


async def test_transcript_has_every_message(folder: Path) -> None:
    transcript = folder / "transcript.jsonl"
    await debug(Session.spawn([*ADAPTER, "--transcript", str(transcript)]))
    entries = read_lines(transcript)
    assert entries[0]["from"] == "client"
    assert entries[0]["message"]["command"] == "initialize"
    assert {entry["from"] for entry in entries} == {"client", "adapter"}
    assert any(entry["message"].get("event") == "exited" for entry in entries)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_log_goes_to_its_file(folder: Path) -> None:
    log = folder / "log"
    await debug(Session.spawn([*ADAPTER, "--log", str(log)]))
    assert "DEBUG" in read_text(log)
    assert log.stat().st_mode & 0o777 == 0o600


def read_text(path: Path) -> str:
    return path.read_text()
