"""What is wanted stays wanted: order, wholeness, answers, gates."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from dapkit.client import Breakpoints, Session, SessionBreakpoint, UnknownBreakpoint, UnknownFilter
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    Capabilities,
    ExceptionBreakpointsFilter,
    ExceptionFilterOptions,
    FunctionBreakpoint,
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
from driving import able, driven

MAIN = Source(path="/p/main.c", name="main.c")


def pending(lines: list[int]) -> SetBreakpointsBody:
    return SetBreakpointsBody(breakpoints=[Breakpoint(id=line, verified=False, reason="pending") for line in lines])


def lines(breakpoints: tuple[SessionBreakpoint, ...]) -> list[int | None]:
    return [one.line for one in breakpoints]


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
        assert all(one.verified for one in both.session.breakpoints)


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
        assert [one.answer is None for one in both.session.breakpoints] == [False, True]


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


def test_copy_for_another_process_keeps_numbers_and_leaves_addresses_behind() -> None:
    ours = Breakpoints()
    line = ours.add(SourceBreakpoint(line=3), MAIN)
    ours.answered(ours.request_with(line), pending([3]))
    copy = ours.for_another()
    assert [(one.number, one.wanted, one.answer) for one in copy] == [(line.number, line.wanted, None)]
    assert copy.add(SourceBreakpoint(line=4), MAIN).number != ours.add(SourceBreakpoint(line=5), MAIN).number


def test_equal_breakpoint_is_wanted_once() -> None:
    wishes = Breakpoints()
    assert wishes.add(SourceBreakpoint(line=3), MAIN) == wishes.add(SourceBreakpoint(line=3), Source(path=MAIN.path))
    assert len(list(wishes)) == 1


def test_request_that_could_not_be_made_changes_nothing() -> None:
    wishes = Breakpoints()
    known = wishes.add(SourceBreakpoint(line=3), MAIN)
    take_back = wishes.asked(SetBreakpointsArguments(source=MAIN, breakpoints=[]))
    assert list(wishes) == []
    take_back()
    assert list(wishes) == [known]
