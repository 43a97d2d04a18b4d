"""The official client talks to `dapkit mcp --http`; nobody else gets in."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


class Served:
    """A server that listens.

    Attributes:
        address: where.
        token: the file that holds its token.

    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.address = process.stdout.readline().removeprefix("address: ").strip()
        self.token = Path(process.stdout.readline().removeprefix("token: ").strip())

    def client(self, **headers: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {self.token.read_text()}", **headers})


@pytest.fixture
def served(project: Path, runtime: Path) -> Iterator[Served]:
    """Return a server that ends with the test."""
    command = [sys.executable, "-m", "dapkit.cli", "mcp", "--http", "--project", str(project)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ, cwd=runtime) as process:
        found = Served(process)
        try:
            yield found
        finally:
            process.terminate()
            process.wait(20)
            assert not found.token.exists()


async def test_program_is_debugged_over_http(served: Served) -> None:
    async with (
        served.client() as http,
        Client(streamable_http_client(served.address, http_client=http)) as client,
    ):
        result = await client.call_tool("debug", {"action": "launch", "program": "app.py", "breakpoints": ["app.py:5"]})
        assert result.structured_content is not None
        assert result.structured_content["details"]["snapshot"]["status"] == "stopped"
        result = await client.call_tool("debug", {"action": "terminate"})
        assert not result.is_error


STRANGERS = [
    ({"Authorization": ""}, 401),
    ({"Authorization": "Bearer guessed"}, 401),
    ({"Host": "attacker.example"}, 421),
    ({"Origin": "http://attacker.example"}, 403),
]


async def test_strangers_are_refused_and_the_token_is_for_the_user_alone(served: Served) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    for headers, status in STRANGERS:
        async with served.client(**headers) as http:
            answer = await http.post(served.address, json=message, headers=accept)
        assert (headers, answer.status_code) == (headers, status)
    assert stat.S_IMODE(served.token.stat().st_mode) == 0o600
    assert served.address.startswith("http://127.0.0.1:")
