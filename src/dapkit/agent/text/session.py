"""Text of sessions: their start, the result of running, and their end; and of diagnostics about them."""

import json
from collections.abc import Iterator

from dapkit.agent.results.diagnostics import HeapResult, LiveSessions, RecordResult, WireRecords
from dapkit.agent.results.session import (
    ChangedVariable,
    CustomBody,
    OutputResult,
    Paused,
    Resumed,
    SessionsResult,
    Started,
    StopDiff,
    StopReport,
    Terminated,
    Typed,
)
from dapkit.agent.results.snapshot import Child, Snapshot
from dapkit.agent.text.breakpoints import function_breakpoint, source_breakpoint
from dapkit.agent.text.escaping import fenced, one_line, printable, render
from dapkit.agent.text.stops import passed_steps, short_report, stop_report
from dapkit.agent.text.values import output_since, shown_value


def session_line(snapshot: Snapshot) -> str:
    """Name a session, its adapter, its program and its folder."""
    program = "" if snapshot.program is None else f" {one_line(snapshot.program)}"
    return f"Session {snapshot.id} ({snapshot.adapter}):{program} in {one_line(snapshot.cwd)}"


def _state(snapshot: Snapshot) -> Iterator[str]:
    """Yield the state of a session whose stop is not reported."""
    if snapshot.needs_configuration_done:
        yield "Configuration: pending configurationDone; set breakpoints, then continue."
    elif snapshot.status == "terminated":
        yield _ended(snapshot)
    elif snapshot.status == "stopped":
        yield _stands(snapshot)
    else:
        yield f"Program is {snapshot.status}."


def _stop(stop: StopReport, snapshot: Snapshot) -> Iterator[str]:
    """Yield the report of a stop; its place is the session's where its frames are not known."""
    if not stop.frames:
        yield location(snapshot) or snapshot.instruction_pointer_reference or "unknown location"
    yield from stop_report(stop)


def _ended(snapshot: Snapshot) -> str:
    code = "" if snapshot.exit_code is None else f" with exit code {exit_code(snapshot)}"
    return f"Program terminated{code}."


def _stands(snapshot: Snapshot) -> str:
    """Return where a program is stopped, and why."""
    function = "" if snapshot.frame_name is None else f" in {one_line(snapshot.frame_name)}"
    reason = "" if snapshot.stop_reason is None else f": {one_line(snapshot.stop_reason)}"
    return f"{location(snapshot) or snapshot.instruction_pointer_reference or 'unknown location'}{function}{reason}"


def exit_code(snapshot: Snapshot) -> str:
    """Return the program's exit code as text, and the signal that killed it."""
    return f"{snapshot.exit_code}" + (f" ({snapshot.exit_signal})" if snapshot.exit_signal else "")


def location(snapshot: Snapshot) -> str | None:
    """Return where the current frame is, as far as that is known."""
    source = snapshot.source
    if source is None or snapshot.line is None:
        return None
    name = source.path or source.name
    if name is None:
        return None
    column = f":{snapshot.column}" if (snapshot.column or 0) > 1 else ""
    return f"{one_line(name)}:{snapshot.line}{column}"


@render.register
def _(result: Started) -> str:
    lines = [*(_state(result.snapshot) if result.stop is None else _stop(result.stop, result.snapshot))]
    lines += output_since(result.output, 0)
    lines += (f"Note: {one_line(note)}" for note in result.notes)
    if result.breakpoints or result.function_breakpoints:
        lines.append("Breakpoints:")
        lines += (f"- {one_line(placed.path)} {source_breakpoint(placed)}" for placed in result.breakpoints)
        lines += (f"- {function_breakpoint(placed)}" for placed in result.function_breakpoints)
    return "\n".join([*lines, session_line(result.snapshot)])


@render.register
def _(result: Resumed) -> str:
    lines: list[str] = []
    match result.state:
        case "stopped" if result.steps and result.stop is not None:
            lines += [*passed_steps(result.steps), *short_report(result.stop)]
        case "stopped":
            lines += [_stands(result.snapshot)] if result.stop is None else _stop(result.stop, result.snapshot)
        case "terminated":
            lines += [*passed_steps(result.steps or ()), _ended(result.snapshot)]
        case "running" if result.timed_out:
            lines.append(
                f"Program is still running after {result.waited:g}s. Use pause to interrupt and inspect state."
            )
        case "running":
            lines.append("Program is running.")
    if result.interrupted_thread_id is not None:
        lines.append(
            f"Note: {result.verb} was interrupted: before thread {result.interrupted_thread_id} had done it,"
            f" thread {result.snapshot.thread_id} stopped here."
        )
    if result.failure is not None:
        lines.append(f"Note: {one_line(result.failure)}")
    lines += output_since(result.output, result.output_since)
    return "\n".join(lines)


@render.register
def _(result: Paused) -> str:
    return "\n".join(_stop(result.stop, result.snapshot))


@render.register
def _(result: Terminated) -> str:
    if result.snapshot is None:
        return "No debug session to terminate."
    if result.already:
        code = "" if result.snapshot.exit_code is None else f" with exit code {result.snapshot.exit_code}"
        ended = f"Debug session {result.snapshot.id} had ended already{code}."
        return "\n".join([ended, *output_since(result.output, result.output_since)])
    ending = f"Debug session {result.snapshot.id} {result.ending}." + (
        " The program runs on." if result.released else ""
    )
    return "\n".join([ending, *output_since(result.output, result.output_since)])


@render.register
def _(result: SessionsResult) -> str:
    sessions = "\n\n".join("\n".join(_listed(session)) for session in result.sessions) or "No debug sessions."
    ended = [f"({result.ended_runs} ended {'runs are' if result.ended_runs > 1 else 'run is'} not listed)"]
    near = [f"Elsewhere: {one_line(each)}" for each in result.near or ()]
    return "\n".join([sessions, *(ended if result.ended_runs else []), *near])


def _listed(snapshot: Snapshot) -> Iterator[str]:
    yield f"{snapshot.id}: {snapshot.status}"
    yield f"  adapter={snapshot.adapter}"
    yield f"  cwd={one_line(snapshot.cwd)}"
    if snapshot.program is not None:
        yield f"  program={one_line(snapshot.program)}"
    if (place := location(snapshot)) is not None:
        yield f"  location={place}"
    if snapshot.stop_reason is not None:
        yield f"  reason={one_line(snapshot.stop_reason)}"
    if snapshot.exit_code is not None:
        yield f"  exit={exit_code(snapshot)}"
    yield from (f"  child={_child(child)}" for child in snapshot.children or ())


def _child(child: Child) -> str:
    """Describe the state of a child of the program."""
    name = " ".join([*([] if child.pid is None else [f"pid {child.pid}"]), *([child.name] if child.name else [])])
    path = None if child.source is None or child.status != "stopped" else child.source.path or child.source.name
    place = "" if path is None else f" at {path}:{child.line}"
    return one_line(f"{child.number} {child.status}{place}" + (f" ({name})" if name else ""))


@render.register
def _(result: StopDiff) -> str:
    lines = [f"{one_line(result.first)} -> {one_line(result.second)}"]
    if result.other_function:
        lines.append("Note: they are in different functions: variables of the same name are compared.")
    lines += [_change(change) for change in result.changes] or ["No variable differs."]
    if result.same and result.changes:
        lines.append(f"({result.same} the same)")
    return "\n".join([*lines, *output_since(result.output, result.output_since)])


def _change(change: ChangedVariable) -> str:
    name = one_line(change.name)
    if change.before is None:
        return f"- {name} = {'' if change.after is None else shown_value(change.after)} [new]"
    if change.after is None:
        return f"- {name} is gone [was {shown_value(change.before)}]"
    return f"- {name}: {shown_value(change.before)} -> {shown_value(change.after)}"


@render.register
def _(result: Typed) -> str:
    typed = f"Typed {result.characters} characters." if result.characters else ""
    return " ".join(part for part in (typed, "Ended the input." if result.ended else "") if part)


@render.register
def _(result: OutputResult) -> str:
    if not result.output:
        return "(no output captured)"
    notice = f"({result.lost} earlier characters were dropped)\n" if result.lost else ""
    cut = f"({result.omitted} earlier characters left out)\n" if result.omitted else ""
    return notice + cut + "\n".join(fenced(result.output))


@render.register
def _(result: CustomBody) -> str:
    if result.length is not None:
        return f"{one_line(result.command)} response (cut, {result.length} bytes):\n" + "\n".join(
            fenced(str(result.custom_body))
        )
    body = json.dumps(result.custom_body, indent=2, ensure_ascii=False)
    return f"{one_line(result.command)} response:\n{printable(body)}"


@render.register
def _(result: WireRecords) -> str:
    return f"{len(result.records)} of {result.total} messages of {result.session}"


@render.register
def _(result: RecordResult) -> str:
    return f"{len(result.entries)} actions in {result.snapshot.id}"


@render.register
def _(result: LiveSessions) -> str:
    return f"{len(result.sessions)} live sessions"


@render.register
def _(result: HeapResult) -> str:
    return f"{result.heap.objects} objects, {result.heap.size} bytes"
