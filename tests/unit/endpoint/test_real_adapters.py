"""A client lives with what real adapters do, and its report says what that was."""

import pytest

from dapkit.endpoint import Endpoint, EventReceived, Phase, ResponseReceived, ResponseUnusable, Role
from dapkit.protocol import (
    ConfigurationDoneArguments,
    ContinueArguments,
    EvaluateArguments,
    LaunchRequestArguments,
    SourceArguments,
    ThreadsArguments,
)
from raw_peer import CAN_ALL, CLIENT_CAN_ALL, RawPeer


def problems(adapter: RawPeer) -> list[str]:
    return [f"{violation.message}: {violation.problem}" for violation in adapter.endpoint.violations.kept]


def before_the_response() -> RawPeer:
    """Return a raw adapter that has not answered initialize yet."""
    peer = RawPeer(Endpoint(Role.CLIENT))
    peer.endpoint.request(CLIENT_CAN_ALL)
    peer.hear()
    return peer


def test_gdb_and_debugpy_tell_before_they_have_answered_initialize() -> None:
    adapter = before_the_response()
    happenings = [adapter.tell("output", {"output": "GNU gdb\n"}), adapter.tell("debugpySockets", {"sockets": []})]
    assert all(isinstance(happening, EventReceived) for [happening] in happenings)
    adapter.answer(1, "initialize", CAN_ALL)
    assert adapter.endpoint.phase is Phase.READY
    assert problems(adapter) == [
        "event output (seq 1): came before the response to initialize",
        "event debugpySockets (seq 2): came before the response to initialize",
    ]


def test_initialized_before_the_initialize_response_opens_the_configuration() -> None:
    adapter = before_the_response()
    adapter.tell("initialized")
    adapter.answer(1, "initialize", CAN_ALL)
    assert adapter.endpoint.phase is Phase.CONFIGURING


def test_js_debug_sends_initialized_twice(adapter: RawPeer) -> None:
    adapter.endpoint.request(LaunchRequestArguments())
    happenings = [*adapter.tell("initialized"), *adapter.tell("initialized")]
    assert len(happenings) == 2
    assert adapter.endpoint.phase is Phase.CONFIGURING
    assert problems(adapter) == ["event initialized (seq 3): came a second time"]


def test_rdbg_and_cmake_send_initialized_before_launch(adapter: RawPeer) -> None:
    adapter.tell("initialized")
    adapter.endpoint.request(LaunchRequestArguments())
    adapter.endpoint.request(ConfigurationDoneArguments())
    assert problems(adapter) == []


def test_adapter_that_never_sends_initialized_can_be_configured(adapter: RawPeer) -> None:
    adapter.answer(adapter.endpoint.request(LaunchRequestArguments()).seq, "launch")
    adapter.answer(adapter.endpoint.request(ConfigurationDoneArguments()).seq, "configurationDone")
    assert adapter.endpoint.phase is Phase.RUNNING


@pytest.mark.parametrize("launch_is_answered", ["before initialized", "after initialized", "after configurationDone"])
def test_launch_may_be_answered_at_any_time(adapter: RawPeer, launch_is_answered: str) -> None:
    launch = adapter.endpoint.request(LaunchRequestArguments())
    for moment in ("before initialized", "after initialized", "after configurationDone"):
        if launch_is_answered == moment:
            adapter.answer(launch.seq, "launch")
        if moment == "before initialized":
            adapter.tell("initialized")
        elif moment == "after initialized":
            adapter.answer(adapter.endpoint.request(ConfigurationDoneArguments()).seq, "configurationDone")
    assert adapter.endpoint.phase is Phase.RUNNING
    assert problems(adapter) == []


def test_stop_before_configuration_done_stays_a_stop(adapter: RawPeer) -> None:
    adapter.tell("initialized")
    adapter.tell("stopped", {"reason": "entry", "threadId": 1})
    adapter.answer(adapter.endpoint.request(ConfigurationDoneArguments()).seq, "configurationDone")
    assert adapter.endpoint.phase is Phase.STOPPED


def test_launch_that_fails_after_configuration_done_may_be_followed_by_another(adapter: RawPeer) -> None:
    for attempt in range(2):
        launch = adapter.endpoint.request(LaunchRequestArguments())
        adapter.tell("initialized")
        adapter.answer(adapter.endpoint.request(ConfigurationDoneArguments()).seq, "configurationDone")
        adapter.answer(launch.seq, "launch", success=attempt == 1, message="no such program")
    assert adapter.endpoint.phase is Phase.RUNNING
    assert problems(adapter) == []


def test_rdbg_tells_of_the_stop_before_it_answers_continue(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "pause", "threadId": 1, "allThreadsStopped": True})
    request = adapter.endpoint.request(ContinueArguments(thread_id=1))
    adapter.tell("stopped", {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": True})
    adapter.answer(request.seq, "continue", {})
    assert adapter.endpoint.phase is Phase.STOPPED
    assert problems(adapter) == ["event stopped (seq 3): came before the response to request continue (seq 2)"]


def test_stop_of_another_thread_while_continue_is_on_its_way_is_no_breach(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": False})
    adapter.endpoint.request(ContinueArguments(thread_id=1))
    adapter.tell("stopped", {"reason": "breakpoint", "threadId": 2, "allThreadsStopped": False})
    assert problems(adapter) == []


def test_delve_numbers_its_failures_0(adapter: RawPeer) -> None:
    for _ in range(2):
        request = adapter.endpoint.request(ThreadsArguments())
        [happening] = adapter.answer(request.seq, "threads", success=False, message="no", seq=0)
        assert isinstance(happening, ResponseReceived)
    assert problems(adapter) == ["response threads (seq 0): expected seq 2, got 0"]


def test_lldb_dap_changes_its_capabilities_at_configuration_done(adapter: RawPeer) -> None:
    adapter.tell(
        "capabilities", {"capabilities": {"supportsRestartRequest": False, "supportsStepInTargetsRequest": True}}
    )
    assert adapter.endpoint.capabilities.supports_restart_request is False
    assert adapter.endpoint.capabilities.supports_step_in_targets_request is True
    assert adapter.endpoint.capabilities.supports_step_back is True


def test_rdbg_gives_null_for_a_source_reference_and_perl_for_everything(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(SourceArguments(source_reference=1))
    [happening] = adapter.answer(request.seq, "source", {"content": "x", "mimeType": None})
    assert isinstance(happening, ResponseReceived)
    assert problems(adapter) == []


def test_answer_without_a_field_that_it_requires_is_unusable_and_noted(adapter: RawPeer) -> None:
    request = adapter.endpoint.request(EvaluateArguments(expression="x"))
    [happening] = adapter.answer(request.seq, "evaluate", {"result": "1"})
    assert isinstance(happening, ResponseUnusable)
    assert problems(adapter) == ["response evaluate (seq 2): required field is missing"]


def test_events_after_terminated_are_taken_and_a_second_end_is_noted(adapter: RawPeer) -> None:
    adapter.tell("terminated")
    happenings = [
        *adapter.tell("output", {"output": "late"}),
        *adapter.tell("exited", {"exitCode": 0}),
        *adapter.tell("terminated"),
    ]
    assert len(happenings) == 3
    assert adapter.endpoint.phase is Phase.OVER
    assert problems(adapter) == ["event terminated (seq 5): came after the session had ended"]


def test_restart_sets_the_program_going_without_another_handshake(adapter: RawPeer) -> None:
    adapter.tell("stopped", {"reason": "breakpoint", "threadId": 1})
    request = adapter.endpoint.request_custom("restart")
    adapter.answer(request.seq, "restart")
    phases = [adapter.endpoint.phase]
    adapter.tell("stopped", {"reason": "entry", "threadId": 0})
    assert [*phases, adapter.endpoint.phase] == [Phase.RUNNING, Phase.STOPPED]


def test_thread_0_of_js_debug_is_a_thread(adapter: RawPeer) -> None:
    [happening] = adapter.tell("stopped", {"reason": "breakpoint", "threadId": 0})
    assert isinstance(happening, EventReceived)
    assert problems(adapter) == []
