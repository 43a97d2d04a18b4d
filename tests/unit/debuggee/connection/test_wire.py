"""Frames and JSON of the link."""

import json

import pytest

from dapkit.python.debuggee.connection import framing
from dapkit.python.debuggee.interpreter import limits
from dapkit.python.debuggee.interpreter.errors import MalformedFrame


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def test_messages_survive_any_split() -> None:
    data = framing.encode({"seq": 1, "text": "ä€😀"}) + framing.encode({"seq": 2, "list": [None, True, 1.5, "x"]})
    for size in range(1, len(data) + 1):
        reader = framing.FrameReader()
        messages = [message for at in range(0, len(data), size) for message in reader.feed(data[at : at + size])]
        assert messages == [{"seq": 1, "text": "ä€😀"}, {"seq": 2, "list": [None, True, 1.5, "x"]}]


def test_what_is_encoded_is_json_without_lone_surrogates() -> None:
    message: framing.Json = {"a": "\udcff\u0000\u2028", "b": {"c": [1, "😀"]}}
    body = framing.encode(message).partition(b"\r\n\r\n")[2]
    assert json.loads(body) == {"a": "?\u0000\u2028", "b": {"c": [1, "😀"]}}


def test_header_may_have_other_fields_in_any_case() -> None:
    assert framing.FrameReader().feed(b"X: y\r\ncontent-LENGTH:2\r\n\r\n{}") == [{}]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Type: y\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"x" * (limits.HEADER_BYTES + 1),
        frame(b"[1]"),
        frame(b"{"),
        frame(b'{"a": 1} {}'),
        frame(b'{"a": "\xff"}'),
        frame(b""),
        frame(b'{"a": ' + b"[" * 100_000),
    ],
)
def test_what_is_no_message_is_told_as_malformed(data: bytes) -> None:
    with pytest.raises(MalformedFrame):
        framing.FrameReader().feed(data)
