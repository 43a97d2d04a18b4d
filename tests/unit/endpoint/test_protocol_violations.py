"""What a peer must not do: each item of three lists is answered, or ends the conversation, or is noted; never ignored.

The names are those of the checks that any adapter can be put to: frames, messages, state.
"""

import json

import pytest

from dapkit.endpoint import ConversationEnded, Endpoint, Phase, RequestReceived, ResponseUnusable, Role, limits
from dapkit.protocol import (
    COMMANDS,
    ContinueBody,
    Direction,
    RawJson,
    Request,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
    ThreadsArguments,
    encode_frame,
)
from dapkit.testing import Pair
from raw_peer import RawPeer, raw_client

GOOD = b'{"seq":2,"type":"request","command":"threads"}'
HEADER = b"Content-Length: %d" % len(GOOD)


def outcome(endpoint: Endpoint, data: bytes) -> str:
    """What becomes of bytes, in one word; nothing at all is `silent`."""
    happenings = endpoint.receive(data)
    if endpoint.ended is not None:
        return "ended"
    if any(isinstance(happening, RequestReceived) for happening in happenings):
        return "handed over"
    if b'"success":false' in endpoint.bytes_to_send():
        return "refused"
    return "waits" if not endpoint.violations.count else "noted"


FRAMES = {
    "len-not-number": (b"Content-Length: ten\r\n\r\n" + GOOD, "ended"),
    "len-negative": (b"Content-Length: -10\r\n\r\n" + GOOD, "ended"),
    "len-zero": (b"Content-Length: 0\r\n\r\n", "ended"),
    "len-missing": (b"X-Other: 1\r\n\r\n" + GOOD, "ended"),
    "len-duplicate": (HEADER + b"\r\n" + HEADER + b"1\r\n\r\n" + GOOD, "ended"),
    "len-too-small": (b"Content-Length: %d\r\n\r\n" % (len(GOOD) - 5) + GOOD, "ended"),
    "len-2GB-memory": (b"Content-Length: 2000000000\r\n\r\n", "ended"),
    "len-1e14-no-crash": (b"Content-Length: 100000000000000\r\n\r\n", "ended"),
    "header-lower-case": (b"content-length: %d\r\n\r\n" % len(GOOD) + GOOD, "handed over"),
    "header-extra-before": (b"X-Other: 1\r\n" + HEADER + b"\r\n\r\n" + GOOD, "handed over"),
    "header-extra-after": (HEADER + b"\r\nContent-Type: application/json\r\n\r\n" + GOOD, "handed over"),
    "header-no-space": (b"Content-Length:%d\r\n\r\n" % len(GOOD) + GOOD, "handed over"),
    "header-lf-only": (HEADER + b"\n\n" + GOOD, "handed over"),
    "header-64KB-cap": (b"X-Other: " + b"x" * 70_000, "ended"),
    "body-100MB": (b"Content-Length: 100000000\r\n\r\n", "ended"),
    "two-frames-in-one-write": (encode_frame(GOOD) + encode_frame(GOOD.replace(b"2", b"3")), "handed over"),
    "http-post": (b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", "ended"),
}


@pytest.mark.parametrize(("data", "expected"), FRAMES.values(), ids=FRAMES)
def test_frame(client: RawPeer, data: bytes, expected: str) -> None:
    assert outcome(client.endpoint, data) == expected


@pytest.mark.parametrize("cut", [1, 7, len(HEADER) + 4, len(encode_frame(GOOD)) - 1])
def test_frame_len_too_large_then_eof_ends_with_the_reason(client: RawPeer, cut: int) -> None:
    assert client.endpoint.receive(encode_frame(GOOD)[:cut]) == []
    assert client.endpoint.receive_eof() == [ConversationEnded("the stream ended in the middle of a message")]


def test_frame_byte_by_byte_and_split_in_utf8(client: RawPeer) -> None:
    frame = encode_frame('{"seq":2,"type":"request","command":"evaluate","arguments":{"expression":"é😀"}}'.encode())
    happenings = [happening for byte in frame for happening in client.endpoint.receive(bytes([byte]))]
    [asked] = happenings
    assert isinstance(asked, RequestReceived)
    assert asked.request.arguments.expression == "é😀"  # type: ignore[union-attr] # typed by the endpoint


def test_messages_before_a_framing_error_still_count(client: RawPeer) -> None:
    [asked, ended] = client.endpoint.receive(encode_frame(GOOD) + b"rubbish\r\n\r\n")
    assert isinstance(asked, RequestReceived)
    assert isinstance(ended, ConversationEnded)
    client.endpoint.respond(asked.request, RawJson(b'{"threads":[]}'))
    assert [message["command"] for message in client.hear()] == ["threads"]


def test_after_the_end_nothing_is_heard(client: RawPeer) -> None:
    client.endpoint.receive(b"rubbish\r\n\r\n")
    assert client.endpoint.receive(encode_frame(GOOD)) == []
    assert client.endpoint.receive_eof() == []


def message(**changes: object) -> bytes:
    members = {"seq": 2, "type": "request", "command": "evaluate", "arguments": {"expression": "1"}} | changes
    return json.dumps({name: value for name, value in members.items() if value is not ...}).encode()


MESSAGES = {
    "json-invalid": (b'{"seq": 2, "type": ', "ended"),
    "json-array": (b"[1, 2]", "ended"),
    "json-number": (b"42", "ended"),
    "json-null": (b"null", "ended"),
    "json-deep-1m": (b"[" * 1_000_000 + b"]" * 1_000_000, "ended"),
    "json-deep-1m-in-arguments": (message(arguments=0).replace(b" 0", b"[" * 1_000_000 + b"]" * 1_000_000), "ended"),
    "json-bad-utf8": (message().replace(b'"1"', b'"\xff"'), "handed over"),
    "json-lone-surrogate": (message().replace(b'"1"', b'"\\udcff"'), "handed over"),
    "json-nan": (message(arguments={"expression": "1", "frameId": 0}).replace(b"0}", b"NaN}"), "handed over"),
    "json-dup-keys": (message().replace(b"{", b'{"seq": 1,', 1), "handed over"),
    "json-bom": (b"\xef\xbb\xbf" + message(), "handed over"),
    "type-missing": (message(type=...), "refused"),
    "type-unknown": (message(type="query"), "refused"),
    "command-missing": (message(command=...), "refused"),
    "command-not-string": (message(command=7), "refused"),
    "seq-missing": (message(seq=...), "ended"),
    "seq-string": (message(seq="2"), "ended"),
    "seq-huge": (message(seq=2**70, arguments={}), "refused"),
    "args-missing": (message(arguments=...), "refused"),
    "args-null": (message(arguments=None), "refused"),
    "args-list": (message(arguments=[]), "refused"),
    "args-string": (message(arguments="1"), "refused"),
    "inner-type-wrong": (message(command="setBreakpoints", arguments={"source": {}, "breakpoints": 7}), "refused"),
    "line-string": (message(arguments={"expression": "1", "line": "abc"}), "refused"),
    "line-negative": (message(arguments={"expression": "1", "line": -1}), "refused"),
    "line-1e12": (message(arguments={"expression": "1", "line": 10**12}), "handed over"),
    "line-1e20": (message(arguments={"expression": "1", "line": 10**20}), "refused"),
    "unknown-command": (message(command="query/all"), "handed over"),
    "unknown-enum": (message(arguments={"expression": "1", "context": "imagination"}), "handed over"),
    "unknown-granularity": (
        message(command="next", arguments={"threadId": 1, "granularity": "chapter"}),
        "refused",
    ),
    "unknown-fields-ignored": (message(arguments={"expression": "1", "mood": {"a": [1]}}, extra=1), "handed over"),
    "stray-response": (message(type="response", request_seq=9, success=True), "noted"),
    "stray-event": (message(type="event", event="stopped"), "noted"),
    "response-without-command": (b'{"seq":2,"type":"response","request_seq":1,"success":true}', "noted"),
}


@pytest.mark.parametrize(("payload", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_message(client: RawPeer, payload: bytes, expected: str) -> None:
    assert outcome(client.endpoint, encode_frame(payload)) == expected


@pytest.mark.parametrize(
    "payload",
    [payload for payload, expected in MESSAGES.values() if expected != "ended"],
    ids=[name for name, (_, expected) in MESSAGES.items() if expected != "ended"],
)
def test_session_lives_after_a_message_that_did_not_end_it(client: RawPeer, payload: bytes) -> None:
    client.say_bytes(payload)
    client.hear()
    [asked] = client.ask("threads", seq=1000)
    assert isinstance(asked, RequestReceived)


def test_lone_surrogate_becomes_its_visible_escape(client: RawPeer) -> None:
    [asked] = client.say_bytes(message().replace(b'"1"', b'"\\udcff"'))
    assert isinstance(asked, RequestReceived)
    assert asked.request.arguments.expression == "\\udcff"  # type: ignore[union-attr] # typed by the endpoint


def test_client_goes_on_after_a_message_that_cannot_be_told(adapter: RawPeer) -> None:
    for payload in (b"not json", b"[]", message(seq=..., type="event", event="output"), message(type=..., command=...)):
        assert adapter.say_bytes(payload) == []
    assert adapter.endpoint.ended is None
    assert adapter.endpoint.violations.count == 4


@pytest.mark.parametrize("field", ["success", "command"])
def test_broken_response_still_settles_its_request(adapter: RawPeer, field: str) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    members = {"type": "response", "request_seq": request.seq, "success": True, "command": "threads"}
    del members[field]
    [unusable] = adapter.say(**members)
    assert isinstance(unusable, ResponseUnusable)
    assert unusable.request is request
    assert "required field is missing" in str(unusable.problem)


def test_violations_are_kept_up_to_a_limit_and_counted_beyond(adapter: RawPeer) -> None:
    for _ in range(limits.VIOLATIONS + 10):
        adapter.answer(99, "threads")
    assert len(adapter.endpoint.violations.kept) == limits.VIOLATIONS
    assert adapter.endpoint.violations.count == limits.VIOLATIONS + 10


def test_first_number_out_of_step_is_noted_once(adapter: RawPeer) -> None:
    for _ in range(3):
        adapter.tell("output", {"output": "x"}, seq=0)
    assert [str(violation) for violation in adapter.endpoint.violations.kept] == [
        "event output (seq 0): expected seq 2, got 0 - at `$.seq`"
    ]


# State

ASKED = [name for name, spec in COMMANDS.items() if spec.direction is Direction.CLIENT_TO_ADAPTER]


def in_phase(phase: str) -> RawPeer:
    """Bring an adapter that can do everything into a phase."""
    if phase == "before-initialize":
        return RawPeer(Endpoint(Role.ADAPTER))
    peer = raw_client()
    if phase != "before-launch":
        for command in ("launch", "configurationDone"):
            [asked] = peer.ask(command, {})
            assert isinstance(asked, RequestReceived)
            peer.endpoint.respond(asked.request)
    if phase == "stopped":
        peer.endpoint.send_event(StoppedEvent(reason="pause", thread_id=1))
    if phase == "after-terminated":
        peer.endpoint.send_event(TerminatedEvent())
    peer.hear()
    return peer


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", ["right", "wrong", "missing"])
@pytest.mark.parametrize("phase", ["before-initialize", "before-launch", "running", "stopped", "after-terminated"])
@pytest.mark.parametrize("command", [*ASKED, "custom"])
def test_every_command_in_every_state_gets_exactly_one_response(command: str, phase: str, arguments: str) -> None:
    peer = in_phase(phase)
    contents = {"right": right_arguments(command), "wrong": [1], "missing": None}
    for happening in peer.ask(command, contents[arguments]):
        if isinstance(happening, RequestReceived):
            peer.endpoint.fail(happening.request, "no")
    answers = [said for said in peer.hear() if said["type"] == "response"]
    assert [(said["command"], said["request_seq"]) for said in answers] == [(command, peer.seq)]


def right_arguments(command: str) -> dict[str, object]:
    right: dict[str, dict[str, object]] = {
        "initialize": {"adapterID": "x"},
        "setBreakpoints": {"source": {}},
        "evaluate": {"expression": "1"},
        "next": {"threadId": 1},
        "continue": {"threadId": 1},
    }
    return right.get(command, {})


def test_second_initialize_and_second_launch_are_refused() -> None:
    peer = in_phase("running")
    assert peer.ask("initialize", {"adapterID": "x"}) == []
    assert peer.ask("launch", {}) == []
    assert peer.ask("attach", {}) == []
    assert [said["message"] for said in peer.hear()] == [
        "initialize may be requested only once",
        "launch came after launch: one of them starts a session, once",
        "attach came after launch: one of them starts a session, once",
    ]


def test_stray_event_from_a_client_does_not_move_the_session() -> None:
    peer = in_phase("running")
    assert peer.tell("terminated") == []
    assert peer.endpoint.phase is Phase.RUNNING
    assert peer.endpoint.violations.kept[-1].message == "event terminated (seq 4)"


def test_refused_reverse_request_comes_back_as_a_failure_and_wakes_its_asker() -> None:
    pair = Pair.running()
    asked = pair.adapter.endpoint.request_custom("ours/ask")
    pair.run_until_idle()
    pair.client.fail(asked, "no such command")
    pair.run_until_idle()
    [response] = pair.adapter.responses_to(asked)
    assert response.success is False


def test_disconnect_twice_is_answered_twice() -> None:
    peer = in_phase("running")
    for _ in range(2):
        [asked] = peer.ask("disconnect")
        assert isinstance(asked, RequestReceived)
        peer.endpoint.respond(asked.request)
    assert [(said["command"], said["success"]) for said in peer.hear()] == [("disconnect", True)] * 2


def test_nothing_follows_the_first_of_two_responses_to_disconnect() -> None:
    peer = in_phase("running")
    requests = [
        asked.request for _ in range(2) for asked in peer.ask("disconnect") if isinstance(asked, RequestReceived)
    ]
    peer.endpoint.send_event(ThreadEvent(reason="started", thread_id=2))
    peer.endpoint.respond(requests[1])
    order = [(message["type"], message.get("event") or message["request_seq"]) for message in peer.hear()]
    assert order == [("event", "thread"), ("response", requests[0].seq), ("response", requests[1].seq)]


def test_continue_without_its_body_is_read_as_all_threads(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "entry", "threadId": 1})
    request: Request = adapter.endpoint.request_custom("continue", {"threadId": 1})
    adapter.answer(request.seq, "continue")
    assert adapter.endpoint.phase is Phase.RUNNING
    assert ContinueBody().all_threads_continued is None
