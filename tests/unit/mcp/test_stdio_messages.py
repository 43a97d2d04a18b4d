"""Messages on the standard streams of the MCP server that its usual clients do not send."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from dapkit.mcp import limits
from dapkit.mcp.debug_service import DebugService
from dapkit.mcp.opening import VERSIONS, answer_opening
from dapkit.mcp.stdio import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, StdioServer

INVALID_PARAMS = -32602

type Send = Callable[[bytes], Awaitable[None]]
type Receive = Callable[[], Awaitable[dict[str, Any]]]


class WaitingService(DebugService):
    """A service whose tool never answers, as a program that does not stop."""

    def __init__(self) -> None:
        super().__init__(Path.cwd())
        self.given_up = anyio.Event()

    async def call_tool(self, *_: object, **__: object) -> dict[str, Any]:
        try:
            await anyio.sleep_forever()
        finally:
            self.given_up.set()
        raise AssertionError


@asynccontextmanager
async def served(service: DebugService, *, first: bytes = b"") -> AsyncIterator[tuple[Send, Receive]]:
    """Serve on two pipes; return how to send bytes and how to receive a message."""
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    with (
        os.fdopen(to_server, "rb") as reads,
        os.fdopen(from_server, "wb") as writes,
        os.fdopen(from_client, "wb", buffering=0) as client,
        os.fdopen(to_client, "rb") as answers,
    ):

        async def send(data: bytes) -> None:
            await to_thread.run_sync(client.write, data)

        async def receive() -> dict[str, Any]:
            with anyio.fail_after(30):
                message: dict[str, Any] = json.loads(await to_thread.run_sync(answers.readline))
                return message

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(StdioServer(service, reads, writes, first=first).run)
            try:
                yield send, receive
            finally:
                client.close()


def request(method: str, number: object = 1, **params: object) -> bytes:
    """Return a request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


WRONG: list[tuple[bytes, object, int, str]] = [
    (b"nonsense\n", None, PARSE_ERROR, "expected a JSON object, found b'nonsense"),
    (b"[" * 100_000 + b"\n", None, PARSE_ERROR, "expected a JSON object"),
    (b"[]\n", None, INVALID_REQUEST, "expected a request of JSON-RPC 2.0, found b'[]"),
    (b'{"id": 1, "method": "ping"}\n', None, INVALID_REQUEST, "expected a request of JSON-RPC 2.0"),
    (request("fly"), 1, METHOD_NOT_FOUND, "there is no method fly"),
    (request("tools/call"), 1, INVALID_PARAMS, "expected a text as name, found NoneType"),
    (
        request("tools/call", name="debug", arguments=[]),
        1,
        INVALID_PARAMS,
        "expected an object as arguments, found list",
    ),
    (request("tools/call", "a", name="fly"), "a", INVALID_PARAMS, "there is no tool fly, but debug and debug_look"),
    (request("resources/read", uri="dapkit://nothing"), 1, INVALID_PARAMS, "there is no resource dapkit://nothing"),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 3}\n',
        1,
        INVALID_PARAMS,
        "expected an object as params",
    ),
]


async def test_wrong_messages_are_answered_and_the_next_one_is_served(tmp_path: Path) -> None:
    async with served(DebugService(tmp_path)) as (send, receive):
        for data, number, code, text in WRONG:
            await send(data)
            answer = await receive()
            assert (answer["id"], answer["error"]["code"]) == (number, code)
            assert answer["error"]["message"].startswith(text)
        await send(b"\n" + request("ping", 7))
        assert await receive() == {"jsonrpc": "2.0", "id": 7, "result": {}}


async def test_longest_message_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MCP_MESSAGE_BYTES", 1000)
    async with served(DebugService(tmp_path)) as (send, receive):
        await send(b" " * 5000 + b"\n" + request("ping"))
        assert (await receive())["error"]["message"] == "a message is longer than 1000 bytes"
        assert await receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("version", [*VERSIONS, "1999-01-01"])
async def test_version_of_the_client_is_taken_if_it_is_known(tmp_path: Path, version: str) -> None:
    async with served(DebugService(tmp_path)) as (send, receive):
        await send(request("initialize", protocolVersion=version))
        result = (await receive())["result"]
        assert result["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0])
        assert result["serverInfo"]["name"] == "dapkit"


async def test_cancelled_request_is_given_up_without_an_answer() -> None:
    service = WaitingService()
    async with served(service) as (send, receive):
        await send(request("tools/call", 1, name="debug"))
        await send(request("ping", 1))
        assert (await receive())["error"]["message"] == "request 1 is not answered yet"
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await send(json.dumps(cancel).encode() + b"\n")
        with anyio.fail_after(30):
            await service.given_up.wait()
        await send(request("ping", 2))
        assert await receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_end_of_the_client_gives_up_its_requests() -> None:
    service = WaitingService()
    async with served(service) as (send, _):
        await send(request("tools/call", 1, name="debug"))
    assert service.given_up.is_set()


def test_ctrl_c_ends_a_server_that_waits_for_a_message(tmp_path: Path) -> None:
    unignored = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", unignored, sys.executable, "-m", "dapkit.cli", "mcp"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(request("ping"))
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"] == {}
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == -signal.SIGINT


def test_standard_streams_need_nothing_of_the_sdk() -> None:
    command = (
        "import sys, dapkit.mcp.stdio; print(sorted({'mcp', 'pydantic', 'uvicorn', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


OPENING = b'{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'


def test_first_message_is_answered_before_the_server_is_there() -> None:
    reads, writes = io.BytesIO(OPENING + b"rest"), io.BytesIO()
    assert answer_opening(reads, writes, 1000) == b""
    answer = json.loads(writes.getvalue())
    assert (answer["id"], answer["result"]["protocolVersion"]) == ("a", "2025-06-18")
    assert reads.read() == b"rest"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no JSON\n",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
        b'{"jsonrpc":"2.0","method":"initialize","params":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}\n',
    ],
)
def test_any_other_first_message_is_left_to_the_server(line: bytes) -> None:
    writes = io.BytesIO()
    assert answer_opening(io.BytesIO(line), writes, 200_000) == line
    assert not writes.getvalue()


async def test_server_begins_with_the_line_that_was_read() -> None:
    first = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    async with served(DebugService(Path.cwd()), first=first) as (send, receive):
        assert (await receive())["id"] == 1
        await send(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        assert (await receive())["id"] == 2
