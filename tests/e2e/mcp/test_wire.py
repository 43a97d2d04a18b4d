"""What passes between a server by HTTP and its clients is shown by `dapkit wire --mcp`, to the user alone."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from dapkit.cli import exit_codes
from e2e.mcp.http_server import Served, serving
from e2e.transport.strangers import fate_of_another_user
from private_files import is_for_its_owner

PLANTED = "hunter-22-tooth"
SECONDS = 50

pytestmark = pytest.mark.timeout(120)


async def wire(project: Path, *words: str, expect: int = exit_codes.DONE) -> str:
    """Run `dapkit wire`, and return what it wrote; its errors if it is to fail."""
    command = [sys.executable, "-m", "dapkit.cli", "wire", *words]

    def run() -> str:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == expect, (done.stdout, done.stderr)
        return done.stderr if expect else done.stdout

    return await anyio.to_thread.run_sync(run)


def messages_in(lines: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


async def debug_by(served: Served, mode: str, reports: list[str]) -> None:
    """Debug a program as a client does that wants to be told of progress."""

    async def report(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - as the client has it
        reports.append(message or "")

    async with (
        served.client() as http,
        Client(streamable_http_client(served.address, http_client=http), mode=mode) as client,
    ):
        launch = {
            "action": "launch",
            "program": "app.py",
            "breakpoints": ["app.py:5"],
            "args": ["--password", PLANTED],
            "env": {"API_TOKEN": PLANTED},
        }
        await client.call_tool("debug", launch, progress_callback=report)
        await client.call_tool("debug", {"action": "evaluate", "expression": "nowhere"})
        await client.call_tool("debug", {"action": "terminate"})


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_event_is_shown_and_every_request_has_its_response(
    project: Path, served: Served, mode: str
) -> None:
    reports: list[str] = []
    await debug_by(served, mode, reports)
    lines = await wire(project, "--mcp", "--json")
    messages = messages_in(lines)
    assert [message["number"] for message in messages] == list(range(1, len(messages) + 1))
    requests = [message for message in messages if message["kind"] == "request"]
    assert [message["name"] for message in requests].count("tools/call") == 3
    for request in requests:
        response = messages[request["response"] - 1]
        assert (response["name"], response["request"], response["sender"]) == (
            request["name"],
            request["number"],
            "server",
        )
        assert response["message"]["id"] == request["message"]["id"]
        assert response["milliseconds"] == request["milliseconds"] > 0
    progress = [message for message in messages if message["name"] == "notifications/progress"]
    assert [message["message"]["params"]["message"] for message in progress] == reports
    assert {message["kind"] for message in progress} == {"event"}
    failed = messages_in(await wire(project, "--mcp", "--json", "--failed", "--kind", "response"))
    assert ["NameError" in json.dumps(message) for message in failed] == [True]


@pytest.mark.thorough
async def test_no_secret_and_no_token_is_shown(project: Path, served: Served) -> None:
    await debug_by(served, "legacy", [])
    for words in (["--json"], ["--whole"], []):
        shown = await wire(project, "--mcp", *words)
        assert "API_TOKEN" in shown
        assert PLANTED not in shown
        assert served.token.read_text() not in shown


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_settings_say_whether_secrets_are_left_out(project: Path) -> None:
    with serving(project, DAPKIT_REDACT_ENABLED="false") as served:
        await debug_by(served, "auto", [])
        assert PLANTED in await wire(project, "--mcp", "--whole")


@pytest.mark.thorough
async def test_strangers_leave_nothing(project: Path, served: Served) -> None:
    async with served.client(Authorization="Bearer guessed") as http:
        answer = await http.post(served.address, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 401
    assert await wire(project, "--mcp", "--json") == ""


@contextmanager
def following(project: Path, port: str) -> Iterator[subprocess.Popen[str]]:
    """Run `dapkit wire --follow`, and wait until it has ended with the server."""
    command = [sys.executable, "-m", "dapkit.cli", "wire", "--mcp", port, "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=project) as process:
        yield process
        assert process.wait(SECONDS) == 0


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_events_are_followed_until_the_server_ends(project: Path) -> None:
    with serving(project) as served:
        port = str(urlsplit(served.address).port)
        with following(project, port) as follower:
            assert follower.stdout is not None
            await debug_by(served, "legacy", [])
            first = await anyio.to_thread.run_sync(follower.stdout.readline)
            assert re.search(rf"    1 -> \[mcp {port}\] request initialize #1 ", first)
            served.process.terminate()
            rest = await anyio.to_thread.run_sync(follower.stdout.read)
            assert rest.count("request tools/call #") == 3


@pytest.mark.thorough
async def test_socket_is_the_users_alone_and_that_of_a_killed_server_goes(project: Path, served: Served) -> None:
    place = served.token.with_suffix(".sock")
    assert is_for_its_owner(place)
    with serving(project) as killed:
        stale = killed.token.with_suffix(".sock")
        assert stale.exists()
        two = await wire(project, "--mcp", expect=exit_codes.USAGE)
        assert "Several MCP servers run: say which by its port" in two
        killed.process.kill()
    assert stale.exists()
    port = stale.stem.removeprefix("mcp-")
    none = await wire(project, "--mcp", port, expect=exit_codes.WRONG_STATE)
    assert f"No MCP server listens on port {port}." in none
    assert await wire(project, "--mcp") == ""  # the other one is the only one that lives
    with serving(project):
        assert not stale.exists()
    assert place.exists()


@pytest.mark.usefixtures("root")
@pytest.mark.thorough
async def test_another_user_cannot_read_the_events(served: Served) -> None:
    socket = served.token.with_suffix(".sock")
    fate = await anyio.to_thread.run_sync(fate_of_another_user, str(socket))
    assert fate == "PermissionError"
