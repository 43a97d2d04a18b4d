import pytest

from dapkit.endpoint import OutOfOrder, Phase, RequestReceived, limits
from dapkit.protocol import (
    Capabilities,
    ContinueBody,
    ExitedEvent,
    InitializedEvent,
    InitializeRequestArguments,
    NextArguments,
    OutputEvent,
    PauseArguments,
    Source,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
    ThreadsArguments,
    ThreadsBody,
)
from dapkit.testing import Pair, event, failure, never, request, response
from raw_peer import RawPeer

STEP = StoppedEvent(reason="step", thread_id=1)


@pytest.fixture
def pair() -> Pair:
    return Pair.running()


def said(client: RawPeer) -> list[str]:
    return [f"{message['type']} {message.get('event') or message['command']}" for message in client.hear()]


def outputs(client: RawPeer) -> list[tuple[str | None, str]]:
    bodies = [message["body"] for message in client.hear() if message.get("event") == "output"]
    return [(body.get("category"), body["output"]) for body in bodies]


def test_initialized_never_leaves_before_the_initialize_response() -> None:
    pair = Pair()
    asked = pair.client.send(InitializeRequestArguments(adapter_id="x"))
    del pair.adapter.answers["initialize"]
    pair.adapter.tell(InitializedEvent())
    pair.run_until_idle()
    pair.adapter.respond(asked, Capabilities())
    pair.run_until_idle()
    pair.timeline.expect(request("initialize") >> response("initialize") >> event("initialized"))
    pair.timeline.expect(never(event("initialized")) >> response("initialize"))


def test_failed_initialize_keeps_the_events_until_one_succeeds() -> None:
    pair = Pair()
    del pair.adapter.answers["initialize"]
    pair.adapter.tell(OutputEvent(output="hello"))
    first = pair.client.send(InitializeRequestArguments(adapter_id="x"))
    pair.run_until_idle()
    pair.adapter.fail(first, "wrong adapter")
    pair.run_until_idle()
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.FRESH, Phase.FRESH]
    second = pair.client.send(InitializeRequestArguments(adapter_id="y"))
    pair.run_until_idle()
    pair.adapter.respond(second, Capabilities())
    pair.run_until_idle()
    pair.timeline.expect(failure("initialize") >> never(event("output")) >> response("initialize") >> event("output"))


def test_stopped_never_leaves_before_the_response_of_the_request_that_caused_it(pair: Pair) -> None:
    step = pair.client.send(NextArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.tell(STEP)
    pair.run_until_idle()
    pair.adapter.respond(step)
    pair.run_until_idle()
    pair.timeline.expect(
        request("next") >> never(event("stopped")) >> response("next") >> event("stopped", reason="step")
    )
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.STOPPED, Phase.STOPPED]


def test_stopped_leaves_after_the_failure_of_the_request_too(pair: Pair) -> None:
    pause = pair.client.send(PauseArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.tell(StoppedEvent(reason="breakpoint", thread_id=1))
    pair.adapter.fail(pause, "it has stopped by itself")
    pair.run_until_idle()
    pair.timeline.expect(failure("pause") >> event("stopped", reason="breakpoint"))


def test_stopped_waits_for_no_request_that_cannot_have_caused_it(pair: Pair) -> None:
    slow = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    pair.adapter.tell(STEP)
    pair.run_until_idle()
    pair.timeline.expect(event("stopped"))
    assert pair.client.responses_to(slow) == []


def test_answer_that_lets_the_program_go_on_does_not_overtake_a_stop_that_was_told_before(client: RawPeer) -> None:
    client.endpoint.send_event(STEP)
    [asked] = client.ask("continue", {"threadId": 1})
    assert isinstance(asked, RequestReceived)
    client.endpoint.respond(asked.request, ContinueBody())
    assert said(client) == ["event stopped", "response continue"]
    assert client.endpoint.phase is Phase.RUNNING


def test_stop_leaves_before_the_answers_that_it_overtakes_and_after_all_others(client: RawPeer) -> None:
    [first], [second] = (client.ask("next", {"threadId": 1}) for _ in range(2))
    assert isinstance(first, RequestReceived)
    assert isinstance(second, RequestReceived)
    client.endpoint.send_event(STEP, overtakes=lambda request: request is second.request)
    client.endpoint.send_event(STEP)
    client.endpoint.respond(second.request)
    assert said(client) == []
    client.endpoint.respond(first.request)
    assert said(client) == ["response next", "event stopped", "response next", "event stopped"]
    assert client.endpoint.phase is Phase.STOPPED


def test_client_that_asks_a_running_program_to_go_on_takes_it_for_running_after_the_answer(pair: Pair) -> None:
    asked = pair.client.send(NextArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.endpoint.send_event(STEP, overtakes=lambda _: True)
    pair.adapter.respond(asked)
    pair.run_until_idle()
    pair.timeline.expect(event("stopped") >> response("next"))
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.RUNNING, Phase.RUNNING]


def test_events_keep_their_order_behind_one_that_waits(pair: Pair) -> None:
    step = pair.client.send(NextArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.tell(OutputEvent(output="before"))
    pair.adapter.tell(STEP)
    pair.adapter.tell(OutputEvent(output="after"))
    pair.run_until_idle()
    pair.timeline.expect(never(event("stopped") | event("output", output="after")))
    pair.adapter.respond(step)
    pair.run_until_idle()
    pair.timeline.expect(
        event("output", output="before") >> response("next") >> event("stopped") >> event("output", output="after")
    )


def test_stop_that_waits_for_a_request_does_not_keep_disconnect_from_its_answer(pair: Pair) -> None:
    pair.client.send(NextArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.tell(STEP)
    pair.client.endpoint.request_custom("disconnect")
    pair.run_until_idle()
    pair.timeline.expect(failure("next", "cancelled") >> event("stopped") >> response("disconnect"))


def test_responses_leave_before_output_that_waits(client: RawPeer) -> None:
    [asked] = client.ask("threads")
    assert isinstance(asked, RequestReceived)
    for _ in range(3):
        client.endpoint.send_event(ThreadEvent(reason="started", thread_id=1))
    client.endpoint.respond(asked.request, ThreadsBody(threads=[]))
    assert said(client) == ["response threads", *["event thread"] * 3]


def test_output_leaves_before_terminated_and_disconnect_is_the_last_word(client: RawPeer) -> None:
    [asked] = client.ask("disconnect")
    assert isinstance(asked, RequestReceived)
    client.endpoint.send_event(OutputEvent(output="bye\n", category="stdout"))
    client.endpoint.send_event(ExitedEvent(exit_code=0))
    client.endpoint.send_event(TerminatedEvent())
    client.endpoint.respond(asked.request)
    assert said(client) == ["event output", "event exited", "event terminated", "response disconnect"]
    assert client.endpoint.send_event(OutputEvent(output="late")) is False
    assert client.endpoint.send_custom_event("late") is False
    assert said(client) == []


def test_disconnect_before_initialize_drops_the_events_that_nobody_may_hear() -> None:
    pair = Pair()
    pair.adapter.tell(OutputEvent(output="hello"))
    pair.client.endpoint.request_custom("disconnect")
    pair.run_until_idle()
    assert [moment.message and moment.message.command for moment in pair.timeline.moments] == ["disconnect"] * 2  # type: ignore[union-attr]


@pytest.mark.parametrize("body", [TerminatedEvent(), STEP], ids=["terminated", "stopped"])
def test_nothing_stops_or_ends_after_terminated(client: RawPeer, body: TerminatedEvent | StoppedEvent) -> None:
    client.endpoint.send_event(TerminatedEvent())
    with pytest.raises(OutOfOrder, match="came after the session had ended"):
        client.endpoint.send_event(body)


def test_seq_counts_up_by_one_without_gaps_as_the_peer_sees_it(client: RawPeer) -> None:
    seqs: list[int] = []
    for step in range(20):
        [asked] = client.ask("next" if step % 2 else "threads", {"threadId": 1})
        assert isinstance(asked, RequestReceived)
        client.endpoint.send_event(OutputEvent(output="x", category=("stdout", "stderr")[step % 3 == 0]))
        client.endpoint.send_event(STEP)
        seqs += [message["seq"] for message in client.hear()]
        client.endpoint.respond(asked.request, None if step % 2 else ThreadsBody(threads=[]))
        client.ask("runInTerminal")
        seqs += [message["seq"] for message in client.hear()]
    assert seqs == list(range(2, 2 + len(seqs)))


def test_neighbouring_output_of_one_category_leaves_as_one_event(client: RawPeer) -> None:
    for text in ("a", "b\n", "c"):
        client.endpoint.send_event(OutputEvent(output=text, category="stdout"))
    client.endpoint.send_event(OutputEvent(output="d", category="stderr"))
    client.endpoint.send_event(OutputEvent(output="e"))
    client.endpoint.send_event(OutputEvent(output="f"))
    assert outputs(client) == [("stdout", "ab\nc"), ("stderr", "d"), (None, "ef")]


def test_output_with_a_place_or_a_group_is_not_joined(client: RawPeer) -> None:
    for body in (
        OutputEvent(output="a"),
        OutputEvent(output="b", source=Source(path="/x")),
        OutputEvent(output="c", group="start"),
        OutputEvent(output="d"),
    ):
        client.endpoint.send_event(body)
    assert outputs(client) == [(None, text) for text in "abcd"]


def test_output_is_not_joined_over_another_event(client: RawPeer) -> None:
    client.endpoint.send_event(OutputEvent(output="a"))
    client.endpoint.send_event(ThreadEvent(reason="started", thread_id=1))
    client.endpoint.send_event(OutputEvent(output="b"))
    assert said(client) == ["event output", "event thread", "event output"]


def test_joined_output_stays_below_its_limit(client: RawPeer) -> None:
    line = "x" * 1000 + "\n"
    for _ in range(200):
        client.endpoint.send_event(OutputEvent(output=line))
    assert client.endpoint.output_backlog == 200 * len(line)
    events = outputs(client)
    assert all(len(text) <= limits.OUTPUT_EVENT_BYTES for _, text in events)
    assert "".join(text for _, text in events) == line * 200
    assert len(events) == 4
    assert client.endpoint.output_backlog == 0


def test_output_from_a_place_counts_as_backlog_until_it_has_left(client: RawPeer) -> None:
    client.endpoint.send_event(OutputEvent(output="12345", source=Source(path="/a.py"), line=3))
    client.endpoint.send_event(OutputEvent(output="67"))
    assert client.endpoint.output_backlog == 7
    assert len(outputs(client)) == 2
    assert client.endpoint.output_backlog == 0


def test_bytes_to_send_stops_at_its_limit_between_frames(client: RawPeer) -> None:
    for number in range(10):
        client.endpoint.send_event(ThreadEvent(reason="started", thread_id=number))
    one = client.endpoint.bytes_to_send(limit=1)
    assert one.count(b"Content-Length") == 1
    assert client.endpoint.has_bytes_to_send()
    assert client.endpoint.bytes_to_send().count(b"Content-Length") == 9
    assert not client.endpoint.has_bytes_to_send()


def test_late_response_to_resume_does_not_hide_the_stop(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "entry", "threadId": 1, "allThreadsStopped": True})
    step = adapter.endpoint.request(NextArguments(thread_id=1))
    adapter.tell("stopped", {"reason": "step", "threadId": 1, "allThreadsStopped": True})
    adapter.answer(step.seq, "next")
    assert adapter.endpoint.phase is Phase.STOPPED
    assert "came before the response to request next" in adapter.endpoint.violations.kept[0].problem


def test_continue_of_all_threads_sets_the_session_going(pair: Pair) -> None:
    pair.adapter.tell(STEP)
    pair.adapter.answers["continue"] = ContinueBody(all_threads_continued=True)
    pair.run_until_idle()
    pair.client.endpoint.request_custom("continue", {"threadId": 1})
    pair.run_until_idle()
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.RUNNING, Phase.RUNNING]
