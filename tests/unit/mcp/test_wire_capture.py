"""What a server by HTTP receives and sends is kept, and is not changed by that."""

import json
from collections.abc import MutableMapping, Sequence
from typing import Any

import pytest

from dapkit.mcp import limits
from dapkit.mcp.admission import AsgiApplication, AsgiReceive, AsgiScope, AsgiSend
from dapkit.mcp.wire_capture import WireCapture
from dapkit.transport import WireBuffer, WireHead

type Messages = Sequence[MutableMapping[str, Any]]

CALL = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}'


def started(kind: str) -> dict[str, Any]:
    return {"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", kind.encode())]}


def body(data: str, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data.encode(), "more_body": more}


def events(*texts: str) -> Messages:
    chunks = [body(f"event: message\r\ndata: {text}\r\n\r\n", more=True) for text in texts]
    return [started("text/event-stream; charset=utf-8"), *chunks, body("")]


def answer(data: str, kind: str = "application/json") -> Messages:
    return [started(kind), body(data[:5], more=True), body(data[5:])]


def sends(messages: Messages) -> AsgiApplication:
    """Return an application that reads all of a request, then sends messages."""

    async def application(_scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        while (await receive()).get("more_body", False):
            pass
        for message in messages:
            await send(message)

    return application


@pytest.fixture
def capture() -> WireCapture:
    return WireCapture(WireBuffer(), "mcp 8123")


async def exchange(capture: WireCapture, request: str, messages: Messages) -> None:
    """Have one exchange captured, and see that all of it passes as it was sent."""
    half = len(request) // 2
    incoming: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": request[:half].encode(), "more_body": True},
        {"type": "http.request", "body": request[half:].encode(), "more_body": False},
    ]
    passed: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return incoming.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        passed.append(message)

    await capture.captured(sends(messages))({"type": "http"}, receive, send)
    assert passed == list(messages)
    assert incoming == []


def kept(capture: WireCapture) -> list[tuple[str, WireHead]]:
    records = capture.buffer.after(0)
    assert {record.channel for record in records} <= {"mcp 8123"}
    return [(record.sender, record.head) for record in records]


def result(number: object, **more: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": more})


async def test_request_and_each_event_of_its_stream_are_records(capture: WireCapture) -> None:
    progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}'
    await exchange(capture, CALL, events(progress, result(3, content=[])))
    assert kept(capture) == [
        ("client", WireHead(kind="request", name="tools/call", seq=1)),
        ("server", WireHead(kind="event", name="notifications/progress")),
        ("server", WireHead(kind="response", name="tools/call", request_seq=1, success=True)),
    ]
    assert [record.text for record in capture.buffer.after(0)] == [CALL, progress, result(3, content=[])]


async def test_clients_that_number_alike_are_told_apart(capture: WireCapture) -> None:
    for number in (3, 3, "three"):
        request = json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"})
        await exchange(capture, request, answer(result(number)))
    assert [head.seq for _, head in kept(capture)[::2]] == [1, 2, 3]
    assert [head.request_seq for _, head in kept(capture)[1::2]] == [1, 2, 3]


@pytest.mark.parametrize(
    "response", [result(3, isError=True), '{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}']
)
async def test_what_failed_is_known(capture: WireCapture, response: str) -> None:
    await exchange(capture, CALL, answer(response))
    assert kept(capture)[1] == (
        "server",
        WireHead(kind="response", name="tools/call", request_seq=1, success=False),
    )


async def test_error_without_a_request_is_a_response(capture: WireCapture) -> None:
    await exchange(capture, "{", answer('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'))
    first, second = capture.buffer.after(0)
    assert first.problem is not None
    assert first.problem.startswith("it is not JSON")
    assert second.head == WireHead(kind="response", name="error", success=False)


async def test_request_of_the_server_is_answered_by_its_number(capture: WireCapture) -> None:
    await exchange(capture, CALL, events('{"jsonrpc":"2.0","id":0,"method":"roots/list"}'))
    await exchange(capture, result(0, roots=[]), answer(""))
    assert kept(capture)[1:] == [
        ("server", WireHead(kind="request", name="roots/list", seq=0)),
        ("client", WireHead(kind="response", name="result", request_seq=0, success=True)),
    ]


async def test_event_of_another_kind_has_its_own_name(capture: WireCapture) -> None:
    data = [body("event: endpoint\ndata: /messages\n\n", more=True), body("id: 9\ndata:\n\n: ping\n\n")]
    await exchange(capture, "", [started("text/event-stream"), *data])
    assert [(record.head, record.text) for record in capture.buffer.after(0)] == [
        (WireHead(kind="event", name="endpoint"), "/messages"),
        (WireHead(kind="event", name="message"), "id: 9\n"),
    ]


async def test_page_that_is_neither_is_not_kept(capture: WireCapture) -> None:
    await exchange(capture, "", answer("there is no such page", "text/plain"))
    assert kept(capture) == []


async def test_fault_here_is_logged_and_passes_everything_on(
    capture: WireCapture, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise MemoryError

    monkeypatch.setattr(capture.buffer, "add", fail)
    await exchange(capture, CALL, events(result(3), result(3)))
    assert [record.getMessage() for record in caplog.records] == ["the rest of an exchange is not kept for diagnostics"]


async def test_what_is_too_long_is_not_kept_and_passes(
    capture: WireCapture, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits, "MCP_EVENT_BYTES", 100)
    await exchange(capture, CALL, [started("text/event-stream"), body("data: " + "x" * 101, more=True), body("\n\n")])
    assert len(kept(capture)) == 1
    assert "an event is longer than 100 bytes" in caplog.text
