"""What real peers do and are forgiven: nulls, unknown names, values that the schema does not list."""

import json
from typing import Any

import pytest

from dapkit.endpoint import EventReceived, Phase, RequestReceived, ResponseReceived, ResponseUnusable
from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    ErrorBody,
    Event,
    EventBody,
    RawJson,
    StackTraceArguments,
    StoppedEvent,
    ThreadsArguments,
    VariablesArguments,
    decode_as,
)
from raw_peer import RawPeer

REQUIRED: dict[str, dict[str, Any]] = {
    "stopped": {"reason": "step"},
    "continued": {"threadId": 1},
    "exited": {"exitCode": 0},
    "thread": {"reason": "started", "threadId": 1},
    "output": {"output": "x"},
    "breakpoint": {"reason": "new", "breakpoint": {"verified": True}},
    "module": {"reason": "new", "module": {"id": 1, "name": "m"}},
    "loadedSource": {"reason": "new", "source": {}},
    "process": {"name": "p"},
    "capabilities": {"capabilities": {}},
    "progressStart": {"progressId": "1", "title": "t"},
    "progressUpdate": {"progressId": "1"},
    "progressEnd": {"progressId": "1"},
    "memory": {"memoryReference": "m", "offset": 0, "count": 1},
}


def with_nulls(kind: type[EventBody], required: dict[str, Any]) -> dict[str, Any]:
    return {name: required.get(name) for name in kind.__struct_encode_fields__}


@pytest.mark.parametrize("event", EVENTS)
def test_event_with_null_for_everything_optional_is_read_as_without(adapter: RawPeer, event: str) -> None:
    required = REQUIRED.get(event, {})
    [happening] = adapter.tell(event, with_nulls(EVENTS[event], required))
    assert isinstance(happening, EventReceived)
    assert happening.event.body == decode_as(EVENTS[event], RawJson(json.dumps(required).encode()))
    assert adapter.endpoint.violations.count == 0


def test_every_event_that_requires_a_field_is_listed_here() -> None:
    for event, kind in EVENTS.items():
        decode_as(kind, json.dumps(REQUIRED.get(event, {})).encode())


def test_event_body_null_and_absent_are_the_same(adapter: RawPeer) -> None:
    bodies = [adapter.say(type="event", event="terminated", **content) for content in ({}, {"body": None})]
    assert all(isinstance(happening, EventReceived) for [happening] in bodies)
    assert bodies[0][0].event.body == bodies[1][0].event.body  # type: ignore[union-attr] # checked above


def test_arguments_null_and_absent_are_the_same(client: RawPeer) -> None:
    received = [client.say(type="request", command="threads", **content) for content in ({}, {"arguments": None})]
    arguments = [happening.request.arguments for [happening] in received if isinstance(happening, RequestReceived)]
    assert arguments == [ThreadsArguments(), ThreadsArguments()]


def test_optional_arguments_may_all_be_null(client: RawPeer) -> None:
    nulls = dict.fromkeys(COMMANDS["evaluate"].arguments.__struct_encode_fields__) | {"expression": "1"}
    [asked] = client.ask("evaluate", nulls)
    assert isinstance(asked, RequestReceived)


def test_response_with_nulls_is_read_as_without(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(StackTraceArguments(thread_id=1))
    frame = {
        "id": 1,
        "name": "f",
        "line": 1,
        "column": 1,
        "endLine": None,
        "source": {"path": "/a", "sourceReference": None},
    }
    [happening] = adapter.answer(request.seq, "stackTrace", {"stackFrames": [frame], "totalFrames": None}, message=None)
    assert isinstance(happening, ResponseReceived)
    assert adapter.endpoint.violations.count == 0


def test_unknown_fields_events_and_enum_values_survive(adapter: RawPeer) -> None:
    [known] = adapter.tell("stopped", {"reason": "enlightenment", "threadId": 1, "mood": "serene"})
    assert isinstance(known, EventReceived)
    assert known.event.body == StoppedEvent(reason="enlightenment", thread_id=1)
    [unknown] = adapter.tell("debugpySockets", {"sockets": [None]})
    assert unknown == EventReceived(Event(3, "debugpySockets", RawJson(b'{"sockets": [null]}')))
    assert adapter.endpoint.violations.count == 0


def test_unknown_value_of_a_closed_enumeration_survives_with_a_violation(adapter: RawPeer) -> None:
    [happening] = adapter.tell("process", {"name": "a.out", "startMethod": "process"})
    assert isinstance(happening, EventReceived)
    assert repr(happening.event.body).startswith("ProcessEvent(name='a.out'")
    assert "start_method='process'" in repr(happening.event.body)
    [violation] = adapter.endpoint.violations.kept
    assert violation.message == "event process (seq 2)"
    assert violation.path == "$.body.startMethod"


def test_event_with_an_unusable_body_is_handed_over_raw_and_still_counts(adapter: RawPeer) -> None:
    [happening] = adapter.tell("stopped", {"reason": 7})
    assert happening == EventReceived(Event(2, "stopped", RawJson(b'{"reason": 7}')))
    assert adapter.endpoint.phase is Phase.STOPPED
    assert adapter.endpoint.violations.kept[0].path == "$.body.reason"


def test_response_with_an_unusable_body_is_reported_to_its_asker(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    [happening] = adapter.answer(request.seq, "threads", {"threads": "none"})
    assert isinstance(happening, ResponseUnusable)
    assert happening.request is request
    assert adapter.endpoint.violations.kept[0].path == "$.body.threads"


def test_response_without_a_required_body_is_unusable(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(VariablesArguments(variables_reference=1))
    [happening] = adapter.answer(request.seq, "variables")
    assert isinstance(happening, ResponseUnusable)
    assert "$.body.variables: required field is missing" in str(happening.problem)


def test_failure_with_an_unreadable_body_is_still_a_failure(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    [happening] = adapter.answer(request.seq, "threads", "java.lang.Error", success=False, message="Internal error.")
    assert isinstance(happening, ResponseReceived)
    assert happening.response.message == "Internal error."
    assert happening.response.body is None
    assert adapter.endpoint.violations.count == 1


def test_failure_with_a_structured_error_is_read(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    error = {"id": 3, "format": "no {what}", "variables": {"what": "threads"}, "showUser": None}
    [happening] = adapter.answer(request.seq, "threads", {"error": error}, success=False, message="failed")
    assert isinstance(happening, ResponseReceived)
    assert isinstance(happening.response.body, ErrorBody)
    assert happening.response.body.error is not None
    assert happening.response.body.error.variables == {"what": "threads"}


def test_broken_success_of_continue_still_sets_the_session_going(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "step", "threadId": 1})
    request = adapter.endpoint.request_custom("continue", {"threadId": 1})
    [happening] = adapter.answer(request.seq, "continue", {"allThreadsContinued": []})
    assert isinstance(happening, ResponseUnusable)
    assert adapter.endpoint.phase is Phase.RUNNING
