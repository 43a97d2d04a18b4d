"""How stops become public, and what waits for them gets."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    Breakpoint,
    Capabilities,
    ContinueBody,
    EvaluateArguments,
    EvaluateBody,
    ExitedEvent,
    InvalidatedEvent,
    Request,
    ScopesArguments,
    SetBreakpointsBody,
    Source,
    StackFrame,
    StackTraceArguments,
    StackTraceBody,
    StoppedEvent,
    TerminatedEvent,
)
from dapkit.sessions import limits
from dapkit.sessions.errors import NoFrame, StaleReference, UnknownReference
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.session import DebugSession
from dapkit.sessions.stops import Outcome, Stop
from dapkit.testing import FakePeer, Script, Step, die, hold, refuse, release, reply, request, tell
from fake_adapters import FILE, script, stack, start, stopping, until

P = Path("/p")

ABLE_TO_CONFIGURE = Capabilities(supports_configuration_done_request=True)


def in_turn(*steps: Step) -> Step:
    """Do another thing each time; the last again and again."""
    calls = iter(range(len(steps)))

    async def step(peer: FakePeer, request: Request) -> None:
        await steps[next(calls, len(steps) - 1)](peer, request)

    return step


async def at_stop(session: DebugSession) -> Stop:
    stop = (await session.execution.wait()).stop
    assert stop is not None
    return stop


async def test_stop_is_public_once_it_was_looked_at(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"stackTrace": [hold("look"), stack(7)]})))
    assert (session.state.status, session.state.stop) == ("running", None)
    adapter = session.start.route.adapters[0]  # type: ignore[attr-defined]  # the scripted route
    adapter.release("look")
    stop = await at_stop(session)
    assert (stop.number, stop.reason, stop.line, stop.path, stop.thread_name) == (1, "entry", 7, str(FILE), "main")


async def test_stop_that_cannot_be_looked_at_is_one_all_the_same(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"stackTrace": [refuse("no stack of thread Dummy")]})))
    stop = await at_stop(session)
    assert (stop.reason, stop.frame_id, stop.line) == ("entry", None, None)
    with pytest.raises(NoFrame, match="No active stack frame"):
        await session.requests.frame()


async def test_frame_that_was_not_told_in_time_is_asked_for_when_it_is_needed(sessions: SessionRegistry) -> None:
    session = await sessions.open(
        P, start(script({"stackTrace": [in_turn(refuse("busy"), stack(7))], "evaluate": [value("1")]}))
    )
    stop = await at_stop(session)
    assert stop.frame_id is None
    asked = EvaluateArguments(expression="1", frame_id=await session.requests.frame())
    assert (await session.requests.ask(asked)).result == "1"


async def test_numbers_of_frames_are_the_sessions_own_and_go_stale(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [reply(), stopping("step")], "evaluate": [value("1")]})))
    first = await at_stop(session)
    again = (await session.requests.ask(StackTraceArguments(thread_id=1))).stack_frames[0]
    assert again.id == first.frame_id
    second = (await session.execution.resume()).stop
    assert second is not None
    assert second.frame_id != first.frame_id
    with pytest.raises(StaleReference, match="reference from stop 1, now at stop 2"):
        await session.requests.ask(ScopesArguments(frame_id=again.id))
    with pytest.raises(UnknownReference, match="There is no frame 1000"):
        await session.requests.ask(ScopesArguments(frame_id=1000))


async def test_reference_is_stale_while_the_program_runs(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [reply()]})))
    first = await at_stop(session)
    assert first.frame_id is not None
    assert (await session.execution.resume(deadline=0.01)).state == "running"
    with pytest.raises(StaleReference, match="from stop 1, and the program has moved on since"):
        await session.requests.ask(ScopesArguments(frame_id=first.frame_id))


async def test_refused_resumption_leaves_stop_and_references_as_they_were(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [refuse("not now")], "evaluate": [value("1")]})))
    stop = await at_stop(session)
    with pytest.raises(RequestFailed, match="not now"):
        await session.execution.resume()
    assert session.state.stop == stop
    asked = EvaluateArguments(expression="x", frame_id=stop.frame_id)
    assert (await session.requests.ask(asked)).result == "1"


async def test_adapter_that_never_answers_leaves_a_running_program(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": []})))
    await at_stop(session)
    assert await session.execution.resume(deadline=0.01) == Outcome("running", timed_out=True)


async def test_stop_that_comes_before_the_answer_counts(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"next": [stopping("step"), reply()]})))
    await at_stop(session)
    stop = (await session.execution.resume("next")).stop
    assert stop is not None
    assert (stop.number, stop.reason) == (2, "step")


async def test_death_of_the_adapter_is_told_as_the_failure(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [reply(), die()]})))
    await at_stop(session)
    outcome = await session.execution.resume()
    assert outcome.state == "terminated"
    assert outcome.failure is not None
    assert outcome.failure.startswith("the debug adapter is gone")
    assert session.state.ending == outcome.failure


async def test_end_of_the_program_ends_the_session(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [reply(), tell(TerminatedEvent())]})))
    await at_stop(session)
    assert await session.execution.resume() == Outcome("terminated")
    assert (session.state.status, sessions.live) == ("terminated", ())


async def test_exit_of_the_program_ends_the_session_of_an_adapter_that_says_no_more(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [reply(), tell(ExitedEvent(exit_code=3))]})))
    await at_stop(session)
    assert await session.execution.resume() == Outcome("terminated", exit_code=3)


async def test_stop_of_another_thread_is_told_and_comes_next(sessions: SessionRegistry) -> None:
    alone = [StoppedEvent(reason="breakpoint", thread_id=thread, all_threads_stopped=False) for thread in (1, 2)]
    steps = {
        "configurationDone": [reply(), release("configured"), tell(*alone)],
        "continue": [reply(ContinueBody(all_threads_continued=False))],
    }
    able_to = Capabilities(supports_configuration_done_request=True, supports_single_thread_execution_requests=True)
    session = await sessions.open(P, start(script(steps, able_to)))
    first = await at_stop(session)
    assert first.thread_id == 1
    await until(lambda: session.state.stop is not None and bool(session.state.stop.remarks))
    assert session.state.stop is not None
    assert session.state.stop.remarks == (
        "thread 2 has stopped by itself, too (breakpoint); it comes next when this one goes on",
    )
    second = (await session.execution.resume()).stop
    assert second is not None
    assert (second.number, second.thread_id, second.remarks) == (2, 2, ())
    adapter = session.start.route.adapters[0]  # type: ignore[attr-defined]  # the scripted route
    adapter.timeline.expect(request("continue", single_thread=True))


async def test_place_that_is_said_to_be_another_is_looked_at_again(sessions: SessionRegistry) -> None:
    session = await sessions.open(
        P,
        start(
            script(
                {
                    "stackTrace": [in_turn(stack(1), stack(9))],
                    "evaluate": [value("1"), tell(InvalidatedEvent(areas=["stacks"]))],
                }
            )
        ),
    )
    first = await at_stop(session)
    await session.requests.ask(EvaluateArguments(expression="jump()", frame_id=first.frame_id))
    await until(lambda: session.state.stop is not None and session.state.stop.line == 9)
    assert session.state.stop is not None
    assert session.state.stop.number == 1


@pytest.mark.parametrize(
    ("signals", "frame", "reason"),
    [(("SIGSTOP",), "_start", "entry"), (("SIGSTOP",), "main", "exception"), ((), "_start", "exception")],
)
async def test_exception_in_the_loader_is_the_entry_with_an_adapter_that_holds_programs_by_a_signal(
    sessions: SessionRegistry, signals: tuple[str, ...], frame: str, reason: str
) -> None:
    top = StackFrame(id=1000, name=frame, line=1, column=1, source=Source(name=frame))
    steps: Script = {
        "configurationDone": [reply(), release("configured"), stopping("exception")],
        "stackTrace": [reply(StackTraceBody(stack_frames=[top], total_frames=1))],
    }
    session = await sessions.open(P, start(script(steps), traits=Traits(pause_signals=signals)))
    assert (await at_stop(session)).reason == reason


async def test_entry_keeps_the_description_that_the_adapter_gives_it(sessions: SessionRegistry) -> None:
    entry = StoppedEvent(reason="entry", description="Start of recorded history", thread_id=1)
    steps: Script = {"configurationDone": [reply(), release("configured"), tell(entry)]}
    stop = await at_stop(await sessions.open(P, start(script(steps))))
    assert (stop.reason, stop.description) == ("entry", "Start of recorded history")


@pytest.mark.parametrize(("signals", "reason"), [(("SIGSTOP",), "pause"), ((), "exception")])
async def test_pause_that_looks_like_a_signal_is_a_pause_with_an_adapter_of_this_trait(
    sessions: SessionRegistry, signals: tuple[str, ...], reason: str
) -> None:
    signalled = tell(StoppedEvent(reason="exception", description="signal SIGSTOP", thread_id=1))
    steps = script({"continue": [reply()], "pause": [reply(), signalled]})
    session = await sessions.open(P, start(steps, traits=Traits(pause_signals=signals)))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    stop = (await session.execution.pause()).stop
    assert stop is not None
    assert stop.reason == reason


async def test_pause_is_asked_for_again_where_the_adapter_has_not_noticed_that_the_program_runs(
    sessions: SessionRegistry,
) -> None:
    async def pause(peer: FakePeer, request: Request) -> None:
        await reply()(peer, request)
        await stopping("pause")(peer, request)

    steps = {"continue": [reply()], "pause": [in_turn(refuse("Process is not running."), pause)]}
    session = await sessions.open(P, start(script(steps)))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    stop = (await session.execution.pause()).stop
    assert stop is not None
    assert stop.reason == "pause"


async def test_pause_that_is_lost_is_asked_for_once_more(
    sessions: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PAUSE_LOST_SECONDS", 0.2)

    async def pause(peer: FakePeer, request: Request) -> None:
        await reply()(peer, request)
        await stopping("pause")(peer, request)

    steps = {"continue": [reply()], "pause": [in_turn(reply(), pause)]}
    session = await sessions.open(P, start(script(steps)))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    stop = (await session.execution.pause()).stop
    assert stop is not None
    assert stop.reason == "pause"


async def test_pause_is_not_asked_for_again_where_the_program_has_stopped_meanwhile(
    sessions: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PAUSE_TICK_SECONDS", 1.0)
    asked: list[Request] = []

    async def stop_all_the_same(peer: FakePeer, request: Request) -> None:
        asked.append(request)
        await refuse("Process is not running.")(peer, request)
        await anyio.sleep(0.01)  # so that the refusal is seen first; the next time is far off
        await stopping("breakpoint")(peer, request)

    session = await sessions.open(P, start(script({"continue": [reply()], "pause": [stop_all_the_same]})))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    stop = (await session.execution.pause()).stop
    assert stop is not None
    assert stop.reason == "breakpoint"
    assert len(asked) == 1


async def test_pause_that_is_refused_for_good_is_told(
    sessions: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PAUSE_AGAIN_SECONDS", 0.1)
    session = await sessions.open(P, start(script({"continue": [reply()], "pause": [refuse("not here")]})))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    with pytest.raises(RequestFailed, match="not here"):
        await session.execution.pause()
    assert session.state.status == "running"


def value(text: str) -> Step:
    return reply(EvaluateBody(result=text, variables_reference=0))


# Conditions, counts and log messages for an adapter that has none

type Opened = Callable[[BreakpointSpec, list[str]], Awaitable[DebugSession]]


def emulating(sessions: SessionRegistry, spec: BreakpointSpec, *values: str) -> Awaitable[DebugSession]:
    """Open a session whose breakpoint at line 5 is met with each `continue`, where expressions have these values."""
    steps = {
        "stackTrace": [in_turn(stack(1), stack(5))],
        "continue": [reply(), stopping()],
        "evaluate": [in_turn(*(value(text) for text in values))],
    }
    return sessions.open(P, start(script(steps, ABLE_TO_CONFIGURE), breakpoints=[spec]))


async def test_condition_is_checked_for_an_adapter_without(sessions: SessionRegistry) -> None:
    spec = BreakpointSpec(SourceLocation(FILE, 5), condition="x > 1")
    session = await emulating(sessions, spec, "false", "false", "true")
    await at_stop(session)
    stop = (await session.execution.resume()).stop
    assert stop is not None
    assert (stop.number, stop.line, stop.hit_breakpoints) == (2, 5, (1,))
    [placed] = session.breakpoints
    assert placed.hits == 1
    assert "dapkit does the condition itself" in placed.remarks[-1]


async def test_breakpoint_that_has_stopped_is_set_though_its_adapter_never_says_so(sessions: SessionRegistry) -> None:
    unsaid = SetBreakpointsBody(breakpoints=[Breakpoint(verified=False)])
    steps = {
        "stackTrace": [in_turn(stack(1), stack(5))],
        "continue": [reply(), stopping()],
        "setBreakpoints": [reply(unsaid)],
    }
    spec = BreakpointSpec(SourceLocation(FILE, 5))
    session = await sessions.open(P, start(script(steps, ABLE_TO_CONFIGURE), breakpoints=[spec]))
    await at_stop(session)
    assert not session.breakpoints.get(1).verified
    await session.execution.resume()
    assert (session.breakpoints.get(1).hits, session.breakpoints.get(1).verified) == (1, True)
    assert session.breakpoints.get(1).remarks == ()


async def test_step_that_ends_at_a_breakpoint_whose_condition_is_false_stays_there_and_says_so(
    sessions: SessionRegistry,
) -> None:
    steps = {
        "stackTrace": [in_turn(stack(1), stack(5))],
        "next": [reply(), stopping()],
        "evaluate": [value("false")],
    }
    spec = BreakpointSpec(SourceLocation(FILE, 5), condition="x > 1", log_message="x")
    session = await sessions.open(P, start(script(steps, ABLE_TO_CONFIGURE), breakpoints=[spec]))
    await at_stop(session)
    stop = (await session.execution.resume("next")).stop
    assert stop is not None
    assert (stop.line, stop.remarks) == (5, ("a step ended at a breakpoint that does not stop",))
    assert (session.breakpoints.get(1).hits, session.output.read("console").text) == (0, "")


async def test_step_that_ends_at_a_breakpoint_that_logs_logs_and_stays(sessions: SessionRegistry) -> None:
    steps = {
        "stackTrace": [in_turn(stack(1), stack(5))],
        "next": [reply(), stopping()],
        "evaluate": [value("41")],
    }
    spec = BreakpointSpec(SourceLocation(FILE, 5), log_message="x is {x}")
    session = await sessions.open(P, start(script(steps, ABLE_TO_CONFIGURE), breakpoints=[spec]))
    await at_stop(session)
    stop = (await session.execution.resume("next")).stop
    assert stop is not None
    assert (stop.line, session.breakpoints.get(1).hits) == (5, 1)
    assert session.output.read("console").text == "x is 41\n"


async def test_hits_are_counted_for_an_adapter_that_does_not(sessions: SessionRegistry) -> None:
    session = await emulating(sessions, BreakpointSpec(SourceLocation(FILE, 5), hit_condition="% 3"), "unused")
    await at_stop(session)
    assert (await session.execution.resume()).stop is not None
    assert session.breakpoints.get(1).hits == 3
    assert session.state.stops == 2


async def test_message_is_logged_for_an_adapter_that_does_not(sessions: SessionRegistry) -> None:
    spec = BreakpointSpec(SourceLocation(FILE, 5), condition="x", log_message="x is {x}")
    session = await emulating(sessions, spec, "1", "41", "1", "42", "failed", "broken")
    await at_stop(session)
    await session.execution.resume(deadline=0.05)
    written = await session.wait_for_output("x is 42\n", "console", deadline=30)  # the program runs and stops meanwhile
    assert written.text.startswith("x is 41\nx is 42\n")
    await session.terminate()


async def test_pause_is_not_lost_among_stops_that_are_none(sessions: SessionRegistry) -> None:
    steps = {
        "stackTrace": [in_turn(stack(1), stack(5))],
        "continue": [reply(), stopping()],
        "evaluate": [value("false")],
        "pause": [refuse("it is stopped already")],
    }
    spec = BreakpointSpec(SourceLocation(FILE, 5), condition="x")
    session = await sessions.open(P, start(script(steps, ABLE_TO_CONFIGURE), breakpoints=[spec]))
    await at_stop(session)
    await session.execution.resume(deadline=0.01)
    outcome = await session.execution.pause()
    assert outcome.state == "stopped"
