"""Server-sent events out of bytes, however these are cut."""

import pytest

from dapkit.mcp import limits
from dapkit.mcp.wire_capture import EventTooLong, ServerSentEvent, ServerSentStream

STREAM = (
    "\ufeff: hello\r\n\r\n"
    'event: message\r\ndata: {"é": 1}\r\n\r\n'
    ": ping\n\n"
    "id: 7\rdata:first\rdata: second\r\r"
    "data\n\nretry: 10\n\n"
    "event:told\nevent: twice\ndata: x: y\nunknown: z\n\n"
    "data: without an end"
).encode()
EVENTS = [
    ServerSentEvent("message", '{"é": 1}'),
    ServerSentEvent("", "first\nsecond", "7"),
    ServerSentEvent("", ""),
    ServerSentEvent("twice", "x: y"),
]


@pytest.mark.parametrize("size", [*range(1, 12), len(STREAM)])
def test_events_are_the_same_in_chunks_of_any_size(size: int) -> None:
    stream = ServerSentStream()
    found = [event for at in range(0, len(STREAM), size) for event in stream.feed(STREAM[at : at + size])]
    assert found == EVENTS


def test_blank_line_of_two_chunks_ends_one_event() -> None:
    stream = ServerSentStream()
    assert stream.feed(b"data: 1\r\n\r") == [ServerSentEvent("", "1")]
    assert stream.feed(b"\ndata: 2\r\n") == []
    assert stream.feed(b"\r\n") == [ServerSentEvent("", "2")]


def test_event_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MCP_EVENT_BYTES", 100)
    stream = ServerSentStream()
    assert stream.feed(b"data: " + b"x" * 90) == []
    with pytest.raises(EventTooLong, match="longer than 100 bytes"):
        stream.feed(b"x" * 10)
