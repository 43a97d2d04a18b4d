import anyio
import pytest

from dapkit.endpoint import Role, Violation
from dapkit.protocol import (
    ContinuedEvent,
    Event,
    EventBody,
    InitializeRequestArguments,
    NextArguments,
    OutputEvent,
    Request,
    Response,
    StackTraceArguments,
    StoppedEvent,
    TerminatedEvent,
    encode,
    encode_frame,
)
from dapkit.testing import Pattern, Timeline, event, failure, never, request, response

NEXT = Request(2, "next", NextArguments(thread_id=1))

SOURCE_IS_NULL = b"""{"seq": 2, "type": "response", "request_seq": 2, "success": true, "command": "stackTrace",
    "body": {"stackFrames": [{"id": 1, "name": "f", "line": 1, "column": 1, "source": null}]}}"""


def told(body: EventBody) -> Event:
    return Event(1, body.event, body)


@pytest.fixture
def timeline() -> Timeline:
    """Return the timeline of one step, with output on the way."""
    timeline = Timeline()
    timeline.record(Role.CLIENT, encode_frame(encode(NEXT)))
    for message in (
        told(OutputEvent(output="one", category="stderr")),
        Response(2, 2, success=True, command="next"),
        told(OutputEvent(output="two")),
        told(StoppedEvent(reason="step", thread_id=1)),
    ):
        timeline.record(Role.ADAPTER, encode_frame(encode(message)))
    return timeline


def indices(timeline: Timeline, pattern: Pattern) -> list[int]:
    return [moment.index for moment in timeline.expect(pattern)]


def reason(timeline: Timeline, pattern: Pattern) -> str:
    with pytest.raises(AssertionError) as caught:
        timeline.expect(pattern)
    return str(caught.value).splitlines()[1]


def test_one_after_the_other(timeline: Timeline) -> None:
    assert indices(timeline, request("next") >> response("next") >> event("stopped", reason="step")) == [0, 2, 4]


def test_wrong_order_is_a_miss_that_says_where(timeline: Timeline) -> None:
    assert reason(timeline, event("stopped") >> response("next")) == "but response next did not come after #4, in"


def test_any_order(timeline: Timeline) -> None:
    assert indices(timeline, event("stopped") & response("next")) == [4, 2]


def test_each_part_of_any_order_needs_a_message_of_its_own(timeline: Timeline) -> None:
    assert indices(timeline, event("output") & event("output", category="stderr")) == [1, 3]
    assert "did not come" in reason(timeline, event("stopped") & event("stopped"))


def test_whichever_comes_first(timeline: Timeline) -> None:
    assert indices(timeline, event("stopped") | event("terminated")) == [4]
    assert indices(timeline, event("stopped") | event("output")) == [1]
    expected = "but event terminated did not come, and event exited did not come, in"
    assert reason(timeline, event("terminated") | event("exited")) == expected


def test_never_forbids_between_its_neighbours(timeline: Timeline) -> None:
    assert indices(timeline, response("next") >> never(event("output", output="one")) >> event("stopped")) == [2, 4]
    broken = response("next") >> never(event("output")) >> event("stopped")
    assert reason(timeline, broken) == "but event output came, as #3, and was never to, in"


def test_never_alone_and_at_the_end_forbids_all_that_has_come(timeline: Timeline) -> None:
    assert indices(timeline, never(event("terminated"))) == []
    assert indices(timeline, event("output", output="two") >> never(event("output"))) == [3]
    assert "came, as #4" in reason(timeline, response("next") >> never(event("stopped")))


def test_fields_are_named_as_in_python_and_compared_as_json(timeline: Timeline) -> None:
    assert indices(timeline, request("next", thread_id=1)) == [0]
    assert reason(timeline, event("stopped", thread_id=2)) == "but event stopped threadId=2 did not come, in"


def test_unknown_field_is_a_mistake_of_the_test() -> None:
    with pytest.raises(ValueError, match="StoppedEvent has no field treadId; its fields are reason, "):
        event("stopped", treadId=1)


def test_open_and_custom_messages_take_any_field() -> None:
    assert str(request("launch", program="/a.py", no_debug=True)) == "request launch program='/a.py' noDebug=True"
    assert str(event("robot/sync", x=1)) == "event robot/sync x=1"


def test_response_to_one_request(timeline: Timeline) -> None:
    assert indices(timeline, response(NEXT)) == [2]
    assert "did not come" in reason(timeline, response(Request(7, "next")))


def test_failure_by_its_message() -> None:
    timeline = Timeline()
    said = Response(1, 4, success=False, command="threads", message="notStopped")
    timeline.record(Role.ADAPTER, encode_frame(encode(said)))
    assert indices(timeline, failure("threads")) == indices(timeline, failure("threads", "notStopped")) == [0]
    assert "did not come" in reason(timeline, response("threads"))
    assert "did not come" in reason(timeline, failure("threads", "cancelled"))


def test_expectation_may_start_after_a_moment(timeline: Timeline) -> None:
    [first] = timeline.expect(event("output"))
    [second] = timeline.expect(event("output"), after=first)
    assert (first.index, second.index) == (1, 3)


def test_failure_prints_the_timeline(timeline: Timeline) -> None:
    with pytest.raises(AssertionError) as caught:
        timeline.expect(event("terminated"))
    assert str(caught.value) == (
        "expected event terminated\n"
        "but event terminated did not come, in\n"
        '#0   client  2 request next {"threadId":1}\n'
        '#1   adapter 1 event output {"category":"stderr","output":"one"}\n'
        "#2   adapter 2 response next to 2\n"
        '#3   adapter 1 event output {"output":"two"}\n'
        '#4   adapter 1 event stopped {"reason":"step","threadId":1}'
    )


def test_bytes_that_are_no_message_are_on_the_timeline() -> None:
    timeline = Timeline()
    timeline.record(Role.ADAPTER, encode_frame(b"[]"))
    timeline.record(Role.ADAPTER, b"garbage\r\n")
    assert [moment.message for moment in timeline.moments] == [None, None]
    assert str(timeline).endswith("#1   adapter bytes that are not a message: b'garbage\\r\\n'")
    assert str(Timeline()) == "(nothing was said)"


def test_messages_may_be_split_anyhow(timeline: Timeline) -> None:
    split = Timeline()
    for byte in encode_frame(encode(NEXT)):
        split.record(Role.CLIENT, bytes([byte]))
    assert split.moments == timeline.moments[:1]


async def test_waiting_ends_when_the_message_has_come(timeline: Timeline) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(timeline.wait_for, event("stopped") >> event("terminated"))
        await anyio.lowlevel.checkpoint()
        timeline.record(Role.ADAPTER, encode_frame(encode(told(ContinuedEvent(thread_id=1)))))
        await anyio.lowlevel.checkpoint()
        timeline.record(Role.ADAPTER, encode_frame(encode(told(TerminatedEvent()))))


async def test_waiting_in_vain_fails_at_the_deadline(timeline: Timeline) -> None:
    with pytest.raises(AssertionError, match="event terminated did not come"):
        await timeline.wait_for(event("terminated"), deadline=0.01)


def test_schema_check_lists_what_is_wrong() -> None:
    timeline = Timeline()
    for speaker, payload in (
        (Role.CLIENT, encode(Request(1, "initialize", InitializeRequestArguments(adapter_id="x")))),
        (Role.ADAPTER, b'{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize"}'),
        (Role.CLIENT, encode(Request(2, "stackTrace", StackTraceArguments(thread_id=1)))),
        (
            Role.ADAPTER,
            SOURCE_IS_NULL,
        ),
        (Role.ADAPTER, b'{"seq":3,"type":"event","event":"process","body":{"name":"p","startMethod":"process"}}'),
        (Role.ADAPTER, b'{"seq":4,"type":"event","event":"robot/any","body":[null]}'),
        (Role.CLIENT, b'{"seq":3,"type":"request","command":"next"}'),
        (Role.ADAPTER, b"{}"),
    ):
        timeline.record(speaker, encode_frame(payload))
    found = timeline.violations()
    assert [(violation.message, violation.path) for violation in found] == [
        ("#3 of the adapter", "$.body.stackFrames[0].source"),
        ("#4 of the adapter", "$.body.startMethod"),
        ("#6 of the client", "$.arguments.threadId"),
        ("#7 of the adapter", "$"),
    ]
    assert found[0] == Violation(
        "#3 of the adapter", "$.body.stackFrames[0].source", "null where the field should be left out"
    )
