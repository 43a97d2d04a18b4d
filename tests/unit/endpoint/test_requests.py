from typing import Any

import pytest

from dapkit.endpoint import (
    AlreadyAnswered,
    CancelRequested,
    CapabilityMissing,
    Endpoint,
    EventReceived,
    LateResponse,
    LocalProtocolError,
    OutOfOrder,
    Phase,
    ProgressCancelRequested,
    RequestReceived,
    ResponseReceived,
    Role,
)
from dapkit.protocol import (
    COMMANDS,
    Arguments,
    CancelArguments,
    Capabilities,
    CapabilitiesEvent,
    ConfigurationDoneArguments,
    ContinueArguments,
    DataBreakpointInfoArguments,
    Direction,
    DisconnectArguments,
    ErrorBody,
    EvaluateArguments,
    EvaluateBody,
    EventBody,
    InitializeRequestArguments,
    InvalidatedEvent,
    InvalidValue,
    LaunchRequestArguments,
    MemoryEvent,
    Message,
    NextArguments,
    ProgressStartEvent,
    RawJson,
    Request,
    Response,
    RunInTerminalRequestArguments,
    SetBreakpointsArguments,
    SetExceptionBreakpointsArguments,
    Source,
    SourceBreakpoint,
    StackFrame,
    StackTraceBody,
    StepBackArguments,
    StoppedEvent,
    TerminatedEvent,
    Thread,
    ThreadsArguments,
    ThreadsBody,
    VariablesArguments,
)
from dapkit.testing import Pair
from raw_peer import CAN_ALL, RawPeer, raw_client

THREADS = ThreadsBody(threads=[Thread(id=1, name="main")])


@pytest.fixture
def pair() -> Pair:
    return Pair.running()


def responses(client: RawPeer) -> list[dict[str, Any]]:
    return [message for message in client.hear() if message["type"] == "response"]


# One response each


def test_cancelled_request_gets_exactly_one_response(pair: Pair) -> None:
    slow = pair.client.send(VariablesArguments(variables_reference=7))
    pair.client.cancel(slow)
    pair.run_until_idle()
    assert pair.client.responses_to(slow) == [Response.cancelled("variables")]


def test_response_carries_the_typed_body_to_the_one_who_asked(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    pair.adapter.respond(asked, THREADS)
    pair.run_until_idle()
    assert pair.client.responses_to(asked) == [Response(0, 0, success=True, command="threads", body=THREADS)]


def test_second_response_to_a_request_is_an_error_here_and_not_sent(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    pair.adapter.respond(asked, THREADS)
    with pytest.raises(AlreadyAnswered, match="threads \\(seq 4\\) waits for no response"):
        pair.adapter.fail(asked, "too late")
    pair.run_until_idle()
    assert len(pair.client.responses_to(asked)) == 1


def test_failure_carries_its_text_in_both_forms(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    pair.adapter.fail(asked, "the program has no threads")
    pair.run_until_idle()
    [response] = pair.client.responses_to(asked)
    assert response.message == "the program has no threads"
    assert response.body == ErrorBody(error=Message(id=1, format="the program has no threads"))


def test_response_of_the_wrong_type_is_refused_and_the_request_can_still_be_failed(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    with pytest.raises(InvalidValue, match="expected ThreadsBody, got StackTraceBody"):
        pair.adapter.respond(asked, StackTraceBody(stack_frames=[]))
    with pytest.raises(InvalidValue, match=r"\$\.body\.threads: required field is missing"):
        pair.adapter.respond(asked)
    pair.adapter.fail(asked, "internal error")
    pair.run_until_idle()
    assert len(pair.client.responses_to(asked)) == 1


def test_response_with_a_wrong_field_is_refused_with_its_place(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    with pytest.raises(InvalidValue, match=r"\$\.body\.threads\[0\]\.id"):
        pair.adapter.respond(asked, ThreadsBody(threads=[Thread(id="one", name="main")]))  # type: ignore[arg-type]


def test_disconnect_answers_what_is_unanswered_and_leaves_last(pair: Pair) -> None:
    slow = [pair.client.send(VariablesArguments(variables_reference=n)) for n in (1, 2)]
    pair.run_until_idle()
    pair.adapter.tell(TerminatedEvent())
    last = pair.client.endpoint.request_custom("disconnect")
    pair.run_until_idle()
    assert [pair.client.responses_to(request) for request in slow] == [[Response.cancelled("variables")]] * 2
    assert pair.timeline.moments[-1].request_seq == last.seq


def test_answers_after_disconnect_go_nowhere(pair: Pair) -> None:
    slow = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    [received] = pair.adapter.endpoint.unanswered
    pair.client.endpoint.request_custom("disconnect")
    pair.run_until_idle()
    pair.adapter.endpoint.respond(received, THREADS)
    pair.adapter.endpoint.fail(received, "no")
    pair.run_until_idle()
    assert pair.client.responses_to(slow) == [Response.cancelled("threads")]


def test_disconnect_may_fail_and_the_session_goes_on(pair: Pair) -> None:
    del pair.adapter.answers["disconnect"]
    asked = pair.client.endpoint.request_custom("disconnect")
    pair.run_until_idle()
    pair.adapter.fail(asked, "not now")
    pair.run_until_idle()
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.RUNNING, Phase.RUNNING]
    assert len(pair.client.responses_to(asked)) == 1


def test_disconnect_may_come_first_and_come_twice() -> None:
    pair = Pair()
    asked = [pair.client.endpoint.request_custom("disconnect")]
    pair.run_until_idle()
    asked.append(pair.client.endpoint.request_custom("disconnect"))
    pair.run_until_idle()
    assert [len(pair.client.responses_to(request)) for request in asked] == [1, 1]


# Refused by the adapter's endpoint


def test_unknown_request_is_answered_with_an_error() -> None:
    peer = RawPeer(Endpoint(Role.ADAPTER, serves=["initialize", "threads"]))
    [asked] = peer.ask("initialize", {"adapterID": "mock"})
    assert isinstance(asked, RequestReceived)
    peer.endpoint.respond(asked.request, Capabilities())
    assert peer.ask("robot/sync") == []
    assert peer.ask("next", {"threadId": 1}) == []
    [_, *refused] = responses(peer)
    assert [response["message"] for response in refused] == [
        "unsupported request: robot/sync",
        "unsupported request: next",
    ]
    assert peer.endpoint.violations.count == 0


def test_custom_request_is_handed_over_raw_where_all_are_served(client: RawPeer) -> None:
    [asked] = client.ask("robot/sync", {"x": [1, None]})
    assert isinstance(asked, RequestReceived)
    assert asked.request.arguments == RawJson(b'{"x": [1, null]}')


@pytest.mark.parametrize(
    "command",
    [
        name
        for name, spec in COMMANDS.items()
        if spec.direction is Direction.CLIENT_TO_ADAPTER and spec.capability and name != "setExceptionBreakpoints"
    ],
)
def test_request_that_needs_an_unannounced_capability_is_refused(command: str) -> None:
    peer = RawPeer(Endpoint(Role.ADAPTER))
    [asked] = peer.ask("initialize", {"adapterID": "mock"})
    assert isinstance(asked, RequestReceived)
    peer.endpoint.respond(asked.request, Capabilities())
    assert peer.ask(command) == []
    [_, refused] = responses(peer)
    assert refused["success"] is False
    assert refused["message"].startswith(f"unsupported request: {command} (support")
    assert peer.endpoint.violations.kept[0].message == f"request {command} (seq 2)"


@pytest.mark.parametrize("configuration_done", [False, True])
def test_exception_breakpoints_need_a_filter_unless_they_end_the_configuration(configuration_done: bool) -> None:
    pair = Pair(Capabilities(supports_configuration_done_request=configuration_done))
    pair.client.send(InitializeRequestArguments(adapter_id="x"))
    pair.run_until_idle()
    if configuration_done:
        with pytest.raises(CapabilityMissing, match="exceptionBreakpointFilters"):
            pair.client.send(SetExceptionBreakpointsArguments(filters=[]))
    else:
        pair.client.send(SetExceptionBreakpointsArguments(filters=[]))
        pair.run_until_idle()
        assert pair.adapter.requests()[-1].command == "setExceptionBreakpoints"


def test_capability_that_is_announced_later_opens_its_requests() -> None:
    peer = RawPeer(Endpoint(Role.ADAPTER))
    [asked] = peer.ask("initialize", {"adapterID": "mock"})
    assert isinstance(asked, RequestReceived)
    peer.endpoint.respond(asked.request, Capabilities(supports_step_back=False))
    peer.endpoint.send_event(CapabilitiesEvent(capabilities=Capabilities(supports_step_back=True)))
    [stepped] = peer.ask("stepBack", {"threadId": 1})
    assert isinstance(stepped, RequestReceived)


@pytest.mark.parametrize("command", ["runInTerminal", "startDebugging"])
def test_reverse_request_to_an_adapter_is_refused(client: RawPeer, command: str) -> None:
    assert client.ask(command, {}) == []
    assert responses(client)[0]["message"] == f"{command} is not a request to the adapter"


def test_malformed_arguments_are_answered_with_the_place_of_the_fault(client: RawPeer) -> None:
    arguments = {"source": {"path": "/a.py"}, "breakpoints": [{"line": 1}, {"line": 2}, {"line": "three"}]}
    assert client.ask("setBreakpoints", arguments) == []
    [refused] = responses(client)
    assert "$.arguments.breakpoints[2].line: expected" in refused["message"]
    assert refused["body"]["error"]["format"] == refused["message"]
    assert client.endpoint.violations.kept[0].path == "$.arguments.breakpoints[2].line"


def test_request_is_unanswered_until_its_response_and_one_that_looks_like_it_never_is(client: RawPeer) -> None:
    [received] = client.ask("threads")
    assert isinstance(received, RequestReceived)
    request = received.request
    assert client.endpoint.owes_responses
    assert client.endpoint.is_unanswered(request)
    assert not client.endpoint.is_unanswered(Request(request.seq, request.command, request.arguments))
    client.endpoint.respond(request, THREADS)
    assert not client.endpoint.is_unanswered(request)
    assert not client.endpoint.owes_responses


def test_seq_of_an_unanswered_request_cannot_be_used_again(client: RawPeer) -> None:
    [_] = client.ask("threads", seq=7)
    assert client.ask("threads", seq=7) == []
    assert responses(client)[0]["message"] == "seq 7 belongs to a request that is not answered yet"


def test_seq_that_was_answered_may_come_again(client: RawPeer) -> None:
    for _ in range(2):
        [asked] = client.ask("threads", seq=7)
        assert isinstance(asked, RequestReceived)
        client.endpoint.respond(asked.request, THREADS)
    assert [response["request_seq"] for response in responses(client)] == [7, 7]


# Cancelling


def test_cancel_is_answered_at_once_and_reported(client: RawPeer) -> None:
    [slow] = client.ask("threads")
    assert isinstance(slow, RequestReceived)
    assert client.ask("cancel", {"requestId": slow.request.seq}) == [CancelRequested(slow.request)]
    assert client.ask("cancel", {"progressId": "p1"}) == [ProgressCancelRequested("p1")]
    assert [(response["command"], response["success"]) for response in responses(client)] == [("cancel", True)] * 2


def test_cancel_of_something_finished_or_nothing_is_answered_and_no_news(client: RawPeer) -> None:
    assert client.ask("cancel", {"requestId": 1}) == []
    assert client.ask("cancel", {"requestId": 4711}) == []
    assert client.ask("cancel") == []
    assert [response["success"] for response in responses(client)] == [True] * 3


def test_client_does_not_cancel_where_the_adapter_cannot_hear_it() -> None:
    pair = Pair.running(Capabilities(supports_configuration_done_request=True))
    assert pair.client.cancel(pair.client.send(ThreadsArguments())) is None


def test_adapter_cannot_cancel_what_it_asked_the_client() -> None:
    pair = Pair.running(client=InitializeRequestArguments(adapter_id="x", supports_run_in_terminal_request=True))
    asked = pair.adapter.send(RunInTerminalRequestArguments(cwd="/", args=["true"]))
    assert pair.adapter.cancel(asked) is None


def test_client_does_not_cancel_what_was_answered(pair: Pair) -> None:
    asked = pair.client.send(ThreadsArguments())
    pair.run_until_idle()
    pair.adapter.respond(asked, THREADS)
    pair.run_until_idle()
    assert pair.client.cancel(asked) is None


# Refused before sending


def test_client_checks_the_capability_before_it_asks(pair: Pair) -> None:
    with pytest.raises(
        CapabilityMissing, match="stepBack is not supported: the adapter did not announce supportsStepBack"
    ):
        pair.client.send(StepBackArguments(thread_id=1))


def test_list_of_capabilities_counts_as_announced_only_if_it_has_entries(adapter: RawPeer) -> None:
    adapter.tell("capabilities", {"capabilities": {"supportsDataBreakpoints": False}})
    with pytest.raises(CapabilityMissing, match="supportsDataBreakpoints"):
        adapter.endpoint.request(DataBreakpointInfoArguments(name="x"))


def test_adapter_checks_the_flag_of_the_client_before_it_asks(pair: Pair) -> None:
    arguments = RunInTerminalRequestArguments(cwd="/", args=["true"])
    with pytest.raises(CapabilityMissing, match="the client did not announce supportsRunInTerminalRequest"):
        pair.adapter.send(arguments)
    willing = Pair.running(client=InitializeRequestArguments(adapter_id="x", supports_run_in_terminal_request=True))
    asked = willing.adapter.send(arguments)
    willing.run_until_idle()
    assert [request.command for request in willing.client.requests()] == ["runInTerminal"]
    assert asked.command == "runInTerminal"


def test_reverse_request_that_the_client_does_not_serve_is_refused() -> None:
    endpoint = Endpoint(Role.CLIENT, serves=())
    peer = RawPeer(endpoint)
    endpoint.request(InitializeRequestArguments(adapter_id="x", supports_start_debugging_request=True))
    peer.answer(1, "initialize", CAN_ALL)
    peer.hear()
    assert peer.ask("startDebugging", {"request": "launch", "configuration": {}}) == []
    assert [(said["request_seq"], said["success"]) for said in peer.hear()] == [(2, False)]


def test_reverse_request_that_the_client_did_not_announce_is_refused() -> None:
    plain = Endpoint(Role.CLIENT)
    peer = RawPeer(plain)
    plain.request(InitializeRequestArguments(adapter_id="x"))
    peer.answer(1, "initialize", {})
    peer.hear()
    assert peer.ask("runInTerminal", {"cwd": "/", "args": []}) == []
    [refused] = peer.hear()
    assert refused["message"] == "unsupported request: runInTerminal (supportsRunInTerminalRequest was not announced)"


def test_each_end_asks_only_what_the_other_answers(pair: Pair) -> None:
    with pytest.raises(LocalProtocolError, match="runInTerminal is a request that the client answers, not asks"):
        pair.client.send(RunInTerminalRequestArguments(cwd="/", args=[]))
    with pytest.raises(LocalProtocolError, match="threads is a request that the adapter answers, not asks"):
        pair.adapter.endpoint.request_custom("threads")


def test_request_out_of_order_is_refused_before_sending() -> None:
    pair = Pair()
    with pytest.raises(OutOfOrder, match="threads came before initialize"):
        pair.client.send(ThreadsArguments())
    pair.client.send(InitializeRequestArguments(adapter_id="x"))
    with pytest.raises(OutOfOrder, match="launch came before the response to initialize"):
        pair.client.send(LaunchRequestArguments())


def test_adapter_asks_nothing_before_it_has_answered_initialize() -> None:
    pair = Pair(client=InitializeRequestArguments(adapter_id="x", supports_run_in_terminal_request=True))
    del pair.adapter.answers["initialize"]
    pair.client.send(InitializeRequestArguments(adapter_id="x", supports_run_in_terminal_request=True))
    pair.run_until_idle()
    with pytest.raises(OutOfOrder, match="runInTerminal came before the response to initialize"):
        pair.adapter.send(RunInTerminalRequestArguments(cwd="/", args=[]))


def test_wrong_argument_is_refused_before_sending(pair: Pair) -> None:
    wrong = SetBreakpointsArguments(source=Source(path="/a"), breakpoints=[SourceBreakpoint(line="1")])  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match=r"\$\.arguments\.breakpoints\[0\]\.line"):
        pair.client.send(wrong)
    assert not pair.client.endpoint.has_bytes_to_send()


# Gated events


@pytest.mark.parametrize(
    ("body", "willing_client"),
    [
        (InvalidatedEvent(), InitializeRequestArguments(adapter_id="x", supports_invalidated_event=True)),
        (
            MemoryEvent(memory_reference="m", offset=0, count=1),
            InitializeRequestArguments(adapter_id="x", supports_memory_event=True),
        ),
        (
            ProgressStartEvent(progress_id="1", title="Work"),
            InitializeRequestArguments(adapter_id="x", supports_progress_reporting=True),
        ),
    ],
    ids=["invalidated", "memory", "progressStart"],
)
def test_event_that_the_client_cannot_use_is_not_sent(
    body: EventBody, willing_client: InitializeRequestArguments
) -> None:
    plain = Pair.running()
    assert plain.adapter.tell(body) is False
    willing = Pair.running(client=willing_client)
    assert willing.adapter.tell(body) is True
    willing.run_until_idle()
    assert [event.body for event in willing.client.events()][-1] == body


def test_event_that_the_client_did_not_ask_for_is_taken_and_noted() -> None:
    endpoint = Endpoint(Role.CLIENT)
    peer = RawPeer(endpoint)
    endpoint.request(InitializeRequestArguments(adapter_id="x"))
    peer.answer(1, "initialize", {})
    [happening] = peer.tell("invalidated", {})
    assert isinstance(happening, EventReceived)
    assert str(endpoint.violations.kept[0]) == (
        "event invalidated (seq 2): sent although the client did not announce supportsInvalidatedEvent - at `$`"
    )


# Late and stray responses


def test_answer_to_a_forgotten_request_is_late(pair: Pair) -> None:
    slow = pair.client.send(ThreadsArguments())
    pair.client.endpoint.forget(slow)
    pair.run_until_idle()
    pair.adapter.respond(slow, THREADS)
    pair.run_until_idle()
    assert isinstance(pair.client.happenings[-1], LateResponse)
    assert pair.client.endpoint.violations.count == 0


def test_late_answer_still_has_its_effect_on_the_session() -> None:
    pair = Pair()
    introduction = pair.client.send(InitializeRequestArguments(adapter_id="x"))
    pair.client.endpoint.forget(introduction)
    pair.run_until_idle()
    assert pair.client.endpoint.phase is Phase.READY
    assert pair.client.endpoint.capabilities.supports_cancel_request


def test_response_to_nothing_is_noted_and_forgiven(adapter: RawPeer) -> None:
    assert adapter.answer(99, "threads", {"threads": []}) == []
    assert adapter.endpoint.violations.kept[0].path == "$.request_seq"
    assert adapter.endpoint.ended is None


def test_second_response_to_one_request_is_noted_and_forgiven(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    assert len(adapter.answer(request.seq, "threads", {"threads": []})) == 1
    assert adapter.answer(request.seq, "threads", {"threads": []}) == []
    assert adapter.endpoint.violations.count == 1


def test_response_under_another_command_still_finds_its_request(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(ThreadsArguments())
    [happening] = adapter.answer(request.seq, "Threads", {"threads": []})
    assert isinstance(happening, ResponseReceived)
    assert happening.response.body == ThreadsBody(threads=[])
    assert adapter.endpoint.violations.kept[0].problem == "expected command threads, got Threads"


# Passing on


def test_body_of_a_request_that_was_passed_on_stays_raw(pair: Pair) -> None:
    asked = pair.client.endpoint.request_custom("threads", None)
    pair.run_until_idle()
    pair.adapter.respond(asked, RawJson(b'{"threads":[],"ours":1}'))
    pair.run_until_idle()
    [response] = pair.client.responses_to(asked)
    assert response.body == RawJson(b'{"threads":[],"ours":1}')


def test_raw_answer_to_continue_has_its_effect_on_the_session(pair: Pair) -> None:
    pair.adapter.tell(StoppedEvent(reason="pause", thread_id=1))
    pair.run_until_idle()
    asked = pair.client.send(ContinueArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.respond(asked, RawJson(b'{"allThreadsContinued":false}'))
    pair.run_until_idle()
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.STOPPED, Phase.STOPPED]


def test_raw_initialize_is_understood_on_both_ends() -> None:
    client, adapter = Endpoint(Role.CLIENT), Endpoint(Role.ADAPTER)
    client.request_custom("initialize", {"adapterID": "x", "linesStartAt1": False})
    [asked] = adapter.receive(client.bytes_to_send())
    assert isinstance(asked, RequestReceived)
    adapter.respond(asked.request, RawJson(b'{"supportsStepBack":true}'))
    client.receive(adapter.bytes_to_send())
    assert client.client == adapter.client
    assert client.capabilities == adapter.capabilities == Capabilities(supports_step_back=True)


def test_single_thread_step_leaves_the_session_stopped(pair: Pair) -> None:
    pair.adapter.tell(StoppedEvent(reason="pause", thread_id=1))
    pair.run_until_idle()
    pair.adapter.answers["next"] = None
    pair.client.send(NextArguments(thread_id=1, single_thread=True))
    pair.run_until_idle()
    assert [end.endpoint.phase for end in (pair.client, pair.adapter)] == [Phase.STOPPED, Phase.STOPPED]


def test_arguments_of_launch_keep_every_key() -> None:
    fresh = Pair()
    fresh.client.send(InitializeRequestArguments(adapter_id="x"))
    fresh.run_until_idle()
    arguments = LaunchRequestArguments(no_debug=True, extra={"program": "/a.py", "env": {"A": None}})
    fresh.client.send(arguments)
    fresh.run_until_idle()
    assert fresh.adapter.requests()[-1].arguments == arguments


def test_arguments_without_fields_are_left_out(adapter: RawPeer) -> None:
    adapter.endpoint.request(ConfigurationDoneArguments())
    assert "arguments" not in adapter.hear()[0]


@pytest.mark.parametrize("arguments", [CancelArguments(), LaunchRequestArguments(), DisconnectArguments()])
def test_arguments_that_say_nothing_are_written_for_peers_that_need_them(
    adapter: RawPeer, arguments: Arguments[None]
) -> None:
    adapter.endpoint.request(arguments)
    assert adapter.hear()[0]["arguments"] == {}


def test_cancel_names_the_request_and_not_its_answer(pair: Pair) -> None:
    slow = pair.client.send(EvaluateArguments(expression="1+1"))
    pair.run_until_idle()
    cancel = pair.client.cancel(slow)
    pair.adapter.respond(slow, EvaluateBody(result="2", variables_reference=0))
    pair.run_until_idle()
    assert [response.success for response in pair.client.responses_to(slow)] == [True]
    assert isinstance(cancel, Request)
    assert [response.success for response in pair.client.responses_to(cancel)] == [True]


def test_frame_of_stack_trace_is_checked_before_it_leaves() -> None:
    client = raw_client()
    [asked] = client.ask("stackTrace", {"threadId": 1})
    assert isinstance(asked, RequestReceived)
    with pytest.raises(InvalidValue, match=r"\$\.body\.stackFrames\[0\]\.line"):
        client.endpoint.respond(
            asked.request, StackTraceBody(stack_frames=[StackFrame(id=1, name="f", line=-1, column=1)])
        )
