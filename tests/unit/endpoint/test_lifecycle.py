import pytest

from dapkit.endpoint import MOVES, RESUMING, Lifecycle, Phase, Trigger
from dapkit.endpoint.lifecycle import TriggerKind
from dapkit.protocol import COMMANDS, EVENTS, Direction
from dapkit.protocol.time_travel import STEP_BACK_INTO, TRAVEL_TO

FRESH, INITIALIZING, READY, CONFIGURING, RUNNING, STOPPED, OVER = Phase

WAYS: dict[Phase, list[tuple[TriggerKind, str]]] = {
    FRESH: [],
    INITIALIZING: [("request", "initialize")],
    READY: [("response", "initialize")],
    CONFIGURING: [("event", "initialized"), ("request", "launch")],
    RUNNING: [("request", "configurationDone"), ("response", "configurationDone"), ("response", "launch")],
    STOPPED: [("event", "stopped")],
    OVER: [("event", "terminated")],
}
"""How a usual session comes into each phase from the one before."""

LEGAL = {
    "initialize": {FRESH},
    "disconnect": set(Phase),
    "cancel": {READY, CONFIGURING, RUNNING, STOPPED, OVER},
    "terminate": {READY, CONFIGURING, RUNNING, STOPPED, OVER},
    "launch": {READY},
    "attach": {READY},
    "configurationDone": {READY, CONFIGURING},
}
"""Where the commands with rules of their own are legal in a usual session."""

ANY_TIME_IN_BETWEEN = {READY, CONFIGURING, RUNNING, STOPPED}


def lifecycle_in(phase: Phase) -> Lifecycle:
    lifecycle = Lifecycle()
    for there, triggers in WAYS.items():
        for kind, name in triggers:
            lifecycle.note(kind, name)
        if there is phase:
            break
    assert lifecycle.phase is phase
    return lifecycle


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
@pytest.mark.parametrize("command", [*COMMANDS, "custom"])
def test_every_command_is_legal_in_its_phases_and_objected_to_in_all_others(command: str, phase: Phase) -> None:
    objection = lifecycle_in(phase).objection(command)
    if phase in LEGAL.get(command, ANY_TIME_IN_BETWEEN):
        assert objection is None
    else:
        assert objection is not None
        assert objection.startswith(command)


def every_trigger() -> list[Trigger]:
    known = [*COMMANDS, STEP_BACK_INTO, TRAVEL_TO]
    commands = [Trigger(kind, command) for command in known for kind in ("request", "response", "failure")]
    return commands + [Trigger("event", event) for event in EVENTS]


EXPECTED = {
    "initialize asked": (FRESH, Trigger("request", "initialize"), INITIALIZING),
    "initialize answered": (INITIALIZING, Trigger("response", "initialize"), READY),
    "initialize failed": (INITIALIZING, Trigger("failure", "initialize"), FRESH),
    "initialized before the response": (INITIALIZING, Trigger("event", "initialized"), INITIALIZING),
    "initialized": (READY, Trigger("event", "initialized"), CONFIGURING),
    "initialized twice": (CONFIGURING, Trigger("event", "initialized"), CONFIGURING),
    "configured": (CONFIGURING, Trigger("response", "configurationDone"), RUNNING),
    "configured without initialized": (READY, Trigger("response", "configurationDone"), RUNNING),
    "configuration refused": (CONFIGURING, Trigger("failure", "configurationDone"), CONFIGURING),
    "stopped": (RUNNING, Trigger("event", "stopped"), STOPPED),
    "stopped before configurationDone": (CONFIGURING, Trigger("event", "stopped"), STOPPED),
    "stopped without initialized": (READY, Trigger("event", "stopped"), STOPPED),
    "configured after a stop": (STOPPED, Trigger("response", "configurationDone"), STOPPED),
    "continued": (STOPPED, Trigger("event", "continued"), RUNNING),
    "continue failed": (STOPPED, Trigger("failure", "continue"), STOPPED),
    "paused": (RUNNING, Trigger("response", "pause"), RUNNING),
    "launch failed while it runs": (RUNNING, Trigger("failure", "launch"), CONFIGURING),
    "launch failed in configuration": (CONFIGURING, Trigger("failure", "launch"), CONFIGURING),
    "terminated": (RUNNING, Trigger("event", "terminated"), OVER),
    "terminated before it ran": (READY, Trigger("event", "terminated"), OVER),
    "exited": (RUNNING, Trigger("event", "exited"), RUNNING),
    "stopped after the end": (OVER, Trigger("event", "stopped"), OVER),
    "terminate answered": (RUNNING, Trigger("response", "terminate"), RUNNING),
    "disconnect before initialize": (FRESH, Trigger("response", "disconnect"), OVER),
    "disconnect failed": (RUNNING, Trigger("failure", "disconnect"), RUNNING),
    "disconnected": (STOPPED, Trigger("response", "disconnect"), OVER),
    **{f"{command} answered": (STOPPED, Trigger("response", command), RUNNING) for command in RESUMING},
}


@pytest.mark.parametrize(("phase", "trigger", "expected"), EXPECTED.values(), ids=EXPECTED)
def test_session_moves_as_expected(phase: Phase, trigger: Trigger, expected: Phase) -> None:
    lifecycle = lifecycle_in(phase)
    lifecycle.note(*trigger)
    assert lifecycle.phase is expected


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
def test_nothing_but_a_row_of_the_table_changes_the_phase(phase: Phase) -> None:
    for trigger in every_trigger():
        lifecycle = lifecycle_in(phase)
        lifecycle.note(*trigger)
        assert lifecycle.phase is MOVES.get((phase, trigger), phase), trigger


def test_every_row_of_the_table_is_about_a_command_or_event_of_the_protocol() -> None:
    assert {trigger for _, trigger in MOVES} <= set(every_trigger())


def test_reverse_requests_are_no_business_of_the_tables_for_client_requests() -> None:
    reverse = {spec.command for spec in COMMANDS.values() if spec.direction is Direction.ADAPTER_TO_CLIENT}
    assert not reverse & {trigger.name for _, trigger in MOVES}


def test_initialized_before_the_initialize_response_counts_once_that_has_come() -> None:
    lifecycle = lifecycle_in(INITIALIZING)
    lifecycle.note("event", "initialized")
    assert lifecycle.phase is INITIALIZING
    lifecycle.note("response", "initialize")
    assert lifecycle.phase is CONFIGURING


def test_launch_may_be_tried_again_after_it_failed() -> None:
    lifecycle = lifecycle_in(RUNNING)
    lifecycle.note("failure", "launch")
    assert [lifecycle.objection(command) for command in ("launch", "configurationDone")] == [None, None]
    lifecycle.note("request", "attach")
    assert lifecycle.objection("launch") == "launch came after attach: one of them starts a session, once"


def test_second_launch_that_fails_too_leaves_a_third_one_possible() -> None:
    lifecycle = lifecycle_in(READY)
    for _ in range(2):
        lifecycle.note("request", "launch")
        lifecycle.note("failure", "launch")
    assert lifecycle.objection("launch") is None
    assert lifecycle.phase is READY


def test_response_that_comes_after_the_stop_of_its_request_does_not_set_the_program_going() -> None:
    lifecycle = lifecycle_in(STOPPED)
    lifecycle.note("request", "next")
    lifecycle.note("event", "stopped")
    lifecycle.note("response", "next")
    assert lifecycle.phase is STOPPED
    lifecycle.note("request", "continue")
    lifecycle.note("response", "continue")
    assert lifecycle.phase is RUNNING


def test_what_concerns_one_thread_leaves_a_stopped_session_stopped() -> None:
    lifecycle = lifecycle_in(STOPPED)
    lifecycle.note("request", "continue")
    lifecycle.note("response", "continue", all_threads=False)
    lifecycle.note("event", "continued", all_threads=False)
    assert lifecycle.phase is STOPPED
