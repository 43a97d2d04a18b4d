"""Messages to JSON and back, by hand-picked examples."""

import json
from types import MappingProxyType

import pytest

from dapkit.protocol import (
    AnyMessage,
    AttachRequestArguments,
    BreakpointLocationsArguments,
    Capabilities,
    ContinueArguments,
    DataBreakpointInfoBody,
    DisconnectArguments,
    ErrorBody,
    Event,
    InitializedEvent,
    InitializeRequestArguments,
    InvalidValue,
    LaunchRequestArguments,
    MalformedMessage,
    Message,
    Module,
    OutputEvent,
    RawJson,
    Request,
    Response,
    RestartArguments,
    RunInTerminalRequestArguments,
    SetBreakpointsArguments,
    Source,
    StackTraceArguments,
    StackTraceBody,
    StoppedEvent,
    Thread,
    ThreadsArguments,
    ThreadsBody,
    decode,
    decode_arguments,
    decode_as,
    decode_body,
    decode_event,
    encode,
    encode_value,
    from_json_value,
    to_json_value,
)


def written(message: AnyMessage) -> object:
    return json.loads(encode(message))


def wrong(kind: type[object], text: str) -> str:
    with pytest.raises(InvalidValue) as caught:
        decode_as(kind, text.encode(), "$.arguments")
    return str(caught.value)


# Writing


def test_a_request_is_written_with_wire_names() -> None:
    assert written(Request(1, "stackTrace", StackTraceArguments(thread_id=7, start_frame=0))) == {
        "seq": 1,
        "type": "request",
        "command": "stackTrace",
        "arguments": {"threadId": 7, "startFrame": 0},
    }


def test_a_response_without_body_has_no_body_on_the_wire() -> None:
    assert written(Response(seq=4, request_seq=3, success=True, command="next")) == {
        "seq": 4,
        "type": "response",
        "request_seq": 3,
        "success": True,
        "command": "next",
    }


def test_an_event_without_fields_has_an_empty_body() -> None:
    assert written(Event(2, "initialized", InitializedEvent())) == {
        "seq": 2,
        "type": "event",
        "event": "initialized",
        "body": {},
    }


@pytest.mark.parametrize(
    ("value", "member"),
    [
        (InitializeRequestArguments(adapter_id="a", client_id="c"), {"adapterID": "a", "clientID": "c"}),
        (InitializeRequestArguments(adapter_id="a", lines_start_at1=False), {"adapterID": "a", "linesStartAt1": False}),
        (Capabilities(supports_ansi_styling=True), {"supportsANSIStyling": True}),
        (LaunchRequestArguments(restart_data=[1]), {"__restart": [1]}),
        (RunInTerminalRequestArguments(args=[], cwd="", env={"A": None}), {"args": [], "cwd": "", "env": {"A": None}}),
    ],
)
def test_names_that_do_not_follow_the_rule_are_written_as_in_the_schema(value: object, member: object) -> None:
    assert json.loads(encode_value(value)) == member


def test_only_a_required_null_is_written() -> None:
    body = DataBreakpointInfoBody(data_id=None, description="a register", can_persist=None)
    assert json.loads(encode_value(body)) == {"dataId": None, "description": "a register"}


def test_false_and_zero_are_not_absent() -> None:
    assert json.loads(encode_value(DisconnectArguments(restart=False))) == {"restart": False}
    assert json.loads(encode_value(StackTraceArguments(thread_id=1, levels=0))) == {"threadId": 1, "levels": 0}


def test_raw_bodies_are_written_through_as_they_are() -> None:
    raw = b'{"variables" : [ 1.50 ]}'
    assert raw in encode(Response(2, 1, success=True, command="variables", body=RawJson(raw)))


def test_lone_surrogates_are_written_as_visible_escapes() -> None:
    written = encode(Event(1, "output", OutputEvent(output="caf\udce9 \ud83d\ude00", data={"\ud800": ["\udfff"]})))
    body = json.loads(written)["body"]
    assert body == {"output": r"caf\udce9 \ud83d\ude00", "data": {r"\ud800": [r"\udfff"]}}


def test_lone_surrogates_are_found_in_tuples_too() -> None:
    assert json.loads(encode_value({"a": ("\ud800", 1)})) == {"a": [r"\ud800", 1]}


def test_read_only_mappings_can_be_written() -> None:
    assert json.loads(encode_value({"a": MappingProxyType({"b": 1})})) == {"a": {"b": 1}}


def test_lone_surrogates_do_not_disturb_a_raw_body() -> None:
    written = encode(Response(2, 1, success=False, command="x", message="\udcff", body=RawJson(b'{"a": 1}')))
    assert json.loads(written)["message"] == r"\udcff"
    assert json.loads(written)["body"] == {"a": 1}


def test_lone_surrogates_are_written_in_open_arguments_too() -> None:
    arguments = LaunchRequestArguments(no_debug=True, extra={"program": "caf\udce9"})
    assert written(Request(1, "launch", arguments)) == {
        "seq": 1,
        "type": "request",
        "command": "launch",
        "arguments": {"noDebug": True, "program": r"caf\udce9"},
    }


def test_a_value_that_is_no_json_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="object cannot be written as JSON"):
        encode(Event(1, "output", OutputEvent(output="", data=object())))


# Reading envelopes


def test_the_content_of_a_message_stays_raw() -> None:
    message = decode(b'{"seq":1,"type":"request","command":"next","arguments":{"threadId": 1}}')
    assert message == Request(1, "next", RawJson(b'{"threadId": 1}'))


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'{"seq":1,"type":"request","command":"x","arguments":null}', Request(1, "x")),
        (b'{"type":"event","event":"x","seq":1,"body":null}', Event(1, "x")),
        (
            b'{"command":"x","success":false,"request_seq":1,"seq":2,"type":"response","message":null,"body":null}',
            Response(2, 1, success=False, command="x"),
        ),
    ],
)
def test_null_is_absent_in_an_envelope_and_order_does_not_matter(payload: bytes, message: AnyMessage) -> None:
    assert decode(payload) == message


def test_unknown_fields_of_an_envelope_are_ignored() -> None:
    assert decode(b'{"seq":1,"type":"event","event":"x","vendor":{"a":1}}') == Event(1, "x")


def test_seq_0_is_read_since_delve_sends_it() -> None:
    assert decode(b'{"seq":0,"type":"event","event":"x"}').seq == 0


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"   ",
        b"{",
        b"nonsense",
        b"[]",
        b"null",
        b"1",
        b'"text"',
        b"{}",
        b'{"seq":1}',
        b'{"seq":1,"type":null,"command":"x"}',
        b'{"seq":1,"type":5,"command":"x"}',
        b'{"seq":1,"type":"notification","command":"x"}',
        b'{"seq":1,"type":"event","event":"x"} trailing',
        b'{"seq":1,"type":"event","event":"x",}',
        b"{'seq':1}",
        b'{"seq":"x","type":"request","command":nonsense}',
        b"[" * 1_000_000,
        b'{"seq":1,"type":"event","event":"x","body":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
        '{"seq":1,"type":"event","event":"x"}'.encode("utf-16"),
    ],
)
def test_what_is_no_message_is_malformed(payload: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(payload)


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        (b'{"type":"request","command":"x"}', "$.seq"),
        (b'{"seq":"1","type":"request","command":"x"}', "$.seq"),
        (b'{"seq":1.5,"type":"request","command":"x"}', "$.seq"),
        (b'{"seq":1,"type":"request"}', "$.command"),
        (b'{"seq":1,"type":"request","command":null}', "$.command"),
        (b'{"seq":1,"type":"response","command":"x","success":true}', "$.request_seq"),
        (b'{"seq":1,"type":"response","command":"x","request_seq":1,"success":1}', "$.success"),
        (b'{"seq":1,"type":"event"}', "$.event"),
    ],
)
def test_a_wrong_field_of_an_envelope_is_named(payload: bytes, path: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        decode(payload)
    assert caught.value.path == path


# Text that JSON or UTF-8 does not allow


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (rb'"caf\udce9"', r"caf\udce9"),
        (rb'"\ud83d\ude00"', "😀"),
        (b'"caf\xe9"', "caf\ufffd"),
        (b'"\xed\xb3\xa9"', r"\udce9"),
        (b'"a\tb\x00"', "a\tb\x00"),
    ],
)
def test_broken_text_is_repaired(text: bytes, read: str) -> None:
    message = decode(b'\xef\xbb\xbf{"seq":1,"type":"event","event":"output","body":{"output":' + text + b"}}")
    assert isinstance(message, Event)
    assert decode_event("output", message.body) == OutputEvent(output=read)


def test_text_that_is_broken_in_the_body_only_is_repaired_in_the_second_pass() -> None:
    body = RawJson(b'{"output":"caf\xe9"}')
    assert decode_event("output", body) == OutputEvent(output="caf\ufffd")


def test_nan_and_the_infinities_are_read_as_null() -> None:
    message = decode(b'{"seq":1,"type":"event","event":"output","body":{"output":"","data":[NaN,-Infinity,1]}}')
    assert isinstance(message, Event)
    assert decode_event("output", message.body) == OutputEvent(output="", data=[None, None, 1])


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5000])
def test_a_number_too_large_for_python_is_read_as_null(number: bytes) -> None:
    assert decode_as(OutputEvent, b'{"output":"","data":[' + number + b",2]}") == OutputEvent(output="", data=[None, 2])
    assert decode(b'{"seq":1,"type":"event","event":"x","body":' + number + b"}") is not None
    with pytest.raises(InvalidValue):
        decode_as(Thread, b'{"name":"a","id":' + number + b"}")


def test_of_two_equal_keys_the_last_one_counts() -> None:
    assert decode(b'{"seq":1,"seq":2,"type":"event","event":"x"}') == Event(2, "x")
    assert decode_as(Thread, b'{"id":1,"name":"a","name":"b"}') == Thread(id=1, name="b")


def test_a_deeply_nested_argument_is_malformed() -> None:
    with pytest.raises(MalformedMessage, match="nested too deeply"):
        decode_as(LaunchRequestArguments, b'{"program":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}")


# Reading content


def test_arguments_are_read_by_their_command() -> None:
    assert decode_arguments("next", RawJson(b'{"threadId":1}')).__class__.__name__ == "NextArguments"


def test_content_of_unknown_commands_and_events_stays_raw() -> None:
    raw = RawJson(b'{"a":1}')
    assert decode_arguments("custom", raw) is raw
    assert decode_body("custom", raw) is raw
    assert decode_event("custom", raw) is raw
    assert decode_arguments("custom", None) is None


def test_content_that_is_typed_already_is_left_alone() -> None:
    arguments, body, event = ContinueArguments(thread_id=1), ThreadsBody(threads=[]), StoppedEvent(reason="step")
    assert decode_arguments("continue", arguments) is arguments
    assert decode_body("threads", body) is body
    assert decode_event("stopped", event) is event


@pytest.mark.parametrize("raw", [None, RawJson(b"null"), RawJson(b"{}")])
def test_absent_content_is_read_like_an_empty_object(raw: RawJson | None) -> None:
    assert decode_arguments("threads", raw) == ThreadsArguments()
    assert decode_arguments("disconnect", raw) == DisconnectArguments()
    assert decode_body("initialize", raw) == Capabilities()
    assert decode_event("initialized", raw) == InitializedEvent()
    with pytest.raises(InvalidValue) as caught:
        decode_arguments("breakpointLocations", raw)
    assert caught.value.path == "$.arguments.source"


def test_the_body_of_a_command_without_one_is_ignored() -> None:
    assert decode_body("launch", RawJson(b'{"stray":1}')) is None


def test_unknown_fields_are_ignored() -> None:
    assert decode_as(Thread, b'{"id":1,"name":"main","state":"running"}') == Thread(id=1, name="main")


def test_an_open_enumeration_admits_other_values() -> None:
    assert decode_as(StoppedEvent, b'{"reason":"breakpoint from a vendor"}').reason == "breakpoint from a vendor"


def test_the_id_of_a_module_is_an_integer_or_a_string() -> None:
    assert decode_as(Module, b'{"id":1,"name":"a"}').id == 1
    assert decode_as(Module, b'{"id":"1","name":"a"}').id == "1"
    assert wrong(Module, '{"id":1.5,"name":"a"}') == "$.arguments.id: expected an integer or a string, got 1.5"


def test_sources_hold_sources() -> None:
    assert decode_as(Source, b'{"sources":[{"name":"a","sources":[{}]}]}') == Source(
        sources=[Source(name="a", sources=[Source()])]
    )


def test_restart_takes_any_configuration() -> None:
    arguments = decode_as(RestartArguments, b'{"arguments":{"program":"a.py","noDebug":true}}')
    assert arguments == RestartArguments(arguments={"program": "a.py", "noDebug": True})


def test_a_failure_carries_a_structured_error() -> None:
    read = decode_as(ErrorBody, b'{"error":{"id":1,"format":"no {what}","variables":{"what":"way"}}}')
    assert read == ErrorBody(error=Message(id=1, format="no {what}", variables={"what": "way"}))


def test_types_other_than_messages_can_be_read() -> None:
    assert decode_as(list[Thread], b'[{"id":1,"name":"a"}]') == [Thread(id=1, name="a")]
    assert decode_as(object, b"[1]") == [1]


# Open arguments


def test_launch_keeps_every_key_in_both_directions() -> None:
    sent = {"program": "a.py", "noDebug": True, "__restart": {"a": 1}, "extra": [2], "env": {"A": None}}
    arguments = decode_as(LaunchRequestArguments, json.dumps(sent).encode())
    assert arguments == LaunchRequestArguments(
        no_debug=True, restart_data={"a": 1}, extra={"program": "a.py", "extra": [2], "env": {"A": None}}
    )
    assert json.loads(encode_value(arguments)) == sent
    assert json.loads(encode(Request(1, "launch", arguments)))["arguments"] == sent


def test_keys_that_are_fields_of_an_own_class_are_not_kept_twice() -> None:
    class MyAttach(AttachRequestArguments, frozen=True, kw_only=True):
        process_id: int
        stop_on_entry: bool = False

    arguments = decode_as(MyAttach, b'{"processId":7,"host":"here"}')
    assert arguments == MyAttach(process_id=7, extra={"host": "here"})
    assert json.loads(encode_value(arguments)) == {"processId": 7, "host": "here"}
    assert wrong(MyAttach, '{"processId":"7"}') == "$.arguments.processId: expected an integer, got '7'"


def test_a_typed_field_wins_over_an_extra_key_of_its_name() -> None:
    arguments = LaunchRequestArguments(no_debug=True, extra={"noDebug": False})
    assert json.loads(encode_value(arguments)) == {"noDebug": True}


def test_extra_keys_cannot_be_changed_afterwards() -> None:
    given: dict[str, object] = {"program": "a.py"}
    arguments = LaunchRequestArguments(extra=given)
    given["program"] = "b.py"
    assert arguments.extra == {"program": "a.py"}
    with pytest.raises(TypeError):
        arguments.extra["program"] = "c.py"  # type: ignore[index]  # that is the point


# What is wrong, where


@pytest.mark.parametrize(
    ("kind", "text", "error"),
    [
        (
            SetBreakpointsArguments,
            '{"source":{},"breakpoints":[{"line":1},{"line":2},{"line":"abc"}]}',
            "$.arguments.breakpoints[2].line: expected an integer, got 'abc'",
        ),
        (SetBreakpointsArguments, "{}", "$.arguments.source: required field is missing"),
        (SetBreakpointsArguments, '{"source":null}', "$.arguments.source: expected an object, got null"),
        (SetBreakpointsArguments, "[]", "$.arguments: expected an object, got an array"),
        (
            BreakpointLocationsArguments,
            '{"source":{},"line":-1}',
            "$.arguments.line: expected an integer from 0 to 9007199254740991, got -1",
        ),
        (StackTraceArguments, '{"threadId":1.5}', "$.arguments.threadId: expected an integer, got 1.5"),
        (StackTraceArguments, '{"threadId":true}', "$.arguments.threadId: expected an integer, got true"),
        (
            RunInTerminalRequestArguments,
            '{"args":[],"cwd":"","env":{"PATH":1}}',
            '$.arguments.env["PATH"]: expected a string, got 1',
        ),
        (
            RunInTerminalRequestArguments,
            '{"args":[],"cwd":"","kind":"popup"}',
            "$.arguments.kind: expected one of 'external', 'integrated', got 'popup'",
        ),
        (StackTraceBody, '{"stackFrames":[{}]}', "$.arguments.stackFrames[0].id: required field is missing"),
    ],
)
def test_an_error_says_where_what_was_expected_and_what_was_found(kind: type[object], text: str, error: str) -> None:
    assert wrong(kind, text) == error


def test_a_long_value_is_cut_in_the_error() -> None:
    assert len(wrong(StackTraceArguments, json.dumps({"threadId": "x" * 10_000}))) < 200


def test_a_class_with_rules_of_its_own_gets_the_decoders_text() -> None:
    class Strict(LaunchRequestArguments, frozen=True, kw_only=True):
        when: tuple[int, str] = (0, "")

    assert wrong(Strict, '{"when":[1]}') == "$.arguments.when: expected `array` of length 2, got 1"


@pytest.mark.parametrize(
    "value",
    [
        StackTraceArguments(thread_id=7),
        LaunchRequestArguments(no_debug=True, extra={"program": "a.py", "env": {"A": None}}),
        ThreadsBody(threads=[Thread(id=1, name="\udcff")]),
        {"tuple": (1, "two", (3.5, None)), "raw": RawJson(b'{"a":[1]}')},
    ],
)
def test_json_values_are_what_reading_the_json_text_gives(value: object) -> None:
    assert to_json_value(value) == json.loads(encode_value(value))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (StackTraceArguments, {"threadId": 7, "unknown": 1, "levels": None}),
        (LaunchRequestArguments, {"noDebug": True, "program": "a.py", "__restart": {"a": 1}}),
        (ThreadsBody, {"threads": [{"id": 1, "name": "main"}]}),
    ],
)
def test_types_are_read_from_json_values_as_from_json_text(kind: type[object], value: object) -> None:
    assert from_json_value(kind, value) == decode_as(kind, json.dumps(value).encode())


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (StackTraceBody, {"stackFrames": [{"id": "1"}]}, "$.body.stackFrames[0].id: expected an integer, got '1'"),
        (LaunchRequestArguments, [1], "$.body: expected an object, got an array"),
    ],
)
def test_a_json_value_that_does_not_fit_is_an_error_with_its_place(
    kind: type[object], value: object, error: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        from_json_value(kind, value, "$.body")
    assert str(refused.value) == error
