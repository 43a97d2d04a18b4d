"""Letting the program run, and stopping it."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.breakpoint_forms.source_files import file_of_stop, found
from dapkit.agent.breakpoint_forms.specs import source_location
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments, Unsupported
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.pages import lines_of
from dapkit.agent.reading.report import last_output, passed_step, stop_report
from dapkit.agent.reading.selection import thread_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.session import PassedStep, Paused, Resumed, Typed
from dapkit.agent.text.escaping import one_line
from dapkit.client import SourceLocation
from dapkit.protocol import Source, StepInTarget, StepInTargetsArguments
from dapkit.protocol.time_travel import StepBackIntoArguments, TravelToArguments
from dapkit.sessions.breakpoints import anchors
from dapkit.sessions.errors import Misplaced, SessionOver
from dapkit.sessions.stops import How, Outcome
from dapkit.system.platform_support import needs_linux


@action(Approval.EXECUTE)
async def continue_(
    call: ActionCall, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> Resumed:
    """Let the program run until it stops, ends, or the timeout comes."""
    chosen_thread = await thread_of(call, thread_id, thread)
    return await _resume(call, "Continue", "continue", thread=chosen_thread)


@action(Approval.EXECUTE)
async def step_over(
    call: ActionCall,
    *,
    thread_id: p.ThreadId | None = None,
    count: p.Count | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
) -> Resumed:
    """Run to the next line of this function, or of its caller."""
    chosen_thread = await thread_of(call, thread_id, thread)
    return await _resume(call, "Step over", "next", count=count, thread=chosen_thread, granularity=granularity)


@action(Approval.EXECUTE, example={"target": "parse"})
async def step_in(
    call: ActionCall,
    *,
    thread_id: p.ThreadId | None = None,
    count: p.Count | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
    target: p.StepTarget | None = None,
) -> Resumed:
    """Run into the function that the line calls, or to the next line."""
    chosen_thread = await thread_of(call, thread_id, thread)
    into = None if target is None else await _target(call, target, chosen_thread)
    return await _resume(
        call, "Step in", "step_in", count=count, thread=chosen_thread, granularity=granularity, target=into
    )


@action(Approval.EXECUTE)
async def step_out(
    call: ActionCall,
    *,
    thread_id: p.ThreadId | None = None,
    count: p.Count | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
) -> Resumed:
    """Run until this function returns."""
    chosen_thread = await thread_of(call, thread_id, thread)
    return await _resume(call, "Step out", "step_out", count=count, thread=chosen_thread, granularity=granularity)


@action(Approval.EXECUTE)
async def step_back(
    call: ActionCall,
    *,
    thread_id: p.ThreadId | None = None,
    count: p.Count | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
    into: p.Into = False,
) -> Resumed:
    """Go back to the line before, where the adapter can."""
    _require_step_back(call, "stepping back")
    if into:
        if count is not None:
            raise InvalidArguments("step_back: into excludes count")
        need_history(call)
        return await travelled(call, "Step back into", StepBackIntoArguments())
    chosen_thread = await thread_of(call, thread_id, thread)
    return await _resume(call, "Step back", "step_back", count=count, thread=chosen_thread, granularity=granularity)


@action(Approval.EXECUTE)
async def reverse_continue(
    call: ActionCall, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> Resumed:
    """Run backwards until something stops it, where the adapter can."""
    _require_step_back(call, "running backwards")
    chosen_thread = await thread_of(call, thread_id, thread)
    return await _resume(call, "Reverse continue", "reverse_continue", thread=chosen_thread)


@action(Approval.EXECUTE, example={"file": "app.py", "line": 30})
async def run_to(
    call: ActionCall,
    *,
    file: p.File | None = None,
    line: p.Line | None = None,
    text: p.LineText | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Resumed:
    """Let the program run until it comes to a line, or something else stops it."""
    location = await found(call, _line_to_reach(call, file, line, text, action="run_to"))
    chosen_thread = await thread_of(call, thread_id, thread)
    began = anyio.current_time()
    return await _resumed(
        call, "Run", await call.session.execution.run_to(location, thread=chosen_thread, deadline=call.left), began
    )


@action(Approval.EXECUTE, example={"file": "app.py", "line": 10})
async def goto(
    call: ActionCall,
    *,
    file: p.File | None = None,
    line: p.Line | None = None,
    text: p.LineText | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Resumed:
    """Make a line the next one to run, without running the lines in between."""
    call.require("supports_goto_targets_request", "going to another line")
    location = await found(call, _line_to_reach(call, file, line, text, action="goto"))
    number = await _line_of(location)
    chosen_thread = await thread_of(call, thread_id, thread)
    began = anyio.current_time()
    outcome = await call.session.execution.goto(
        Source(path=str(location.file)), number, thread=chosen_thread, deadline=call.left
    )
    return await _resumed(call, "Goto", outcome, began)


@action(Approval.EXECUTE)
async def pause(
    call: ActionCall, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> Paused:
    """Interrupt the program and show where it is."""
    session = call.session
    outcome = await session.execution.pause(thread=await thread_of(call, thread_id, thread), deadline=call.left)
    if outcome.state == "terminated":
        raise SessionOver(session.name, session.state.ending)
    if outcome.stop is None:
        raise ActionFailed(
            "timeout",
            f"DAP event stopped timed out after {round(call.timeout * 1000)}ms",
            hint="The program does not stop. With some adapters threads and stack_trace work while it runs.",
        )
    report = await stop_report(call, outcome.stop)
    return Paused(snapshot=snapshot(session), stop=report)


@action(Approval.READ, example={"timeout": 60})
async def wait(call: ActionCall) -> Resumed:
    """Wait until the program stops, ends, or the timeout comes."""
    began = anyio.current_time()
    return await _resumed(call, "Wait", await call.session.execution.wait(deadline=call.left), began)


@action(Approval.EXECUTE, example={"input": "yes\n"})
async def stdin(
    call: ActionCall,
    *,
    input: p.Input | None = None,  # noqa: A002 - the type
    end: p.EndOfInput = False,
) -> Typed:
    """Type into the program's standard input, if it was launched in a terminal."""
    if not input and not end:
        raise InvalidArguments("stdin requires input or end")
    await call.session.write_input(input or "", end=end)
    return Typed(snapshot=snapshot(call.session), characters=len(input or ""), ended=end)


async def _resume(
    call: ActionCall,
    verb: str,
    how: How,
    *,
    thread: int | None,
    granularity: p.Granularity | None = None,
    target: int | None = None,
    count: int | None = None,
) -> Resumed:
    """Let the program go, unless it is over, and report the outcome; of several steps, report each."""
    session = call.session
    if session.state.over:
        raise SessionOver(session.name, session.state.ending)
    if count is not None and not 1 <= count <= limits.STEPS_MOST:
        raise InvalidArguments(f"count must be from 1 to {limits.STEPS_MOST}, not {count}")
    began = anyio.current_time()
    call.progress("the program is running")
    steps: list[PassedStep] = []
    while count is not None and len(steps) < count - 1 and session.state.stop is not None:
        stop = session.state.stop
        report = await stop_report(call, stop)
        outcome = await session.execution.resume(
            how, thread=thread, granularity=granularity, step_in_target=target, deadline=call.left
        )
        following = None if outcome.stop is None else await stop_report(call, outcome.stop)
        steps.append(passed_step(report, following))
        target = None
        if outcome.stop is None or outcome.stop.reason != "step" or call.left <= 0:
            stepped = stop.thread_id if thread is None else thread
            interrupted = None if _is_of(outcome, stepped) else stepped
            return await _resumed(call, verb, outcome, began, interrupted=interrupted, steps=steps)
    before = session.state.stop
    last = None if not steps or before is None else await stop_report(call, before)
    stepped = before.thread_id if thread is None and before is not None else thread
    outcome = await session.execution.resume(
        how, thread=thread, granularity=granularity, step_in_target=target, deadline=call.left
    )
    if how in ("continue", "reverse_continue") or before is None or _is_of(outcome, stepped):
        stepped = None
    if last is not None:
        steps.append(passed_step(last, None if outcome.stop is None else await stop_report(call, outcome.stop)))
    return await _resumed(call, verb, outcome, began, interrupted=stepped, steps=steps)


def _is_of(outcome: Outcome, thread: int | None) -> bool:
    """Whether a step ended in the thread that was stepped, or cannot have ended in another."""
    return outcome.stop is None or outcome.stop.thread_id in (None, thread)


async def travelled(call: ActionCall, verb: str, where: TravelToArguments | StepBackIntoArguments) -> Resumed:
    """Go to another moment of the recorded history, and report it."""
    began = anyio.current_time()
    return await _resumed(call, verb, await call.session.execution.travel(where, deadline=call.left), began)


def need_history(call: ActionCall) -> None:
    """Refuse a request for recorded history if the adapter keeps no history or was not asked to."""
    if not call.session.traits.recorded_history:
        raise Unsupported("a recorded history", "dapkit/timeline")
    _require_step_back(call, "a recorded history")


def _require_step_back(call: ActionCall, what: str) -> None:
    """Raise `Unsupported` if the adapter cannot step back; if it could have, the hint says how to start the program."""
    try:
        call.require("supports_step_back", what)
    except Unsupported as error:
        if call.session.traits.recorded_history:
            error.hint = (
                needs_linux("time travel")
                or "Start the program with time_travel; in a shell: dapkit launch --time-travel PROGRAM."
            )
        raise


async def _resumed(
    call: ActionCall,
    verb: str,
    outcome: Outcome,
    began: float,
    *,
    interrupted: int | None = None,
    steps: Sequence[PassedStep] = (),
) -> Resumed:
    session = call.session
    waited = anyio.current_time() - began
    report = None if outcome.stop is None else await stop_report(call, outcome.stop)
    output, since = ("", 0) if report is not None else call.take_output()
    return Resumed(
        snapshot=snapshot(session),
        verb=verb,
        state=outcome.state,
        timed_out=outcome.timed_out,
        waited=call.timeout if outcome.timed_out else round(waited, 3),
        stop=report,
        output=last_output(output),
        output_since=since,
        failure=outcome.failure,
        interrupted_thread_id=interrupted,
        steps=[*steps] or None,
    )


def _line_to_reach(
    call: ActionCall, file: Path | None, line: int | None, text: str | None, *, action: str
) -> SourceLocation:
    """Return a line of a file, or of the one in which the program is stopped. Raises: InvalidArguments."""
    file = file_of_stop(call) if file is None else file
    if file is None:
        raise InvalidArguments(f"file is required for {action}: the program is stopped in none")
    return source_location(file, line, text, action=action)


async def _target(call: ActionCall, name: str, thread: int | None) -> int:
    """Find the call to step into by a part of its name.

    Raises:
        InvalidArguments: no such target exists, or several do.

    """
    call.require("supports_step_in_targets_request", "choosing the call to step into")
    frame = await call.session.requests.frame(thread=thread)
    targets = (await call.requests.ask(StepInTargetsArguments(frame_id=frame))).targets
    exact = [target for target in targets if _called(target) == name]
    matches = exact or [target for target in targets if name in target.label]
    if len(matches) == 1:
        return matches[0].id
    labels = ", ".join(one_line(target.label) for target in targets) or "none"
    raise InvalidArguments(
        f"target: {'several calls' if matches else 'no call'} of this line match {name!r}", hint=f"It has {labels}."
    )


def _called(target: StepInTarget) -> str:
    return target.label.partition("(")[0].strip()


async def _line_of(location: SourceLocation) -> int:
    if location.text is None:
        return location.line or 1
    lines = await anyio.to_thread.run_sync(lines_of, location.file)
    if lines is None:
        raise Misplaced(f"{location.file} cannot be read, so no line of it can be found by its text.")
    return anchors.find_text(location.text, lines, near=location.line, name=str(location.file)).line
