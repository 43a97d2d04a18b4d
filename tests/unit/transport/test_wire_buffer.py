"""The last messages of a wire: bounded, counted, cut with a marker."""

import json

import pytest

from dapkit import limits
from dapkit.endpoint import Role
from dapkit.protocol import encode_frame
from dapkit.transport import WireBuffer, WireHead, WireTap
from dapkit.transport import limits as transport_limits


def added(buffer: WireBuffer, *texts: str) -> WireBuffer:
    for text in texts:
        buffer.add(text, sender="client", head=WireHead())
    return buffer


def test_no_more_than_1000_records_are_kept_and_each_is_counted() -> None:
    buffer = added(WireBuffer(), *(str(number) for number in range(1, 1_501)))
    assert limits.WIRE_RECORDS == 1_000
    assert (buffer.total, len(buffer)) == (1_500, 1_000)
    assert [record.number for record in buffer.after(0)] == list(range(501, 1_501))
    assert [record.text for record in buffer.after(1_498)] == ["1499", "1500"]
    assert buffer.after(1_500) == []
    assert buffer.after(9_999) == []


def test_no_more_than_512_000_characters_are_kept() -> None:
    buffer = added(WireBuffer(), *["x" * 50_000] * 20)
    assert limits.WIRE_CHARACTERS == 512_000
    assert (buffer.total, len(buffer), buffer.characters) == (20, 10, 500_000)


def test_record_of_more_than_64_000_characters_is_cut_and_says_so() -> None:
    [record] = added(WireBuffer(), "é" * 70_000).after(0)
    assert len(record.text) <= transport_limits.WIRE_RECORD_CHARACTERS == 64_000
    assert record.length == 70_000
    kept = record.text.index("\n")
    assert record.text.endswith(f"é\n: dapkit-truncated, {kept} of 70000 characters")


def test_tap_names_what_passes_in_both_directions() -> None:
    buffer = WireBuffer()
    tap = WireTap(buffer, role=Role.CLIENT, channel="child 1")
    request = encode_frame(b'{"seq":1,"type":"request","command":"threads"}')
    tap("sent", request[:20])
    assert buffer.total == 0
    tap("sent", request[20:])
    tap("received", encode_frame(b'{"seq":7,"type":"response","request_seq":1,"success":true,"command":"threads"}'))
    tap("received", encode_frame(b'{"seq":8,"type":"event","event":"stopped","body":{"reason":"step"}}'))
    assert [(record.sender, record.head, record.channel) for record in buffer.after(0)] == [
        ("client", WireHead(kind="request", name="threads", seq=1), "child 1"),
        ("adapter", WireHead(kind="response", name="threads", request_seq=1, success=True), "child 1"),
        ("adapter", WireHead(kind="event", name="stopped"), "child 1"),
    ]
    assert [json.loads(record.text)["seq"] for record in buffer.after(0)] == [1, 7, 8]


@pytest.mark.parametrize(
    ("data", "problem"), [(encode_frame(b"[1]"), "object"), (b"nothing of the protocol\r\n\r\n", "header")]
)
def test_what_is_no_message_is_kept_with_what_is_wrong(data: bytes, problem: str) -> None:
    buffer = WireBuffer()
    WireTap(buffer, role=Role.CLIENT)("received", data)
    [record] = buffer.after(0)
    assert (record.head, record.sender) == (WireHead(), "adapter")
    assert record.problem is not None
    assert problem in record.problem


def test_head_is_known_of_a_message_that_is_cut() -> None:
    buffer = WireBuffer()
    body = "x" * 100_000
    message = json.dumps({"seq": 3, "body": {"text": body}, "event": "output", "type": "event"})
    WireTap(buffer, role=Role.CLIENT)("received", encode_frame(message.encode()))
    [record] = buffer.after(0)
    assert record.head == WireHead(kind="event", name="output")
    assert record.length == len(message)


def test_what_is_kept_of_a_message_and_the_marker_are_known_apart() -> None:
    whole, cut = added(WireBuffer(), "a\nb", "a\n" * 40_000).after(0)
    assert whole.text_and_marker == ("a\nb", "")
    text, marker = cut.text_and_marker
    assert text == ("a\n" * 40_000)[: len(text)]
    assert marker == f"\n: dapkit-truncated, {len(text)} of 80000 characters"
