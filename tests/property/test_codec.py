"""Messages of every kind, and texts that are almost messages."""

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dapkit.protocol import (
    COMMANDS,
    AnyMessage,
    ErrorBody,
    Event,
    EventBody,
    InvalidValue,
    LaunchRequestArguments,
    MalformedMessage,
    OutputEvent,
    ProtocolObject,
    RawJson,
    Request,
    Response,
    decode,
    decode_arguments,
    decode_as,
    decode_body,
    decode_event,
    decode_leniently,
    encode,
    encode_value,
)
from property import strategies


def content(message: AnyMessage) -> object:
    """Read the raw content of a message by its command or event."""
    match message:
        case Request(command=command, arguments=arguments):
            return decode_arguments(command, arguments)
        case Response(success=False, body=RawJson() as body):
            return decode_as(ErrorBody, body, "$.body")
        case Response(success=False, body=body):
            return body
        case Response(command=command, body=body):
            return decode_body(command, body)
        case Event(event=event, body=event_body):
            return decode_event(event, event_body)


@pytest.mark.thorough
@given(strategies.messages)
def test_what_was_written_is_read_again(message: AnyMessage) -> None:
    read = decode(encode(message))
    assert content(read) == content(message)
    envelope = [field for field in message.__struct_fields__ if field not in ("arguments", "body")]
    assert [getattr(read, field) for field in envelope] == [getattr(message, field) for field in envelope]


@pytest.mark.thorough
@given(
    st.sampled_from([*strategies.ARGUMENTS, *strategies.BODIES, *strategies.EVENT_BODIES]).flatmap(strategies.instances)
)
def test_null_is_written_only_where_it_is_required(value: ProtocolObject) -> None:
    members = json.loads(encode_value(value))
    given_any_json = {"extra", "data", "restart", "__restart", "adapterData"} | set(getattr(value, "extra", {}))
    assert [
        name for name, member in members.items() if member is None and name not in given_any_json | {"dataId"}
    ] == []


@given(st.text(max_size=30), strategies.json_values)
@example("\ud800", {"\udfff": ["\udc80"]})
def test_any_text_is_written_as_sound_json(text: str, data: object) -> None:
    """Also text with lone surrogates, which `st.text` makes."""
    message = decode(encode(Event(1, "output", OutputEvent(output=text, data=data))))
    assert isinstance(message, Event)
    read = decode_event("output", message.body)
    assert isinstance(read, OutputEvent)
    assert read.output == text.encode("utf-8", "backslashreplace").decode()


@given(st.dictionaries(st.text(max_size=10), strategies.json_values, max_size=4))
def test_open_arguments_come_back_with_every_key(extra: dict[str, object]) -> None:
    arguments = decode_as(LaunchRequestArguments, json.dumps({**extra, "noDebug": True}).encode())
    again = decode_arguments("launch", RawJson(encode_value(arguments)))
    assert again == arguments


members = st.dictionaries(
    st.sampled_from(["seq", "type", "command", "event", "request_seq", "success", "arguments", "body", "message"]),
    strategies.json_values | st.sampled_from(["request", "response", "event", *COMMANDS]),
)
payloads = st.one_of(
    st.binary(max_size=100),
    members.map(lambda made: json.dumps(made).encode()),
    st.lists(
        st.sampled_from([b"{", b"}", b"[", b'"', b"seq", b":", b"1", b",", b"\\ud800", b"\xff", b"NaN", b" "])
    ).map(b"".join),
)


@given(payloads)
def test_garbage_is_read_or_refused_in_a_defined_way(payload: bytes) -> None:
    with suppress(MalformedMessage, InvalidValue):
        content(decode(payload))


@pytest.mark.thorough
@given(st.data(), st.sampled_from([*strategies.ARGUMENTS, *strategies.BODIES, *strategies.EVENT_BODIES]))
def test_any_json_is_read_leniently_or_refused_with_a_place(data: st.DataObject, kind: type[ProtocolObject]) -> None:
    """Start from a sound value, then put any JSON in place of one field."""
    sound = json.loads(encode_value(data.draw(strategies.instances(kind))))
    field = data.draw(st.sampled_from([*sound, "seq"]))
    broken = json.dumps({**sound, field: data.draw(strategies.json_values)}).encode()
    try:
        value, violations = decode_leniently(kind, broken, "$.body")
    except InvalidValue as refusal:
        places = [refusal.path]
    else:
        places = [violation.path for violation in violations]
        assert isinstance(value, kind)
    assert all(place.startswith("$.body.") for place in places)


@given(st.sampled_from(strategies.EVENT_BODIES).flatmap(strategies.instances))
def test_a_lenient_reader_finds_nothing_wrong_with_a_sound_event(body: EventBody) -> None:
    assert decode_leniently(type(body), encode_value(body)) == (
        decode_event(body.event, RawJson(encode_value(body))),
        [],
    )
