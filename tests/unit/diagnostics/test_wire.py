"""Messages for people: pairs and their time, filters, lines, and what of a burst is kept."""

import json
from typing import Literal

from dapkit import limits
from dapkit.agent.results.diagnostics import WireRow
from dapkit.diagnostics.wire import PairedMessage, WireFilter, WireMessages

type Kind = Literal["request", "response", "event", ""]


def row(
    number: int,
    kind: Kind = "event",
    name: str = "output",
    *,
    sender: str = "adapter",
    text: str = "{}",
    channel: str = "",
    seq: int | None = None,
    request_seq: int | None = None,
    success: bool | None = None,
    problem: str | None = None,
) -> WireRow:
    return WireRow(
        number=number,
        time=1_800_000_000 + number / 1000,
        channel=channel,
        sender=sender,
        kind=kind,
        name=name,
        text=text,
        length=len(text),
        seq=seq,
        request_seq=request_seq,
        success=success,
        problem=problem,
    )


def request(number: int, seq: int, *, sender: str = "client", channel: str = "", name: str = "threads") -> WireRow:
    return row(number, "request", name, sender=sender, seq=seq, channel=channel)


def response(
    number: int, seq: int, *, sender: str = "adapter", channel: str = "", success: bool = True, text: str = "{}"
) -> WireRow:
    return row(
        number, "response", "threads", sender=sender, request_seq=seq, channel=channel, success=success, text=text
    )


def added(*rows: WireRow) -> list[PairedMessage]:
    return WireMessages().add(rows)


def pairs(messages: list[PairedMessage]) -> dict[int, int]:
    return {message.row.number: message.other.row.number for message in messages if message.other is not None}


def test_request_and_its_response_are_a_pair_with_the_time_between() -> None:
    asked, between, answered = added(request(1, 7), row(2), response(5, 7))
    assert (asked.other, answered.other, between.other) == (answered, asked, None)
    assert round(answered.milliseconds or 0) == round(asked.milliseconds or 0) == 4


def test_conversations_and_directions_are_told_apart() -> None:
    found = added(
        request(1, 7),
        request(2, 7, channel="child 1"),
        request(3, 7, sender="adapter", name="runInTerminal"),
        response(4, 7, sender="client"),
        response(5, 7, channel="child 1"),
        response(6, 7),
    )
    assert pairs(found) == {1: 6, 6: 1, 2: 5, 5: 2, 3: 4, 4: 3}


def test_pair_is_found_over_pages_and_forgotten_with_the_request() -> None:
    messages = WireMessages()
    [asked] = messages.add([request(1, 7)])
    messages.add([row(number) for number in range(2, 1_001)])
    assert messages.first == 1
    [answered] = messages.add([response(1_001, 7)])
    assert asked.other is answered
    assert messages.first == 2
    assert answered.other is None
    assert answered.milliseconds is not None


def test_of_a_burst_the_latest_are_kept_and_all_are_counted() -> None:
    messages = WireMessages()
    for begin in range(1, 1_013, 11):
        messages.add([row(number) for number in range(begin, begin + 11)])
    assert (messages.total, len(messages), messages.dropped) == (1_012, 1_000, 12)
    assert messages.summary() == "1,012 messages passed, 1,000 kept with 2,000 characters; 12 of 1,012 dropped."
    messages.add([row(1_013, text="x" * 511_000)])
    assert messages.characters <= limits.WIRE_CHARACTERS
    assert len(messages) < 1_000


def test_requests_that_are_dropped_are_not_waited_for() -> None:
    messages = WireMessages()
    messages.add([request(number, number) for number in range(1, 2_001)])
    [late] = messages.add([response(2_001, 1)])
    assert late.other is None
    [known] = messages.add([response(2_002, 1_990)])
    assert known.other is not None


def test_no_message_is_said_to_be_none() -> None:
    assert WireMessages().summary() == "No message has passed."


def test_filter_looks_at_what_is_said_and_at_the_content() -> None:
    messages = added(
        row(1, name="stopped", text='{"reason":"Straße"}'), row(2, channel="child 1"), request(3, 1), response(4, 1)
    )

    def numbers(wanted: WireFilter) -> list[int]:
        return [message.row.number for message in messages if wanted.fits(message)]

    assert numbers(WireFilter()) == [1, 2, 3, 4]
    assert numbers(WireFilter("STOPPED")) == [1]
    assert numbers(WireFilter("strasse")) == [1]
    assert numbers(WireFilter("child")) == [2]
    assert numbers(WireFilter("client")) == [3]
    assert numbers(WireFilter(kind="event")) == [1, 2]
    assert numbers(WireFilter("threads", "response")) == [4]
    assert numbers(WireFilter("nowhere")) == []


def test_failed_are_responses_with_their_requests_and_what_is_unreadable() -> None:
    messages = added(
        request(1, 1), response(2, 1), request(3, 2), response(4, 2, success=False), row(5, "", "", problem="no JSON")
    )
    assert [message.row.number for message in messages if WireFilter(failed=True).fits(message)] == [3, 4, 5]


def test_line_says_when_where_what_how_long_and_how_it_begins() -> None:
    content = json.dumps({"seq": 9, "type": "response", "body": {"threads": ["\x1b[31m", "\u202e"]}, "success": True})
    asked, answered = added(request(1, 7, channel="child 1"), response(13, 7, channel="child 1", text=content))
    assert asked.as_line().split(" ", 1)[1] == "    1 -> [child 1] request threads #7 (2)"
    assert answered.as_line().split(" ", 1)[1] == (
        f'   13 <- [child 1] response threads #7 12.0 ms ({len(content)}) {{"threads":["\\u001b[31m","\\u202e"]}}'
    )
    failed, wrong = added(response(1, 7, success=False), row(2, "", "", problem="no\nJSON", text="a\tb"))
    assert "response threads #7 FAILED (2)" in failed.as_line()
    assert "<- unreadable (no\\nJSON) (3) a\\tb" in wrong.as_line()


def test_line_shows_the_beginning_of_a_long_content() -> None:
    [found] = added(row(1, text=json.dumps({"body": {"output": "x" * 70_000}})))
    assert found.as_line().endswith("xxx...")
    assert len(found.as_line()) < 250


def test_whole_message_is_json_over_several_lines_with_its_pair() -> None:
    asked, answered, waits = added(request(1, 7), response(2, 7, success=False, text='{"a":{"b":1}}'), request(3, 8))
    assert asked.as_whole().splitlines()[1:] == ["Response: number 2, which failed, after 1.0 ms", "{}"]
    assert answered.as_whole().splitlines()[1:] == [
        "Request: number 1 before 1.0 ms",
        "{",
        '  "a": {',
        '    "b": 1',
        "  }",
        "}",
    ]
    assert waits.as_whole().splitlines()[1:] == ["Response: none so far", "{}"]


def test_whole_message_that_was_cut_is_shown_as_it_is() -> None:
    [cut] = added(row(1, text='{"a":"\x1b[31m\n: dapkit-truncated, 7 of 70000 characters'))
    assert cut.pretty == '{"a":"\\x1b[31m\n: dapkit-truncated, 7 of 70000 characters'


def test_json_of_a_message_has_its_content_as_json_where_it_is_whole() -> None:
    asked, answered = added(request(1, 7), response(2, 7, text='{"a":1}'))
    assert asked.as_json()["response"] == 2
    assert asked.as_json()["message"] == {}
    found = answered.as_json()
    assert (found["request"], found["message"], found["requestSeq"], found["kind"]) == (1, {"a": 1}, 7, "response")
    assert "text" not in found
    [cut] = added(row(1, text='{"a"'))
    assert cut.as_json()["text"] == '{"a"'
    assert "message" not in cut.as_json()
