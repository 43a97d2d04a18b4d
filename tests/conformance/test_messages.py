"""What we write obeys the official schema; what the schema forbids we refuse.

The samples are made from our classes, so that a field which we lack or have too
much is found by comparing names, and a type that differs by validation.
"""

import json

import pytest

import dapkit.protocol
from conformance import official
from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    SCHEMA_VERSION,
    AnyMessage,
    Capabilities,
    Direction,
    ErrorBody,
    EventBody,
    InvalidValue,
    ProtocolObject,
    Request,
    Response,
    ThreadsArguments,
    decode,
    decode_arguments,
    decode_as,
    decode_body,
    decode_event,
    encode,
    encode_value,
    generated,
)
from dapkit.testing import samples

MESSAGES = [
    pytest.param(
        message, id=f"{size}-{type(message).__name__}-{getattr(message, 'command', getattr(message, 'event', ''))}"
    )
    for size, fill in (("smallest", samples.smallest), ("fullest", samples.fullest))
    for message in samples.every_message(fill)
]
KINDS: list[type[ProtocolObject]] = [
    *(spec.arguments for spec in COMMANDS.values()),
    *(spec.body for spec in COMMANDS.values() if spec.body is not None),
    *EVENTS.values(),
    ErrorBody,
]
# Data types and arguments; bodies of responses and events have no names of their own in the schema.
OBJECTS = [
    kind
    for kind in (getattr(dapkit.protocol, name) for name in generated.__all__)
    if isinstance(kind, type) and issubclass(kind, ProtocolObject)
    if not issubclass(kind, EventBody) and not kind.__name__.endswith("Body") and kind is not ThreadsArguments
]


def named(kind: type[ProtocolObject]) -> str:
    return kind.__name__


def read_again(message: AnyMessage) -> AnyMessage:
    """Read what we write, with the content typed as before."""
    read = decode(encode(message))
    match read:
        case Request():
            arguments = decode_arguments(read.command, read.arguments)
            return Request(read.seq, read.command, arguments)
        case Response(success=True):
            body = decode_body(read.command, read.body)
            return Response(read.seq, read.request_seq, read.success, read.command, read.message, body)
        case Response():
            error = decode_as(ErrorBody, encode_value(read.body), "$.body")
            return Response(read.seq, read.request_seq, read.success, read.command, read.message, error)
        case _:
            return type(read)(read.seq, read.event, decode_event(read.event, read.body))


def test_the_protocol_has_its_known_size() -> None:
    directions = [spec.direction for spec in COMMANDS.values()]
    assert SCHEMA_VERSION == "1.71"
    assert directions.count(Direction.CLIENT_TO_ADAPTER) == 43
    assert directions.count(Direction.ADAPTER_TO_CLIENT) == 2
    assert len(EVENTS) == 17
    assert len(Capabilities.__struct_fields__) == 42


def test_the_schema_has_the_same_size() -> None:
    assert len(official.names_ending("Request")) == 45
    assert len(official.names_ending("Event")) == 17
    assert len(official.data_types()) == 36
    assert len(official.definitions()["Capabilities"]["properties"]) == 42


def test_every_data_type_is_public() -> None:
    assert [name for name in official.data_types() if name not in dapkit.protocol.__all__] == []


@pytest.mark.parametrize("kind", OBJECTS, ids=named)
def test_every_object_has_the_fields_of_the_schema(kind: type[ProtocolObject]) -> None:
    ours = {shape.wire: shape.required for shape in samples.shapes(kind)}
    assert ours == official.properties(kind.__name__)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_body_of_a_response_has_the_fields_of_the_schema(command: str) -> None:
    body = COMMANDS[command].body
    ours = {} if body is None else {shape.wire: shape.required for shape in samples.shapes(body)}
    assert ours == official.body_properties(official.response_name(command))


@pytest.mark.parametrize("event", EVENTS)
def test_every_body_of_an_event_has_the_fields_of_the_schema(event: str) -> None:
    ours = {shape.wire: shape.required for shape in samples.shapes(EVENTS[event])}
    assert ours == official.body_properties(official.event_name(event))


def test_every_command_has_the_optionality_of_the_schema() -> None:
    for name in official.names_ending("Request"):
        own = official.own_part(name)
        [command] = own["properties"]["command"]["enum"]
        assert COMMANDS[command].arguments_optional is ("arguments" not in own["required"]), name


@pytest.mark.parametrize("message", MESSAGES)
def test_what_we_write_obeys_the_schema(message: AnyMessage) -> None:
    assert official.complaints(official.definition_of(message), json.loads(encode(message))) == []


@pytest.mark.parametrize("message", MESSAGES)
def test_what_we_write_we_read_again(message: AnyMessage) -> None:
    assert read_again(message) == message


@pytest.mark.parametrize("kind", KINDS, ids=named)
def test_null_is_absent_in_every_optional_field(kind: type[ProtocolObject]) -> None:
    nulls = decode_as(kind, json.dumps(samples.with_nulls(kind)).encode())
    assert nulls == decode_as(kind, json.dumps(samples.smallest(kind)).encode())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS, ids=named)
def test_every_fault_is_refused_with_its_place(kind: type[ProtocolObject]) -> None:
    for fault in samples.faulty(kind, "$.body"):
        with pytest.raises(InvalidValue) as caught:
            decode_as(kind, json.dumps(fault.value).encode(), "$.body")
        assert caught.value.path == fault.path, fault.why


@pytest.mark.parametrize("kind", [spec.arguments for spec in COMMANDS.values()], ids=named)
def test_the_schema_refuses_the_same_faults(kind: type[ProtocolObject]) -> None:
    """Ranges apart: the schema gives most of them by a format, which validators do not look at."""
    for fault in samples.faulty(kind):
        if "range" not in fault.why and kind.__name__ in official.definitions():
            assert official.complaints(kind.__name__, fault.value), fault
