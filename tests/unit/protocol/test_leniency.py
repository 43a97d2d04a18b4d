"""What can be kept of a value that breaks the schema."""

import pytest

from dapkit.protocol import (
    Capabilities,
    InvalidValue,
    LaunchRequestArguments,
    MalformedMessage,
    OutputEvent,
    ProcessEvent,
    ProgressStartEvent,
    SchemaViolation,
    Scope,
    ScopesBody,
    Source,
    StackFrame,
    StackTraceBody,
    Thread,
    ThreadsBody,
    decode_leniently,
)


def test_a_sound_value_has_no_violations() -> None:
    assert decode_leniently(Thread, b'{"id":1,"name":"main"}') == (Thread(id=1, name="main"), [])


def test_an_unknown_value_of_a_closed_enumeration_is_kept() -> None:
    """gdb 16 sends this one."""
    event, violations = decode_leniently(ProcessEvent, b'{"name":"a.out","startMethod":"process"}', "$.body")
    assert repr(event.start_method) == "'process'"
    assert violations == [
        SchemaViolation(
            "$.body.startMethod", "expected one of 'attach', 'attachForSuspendedLaunch', 'launch', got 'process'"
        )
    ]


def test_a_number_out_of_range_is_kept() -> None:
    scope, violations = decode_leniently(Scope, b'{"name":"a","variablesReference":-1,"expensive":false}')
    assert scope.variables_reference == -1
    assert [violation.path for violation in violations] == ["$.variablesReference"]


def test_a_percentage_out_of_range_is_kept() -> None:
    event, violations = decode_leniently(ProgressStartEvent, b'{"progressId":"1","title":"a","percentage":100.5}')
    assert event.percentage == 100.5
    assert violations == [SchemaViolation("$.percentage", "expected a number from 0 to 100, got 100.5")]


def test_a_whole_float_becomes_an_integer() -> None:
    thread, violations = decode_leniently(Thread, b'{"id":1.0,"name":"main"}')
    assert repr(thread.id) == "1"
    assert violations == [SchemaViolation("$.id", "expected an integer, got 1.0")]


def test_an_optional_field_of_a_wrong_type_is_left_out() -> None:
    event, violations = decode_leniently(OutputEvent, b'{"output":"a","line":"3","category":1}', "$.body")
    assert event == OutputEvent(output="a")
    assert violations == [
        SchemaViolation("$.body.category", "expected a string, got 1; $.body.category is left out"),
        SchemaViolation("$.body.line", "expected an integer, got '3'; $.body.line is left out"),
    ]


def test_the_smallest_optional_part_around_a_fault_is_left_out() -> None:
    source = b'{"path":"a","checksums":[{"checksum":"1"}]}'
    frame = b'{"id":1,"name":"f","line":3,"column":1,"source":' + source + b"}"
    body, violations = decode_leniently(StackTraceBody, b'{"stackFrames":[' + frame + b"]}")
    assert body.stack_frames == [StackFrame(id=1, name="f", line=3, column=1, source=Source(path="a"))]
    assert violations == [
        SchemaViolation(
            "$.stackFrames[0].source.checksums[0].algorithm",
            "required field is missing; $.stackFrames[0].source.checksums is left out",
        )
    ]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"threads":[{"id":"1","name":"a"}]}', "$.threads[0].id"),
        (b'{"threads":[{"id":1.5,"name":"a"}]}', "$.threads[0].id"),
        (b'{"threads":[{"id":1,"name":null}]}', "$.threads[0].name"),
        (b'{"threads":null}', "$.threads"),
        (b"{}", "$.threads"),
        (b"[]", "$"),
    ],
)
def test_where_nothing_sensible_is_left_the_place_is_named(text: bytes, path: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        decode_leniently(ThreadsBody, text)
    assert caught.value.path == path


def test_text_that_is_no_json_is_malformed() -> None:
    with pytest.raises(MalformedMessage):
        decode_leniently(ThreadsBody, b"nonsense")


def test_absent_content_is_read_like_an_empty_object() -> None:
    assert decode_leniently(Capabilities, None) == (Capabilities(), [])
    with pytest.raises(InvalidValue, match="required field is missing"):
        decode_leniently(ScopesBody, None)


def test_open_arguments_keep_their_keys() -> None:
    arguments, violations = decode_leniently(LaunchRequestArguments, b'{"noDebug":"yes","program":"a"}')
    assert arguments == LaunchRequestArguments(extra={"program": "a"})
    assert [violation.path for violation in violations] == ["$.noDebug"]


def test_a_class_that_checks_itself_is_obeyed() -> None:
    class Picky(LaunchRequestArguments, frozen=True, kw_only=True):
        port: int = 0

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.port == 22:
                raise ValueError("port 22 is taken")

    with pytest.raises(InvalidValue, match="port 22 is taken"):
        decode_leniently(Picky, b'{"port":22}', "$.arguments")
