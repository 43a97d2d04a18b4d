"""The official client talks to `dapkit mcp --http`; nobody else gets in."""

import asyncio
import socket
import subprocess
import sys
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from uvicorn import Config
from uvicorn.server import ServerState

from dapkit import limits
from dapkit.mcp.admission import HttpAdmission
from e2e.mcp.answer_data import DETAILS
from e2e.mcp.http_server import Served
from private_files import is_for_its_owner


@pytest.mark.thorough
async def test_program_is_debugged_over_http(served: Served) -> None:
    async with (
        served.client() as http,
        Client(streamable_http_client(served.address, http_client=http)) as client,
    ):
        launch = {"action": "launch", "program": "app.py", "breakpoints": ["app.py:5"]}
        result = await client.call_tool("debug", launch, meta=DETAILS)
        assert result.structured_content is not None
        assert result.structured_content["details"]["snapshot"]["status"] == "stopped"
        result = await client.call_tool("debug", {"action": "terminate"})
        assert not result.is_error


@pytest.mark.thorough
def test_token_of_a_killed_server_goes_with_the_next_start(project: Path, served: Served) -> None:
    command = [sys.executable, "-m", "dapkit.cli", "mcp", "--http", "--project", str(project)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        stale = Served(killed).token
        killed.kill()
    assert stale.exists()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert Served(process).token.exists()
        process.terminate()
    assert not stale.exists()
    assert served.token.exists()


@pytest.mark.thorough
async def test_half_open_connections_keep_nobody_out(served: Served) -> None:
    place = urlsplit(served.address)
    with ExitStack() as stack:
        strangers = [
            stack.enter_context(socket.create_connection((place.hostname, place.port)))
            for _ in range(limits.UNADMITTED_CONNECTIONS + 436)
        ]
        for stranger in strangers[::2]:
            stranger.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        async with served.client() as http:
            message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            answer = await http.post(served.address, json=message, headers=ACCEPT)
            assert answer.status_code == 400  # it is let in, and should have begun with `initialize`
        oldest = strangers[0]
        oldest.settimeout(30)
        with suppress(ConnectionError):
            assert oldest.recv(1) == b""


@pytest.mark.thorough
def test_request_that_a_proxy_forwards_admits_its_connection(served: Served) -> None:
    place = urlsplit(served.address)
    headers = {"Authorization": f"Bearer {served.token.read_text()}", "X-Forwarded-For": "192.0.2.1"}
    with closing(HTTPConnection(place.netloc, timeout=60)) as forwarded, ExitStack() as stack:
        assert status_of(forwarded, headers) == 404
        strangers = [
            stack.enter_context(socket.create_connection((place.hostname, place.port)))
            for _ in range(limits.UNADMITTED_CONNECTIONS + 1)
        ]
        strangers[0].settimeout(60)
        with suppress(ConnectionError):
            assert strangers[0].recv(1) == b""  # the oldest that was not admitted has to go
        assert status_of(forwarded, headers) == 404


def status_of(connection: HTTPConnection, headers: dict[str, str]) -> int:
    """Ask on a connection for a page that there is not."""
    connection.request("GET", "/nothing", headers=headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


async def test_connection_without_a_token_is_closed_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.01)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(
        lambda: HttpAdmission("token").protocol()(config=Config(_refuse), server_state=ServerState(), app_state={}),
        "127.0.0.1",
    )
    async with listening:
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()


async def _refuse(scope: object, receive: object, send: object) -> None:
    raise AssertionError(f"nothing was asked, but {scope} {receive} {send}")


ACCEPT = {"Accept": "application/json, text/event-stream"}

STRANGERS = [
    ({"Authorization": ""}, 401),
    ({"Authorization": "Bearer guessed"}, 401),
    ({"Host": "attacker.example"}, 421),
    ({"Origin": "http://attacker.example"}, 403),
]


@pytest.mark.thorough
async def test_strangers_are_refused_and_the_token_is_for_the_user_alone(served: Served) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for headers, status in STRANGERS:
        async with served.client(**headers) as http:
            answer = await http.post(served.address, json=message, headers=ACCEPT)
        assert (headers, answer.status_code) == (headers, status)
    assert is_for_its_owner(served.token)
    assert served.address.startswith("http://127.0.0.1:")
