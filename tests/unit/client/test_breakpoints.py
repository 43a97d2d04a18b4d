"""Breakpoints are kept whole: order, answers, gates, and what the protocol can say."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from client_fixtures import able, driven
from dapkit.client import (
    Breakpoints,
    BreakpointSpec,
    DataLocation,
    FunctionLocation,
    Session,
    SessionBreakpoint,
    SourceLocation,
    UnknownBreakpoint,
    UnknownFilter,
)
from dapkit.client.breakpoint_spec import WireBreakpoint, source_location, spec_of, wire_form
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    Capabilities,
    DataBreakpoint,
    ExceptionBreakpointsFilter,
    ExceptionFilterOptions,
    FunctionBreakpoint,
    InstructionBreakpoint,
    InvalidValue,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    SetDataBreakpointsBody,
    SetExceptionBreakpointsBody,
    SetFunctionBreakpointsBody,
    SetInstructionBreakpointsBody,
    Source,
    SourceBreakpoint,
    ThreadEvent,
)
from dapkit.testing import refuse, reply, request, response, tell

MAIN = Source(path="/p/main.c", name="main.c")


def pending(lines: list[int]) -> SetBreakpointsBody:
    return SetBreakpointsBody(breakpoints=[Breakpoint(id=line, verified=False, reason="pending") for line in lines])


def lines(breakpoints: tuple[SessionBreakpoint, ...]) -> list[int | None]:
    return [known.line for known in breakpoints]


async def test_breakpoints_are_sent_by_file_in_the_specified_order() -> None:
    filters = [
        ExceptionBreakpointsFilter(filter="raised", label="Raised"),
        ExceptionBreakpointsFilter(filter="uncaught", label="Uncaught", default=True),
    ]
    capabilities = Capabilities(
        supports_configuration_done_request=True,
        supports_function_breakpoints=True,
        supports_data_breakpoints=True,
        supports_instruction_breakpoints=True,
        exception_breakpoint_filters=filters,
    )
    nothing = {
        "setFunctionBreakpoints": [reply(SetFunctionBreakpointsBody(breakpoints=[Breakpoint(verified=True)]))],
        "setDataBreakpoints": [reply(SetDataBreakpointsBody(breakpoints=[Breakpoint(verified=True)]))],
        "setInstructionBreakpoints": [reply(SetInstructionBreakpointsBody(breakpoints=[Breakpoint(verified=True)]))],
        "setExceptionBreakpoints": [reply(SetExceptionBreakpointsBody())],
    }
    async with driven(able(nothing, capabilities)) as both:
        await both.session.add_instruction_breakpoint("0x10")
        await both.session.add_data_breakpoint("total", access_type="write")
        await both.session.add_function_breakpoint("main")
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.add_breakpoint("/p/other.c", 1)
        await both.session.add_breakpoint("/p/main.c", 9)
        await both.session.launch({})
        both.timeline.expect(
            request("setBreakpoints", source=MAIN, breakpoints=[SourceBreakpoint(line=3), SourceBreakpoint(line=9)])
            >> request("setBreakpoints", breakpoints=[SourceBreakpoint(line=1)])
            >> request("setFunctionBreakpoints", breakpoints=[FunctionBreakpoint(name="main")])
            >> request("setDataBreakpoints")
            >> request("setInstructionBreakpoints")
            >> request("setExceptionBreakpoints", filters=["uncaught"])
            >> request("configurationDone")
        )
        assert all(known.verified for known in both.session.breakpoints)


async def test_second_breakpoint_never_replaces_the_first() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.add_breakpoint("/p/main.c", 5)
        both.timeline.expect(
            request("setBreakpoints", breakpoints=[SourceBreakpoint(line=3)])
            >> request("setBreakpoints", breakpoints=[SourceBreakpoint(line=3), SourceBreakpoint(line=5)])
        )


async def test_last_breakpoint_of_a_file_is_removed_with_an_empty_list() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        placed = await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.remove_breakpoint(placed.number)
        both.timeline.expect(request("setBreakpoints", source=MAIN, breakpoints=[]))
        with pytest.raises(UnknownBreakpoint, match="no breakpoint 1"):
            await both.session.remove_breakpoint(placed.number)


async def test_clearing_one_file_leaves_the_others() -> None:
    async with driven(able()) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.add_breakpoint("/p/other.c", 4)
        await both.session.add_function_breakpoint("main")
        await both.session.clear_breakpoints("/p/main.c")
        assert lines(both.session.breakpoints) == [4, None]


async def test_relative_path_is_sent_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with driven(able()) as both:
        placed = await both.session.add_breakpoint("main.c", 3)
        assert placed.source == Source(path=str(tmp_path / "main.c"), name="main.c")


async def test_breakpoint_event_right_after_the_response_finds_its_breakpoint() -> None:
    verified = BreakpointEvent(reason="changed", breakpoint=Breakpoint(id=3, verified=True, line=4))
    script = able({"setBreakpoints": [reply(pending([3])), tell(verified, ThreadEvent(reason="started", thread_id=1))]})
    async with driven(script) as both:
        await both.session.launch({})
        placed = await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.wait_for(ThreadEvent, since=0)
        [now] = both.session.breakpoints
        assert (placed.number, now.verified, now.line, now.moved) == (now.number, True, 4, True)


async def test_removed_breakpoint_stays_wanted_and_says_what_happened() -> None:
    removed = BreakpointEvent(reason="removed", breakpoint=Breakpoint(id=3, verified=True))
    script = able({"setBreakpoints": [reply(pending([3])), tell(removed, ThreadEvent(reason="started", thread_id=1))]})
    async with driven(script) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.launch({})
        await both.session.wait_for(ThreadEvent, since=0)
        [now] = both.session.breakpoints
        assert (now.verified, now.message) == (False, "the adapter removed it")


async def test_refused_breakpoint_is_a_result_and_no_failure_of_the_launch() -> None:
    async with driven(able({"setBreakpoints": [refuse("no such file")]})) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.launch({})
        [placed] = both.session.breakpoints
        assert (placed.verified, placed.message) == (False, "no such file")


async def test_request_made_by_hand_is_the_truth_from_then_on() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        first = await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.add_breakpoint("/p/main.c", 4)
        await both.session.set_breakpoints(MAIN, breakpoints=[SourceBreakpoint(line=3), SourceBreakpoint(line=8)])
        await both.session.add_breakpoint("/p/main.c", 9)
        both.timeline.expect(
            request("setBreakpoints", breakpoints=[SourceBreakpoint(line=line) for line in (3, 8, 9)])
            >> response("setBreakpoints")
        )
        assert both.session.breakpoints[0].number == first.number
        assert lines(both.session.breakpoints) == [3, 8, 9]


async def test_fewer_answers_than_breakpoints_leave_the_rest_unanswered() -> None:
    async with driven(able({"setBreakpoints": [reply(pending([3]))]})) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.add_breakpoint("/p/main.c", 4)
        await both.session.launch({})
        assert [known.answer is None for known in both.session.breakpoints] == [False, True]


@pytest.mark.parametrize(
    ("wanted", "capability"),
    [
        (partial(Session.add_breakpoint, condition="x"), "supportsConditionalBreakpoints"),
        (partial(Session.add_breakpoint, hit_condition="x"), "supportsHitConditionalBreakpoints"),
        (partial(Session.add_breakpoint, log_message="x"), "supportsLogPoints"),
        (partial(Session.add_breakpoint, mode="x"), "breakpointModes"),
    ],
)
async def test_field_that_the_adapter_would_ignore_is_refused_before_launch(
    wanted: Callable[[Session, str, int], Awaitable[SessionBreakpoint]], capability: str
) -> None:
    async with driven(able(capabilities=Capabilities())) as both:
        with pytest.raises(CapabilityMissing) as caught:
            await wanted(both.session, "/p/main.c", 3)
        assert caught.value.capability == capability
        assert both.session.breakpoints == ()


async def test_kind_that_the_adapter_does_not_know_is_refused_before_launch() -> None:
    async with driven(able(capabilities=Capabilities())) as both:
        for add in (
            both.session.add_function_breakpoint,
            both.session.add_data_breakpoint,
            both.session.add_instruction_breakpoint,
        ):
            with pytest.raises(CapabilityMissing):
                await add("x")
        assert both.session.breakpoints == ()


FILTERS = Capabilities(
    supports_configuration_done_request=True,
    supports_exception_filter_options=True,
    exception_breakpoint_filters=[
        ExceptionBreakpointsFilter(filter="raised", label="Raised", supports_condition=True),
        ExceptionBreakpointsFilter(filter="uncaught", label="Uncaught", default=True),
    ],
)
ANSWERED = {"setExceptionBreakpoints": [reply(SetExceptionBreakpointsBody())]}


async def test_chosen_exceptions_replace_the_defaults_of_the_adapter() -> None:
    async with driven(able(ANSWERED, FILTERS)) as both:
        await both.session.break_on_exceptions()
        await both.session.launch({})
        only_zero = ExceptionFilterOptions(filter_id="raised", condition="ZeroDivisionError")
        await both.session.break_on_exceptions("uncaught", only_zero)
        both.timeline.expect(
            request("setExceptionBreakpoints", filters=[])
            >> request("configurationDone")
            >> request("setExceptionBreakpoints", filters=["uncaught"], filter_options=[only_zero])
        )


async def test_unknown_exception_filter_is_refused_with_the_choice() -> None:
    async with driven(able(ANSWERED, FILTERS)) as both:
        with pytest.raises(UnknownFilter, match="'thrown'; it offers raised, uncaught"):
            await both.session.break_on_exceptions("thrown")
        with pytest.raises(CapabilityMissing, match="a condition on exceptions of uncaught"):
            await both.session.break_on_exceptions(ExceptionFilterOptions(filter_id="uncaught", condition="x"))


def at(line: int) -> BreakpointSpec:
    return BreakpointSpec(SourceLocation(Path("/p/main.c"), line))


def test_copy_for_another_process_keeps_numbers_and_leaves_addresses_behind() -> None:
    ours = Breakpoints()
    line = ours.add(at(3))
    ours.add(BreakpointSpec(DataLocation("0x10/4")))
    ours.note_response(ours.request_with(line.spec), pending([3]))
    copy = ours.for_another()
    assert [(known.number, known.spec, known.answer) for known in copy] == [(line.number, line.spec, None)]
    assert copy.add(at(4)).number != ours.add(at(5)).number


def test_equal_breakpoint_is_added_once() -> None:
    ours = Breakpoints()
    assert ours.add(at(3)) == ours.add(BreakpointSpec(source_location(Source(path=MAIN.path), 3)))
    assert len(list(ours)) == 1


def test_equal_breakpoints_under_two_numbers_are_sent_once_and_answered_both() -> None:
    ours = Breakpoints()
    for number in (7, 9):
        ours.add(at(3), number=number)
    request = ours.request_with(at(3))
    assert request == SetBreakpointsArguments(source=MAIN, breakpoints=[SourceBreakpoint(line=3)])
    ours.note_response(request, pending([3]))
    assert [(known.number, known.line) for known in ours] == [(7, 3), (9, 3)]


def test_breakpoint_under_a_number_that_is_taken_replaces_the_one_there() -> None:
    ours = Breakpoints()
    ours.add(at(3), number=1)
    ours.add(at(4), number=1)
    assert [(known.number, known.line) for known in ours] == [(1, 4)]


def test_disabled_breakpoint_is_kept_but_not_sent() -> None:
    ours = Breakpoints()
    ours.add(replace(at(3), enabled=False))
    assert ours.request_with(at(3)) == SetBreakpointsArguments(source=MAIN, breakpoints=[])


def test_request_that_could_not_be_made_changes_nothing() -> None:
    ours = Breakpoints()
    known = ours.add(at(3))
    take_back = ours.note_request(SetBreakpointsArguments(source=MAIN, breakpoints=[]))
    assert list(ours) == []
    take_back()
    assert list(ours) == [known]


WIRE = [
    (SourceBreakpoint(line=3, column=2, condition="x", hit_condition="2", log_message="{x}", mode="once"), MAIN),
    (FunctionBreakpoint(name="main", condition="x", hit_condition="2"), None),
    (DataBreakpoint(data_id="0x10/4", access_type="write", condition="x", hit_condition="2"), None),
    (InstructionBreakpoint(instruction_reference="0x10", offset=4, condition="x", hit_condition="2", mode="hw"), None),
]


@pytest.mark.parametrize(("wire", "source"), WIRE)
def test_spec_says_all_that_a_breakpoint_of_the_protocol_can_say(wire: WireBreakpoint, source: Source | None) -> None:
    assert wire_form(spec_of(wire, source)) == wire


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (BreakpointSpec(FunctionLocation("main"), log_message="here"), r"\$\.log_message"),
        (BreakpointSpec(FunctionLocation("main"), mode="once"), r"\$\.mode"),
        (BreakpointSpec(SourceLocation(Path("/p/main.c"), text="return")), r"\$\.location\.line"),
    ],
)
def test_spec_that_the_protocol_cannot_say_is_refused(spec: BreakpointSpec, field: str) -> None:
    with pytest.raises(InvalidValue, match=field):
        wire_form(spec)
