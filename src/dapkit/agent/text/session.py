"""Text of sessions: the block of a snapshot, the result of running, and the stop report."""

import json
from collections.abc import Iterator

from dapkit.agent.results.session import (
    CustomBody,
    OutputResult,
    Paused,
    Resumed,
    SessionsResult,
    Started,
    StopReport,
    Terminated,
    Typed,
)
from dapkit.agent.results.snapshot import Child, Snapshot
from dapkit.agent.text.breakpoints import function_breakpoint, source_breakpoint
from dapkit.agent.text.escaping import fenced, one_line, printable, render
from dapkit.agent.text.values import exception, frame_location, output_since, variable


def snapshot_block(snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines about a session."""
    yield f"Session {snapshot.id}"
    yield f"Adapter: {snapshot.adapter}"
    yield f"Status: {snapshot.status}"
    yield f"CWD: {one_line(snapshot.cwd)}"
    if snapshot.program is not None:
        yield f"Program: {one_line(snapshot.program)}"
    if snapshot.stop_reason is not None:
        yield f"Stop reason: {one_line(snapshot.stop_reason)}"
    if snapshot.frame_name is not None:
        yield f"Frame: {one_line(snapshot.frame_name)}"
    if (place := location(snapshot)) is not None:
        yield f"Location: {place}"
    elif snapshot.instruction_pointer_reference is not None:
        yield f"Instruction pointer: {snapshot.instruction_pointer_reference}"
    if snapshot.needs_configuration_done:
        yield "Configuration: pending configurationDone; set breakpoints, then continue."
    if snapshot.exit_code is not None:
        yield f"Exit code: {exit_code(snapshot)}"


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
    return f"{one_line(name)}:{snapshot.line}" + (f":{snapshot.column}" if snapshot.column else "")


def stop_report(stop: StopReport) -> Iterator[str]:
    """Yield the state of the program at a stop, after the words of the contract."""
    raised = [] if stop.exception is None else [*exception(stop.exception)]
    title = one_line(stop.description or stop.reason)
    if f"Exception: {title}" in raised:
        title = one_line(stop.reason)
    yield f"Stop {stop.number}: {title}{_stopped_by(stop)}"
    if stop.child is not None:
        yield f"Process: child {stop.child}"
    if stop.thread_name:
        yield f"Thread: {one_line(stop.thread_name)}"
    yield from raised
    if not raised and stop.text:
        yield f"Text: {one_line(stop.text)}"
    of_frame = "" if stop.frame is None else f" of {_numbered(stop)}"
    if stop.source_lines:
        yield f"Source{of_frame}:"
        yield from source_window(stop)
    if stop.locals or stop.more_locals:
        yield f"Locals{of_frame}:"
        yield from (f"- {variable(row)}" for row in stop.locals)
        if stop.more_locals:
            yield f"(and {stop.more_locals} more; see scopes and variables)"
    if len(stop.frames) > 1 or stop.more_frames:
        yield "Stack:"
        yield from _stack(stop)
    yield from output_since(stop.output, stop.output_since)
    yield from (f"Note: {one_line(note)}" for note in stop.incomplete)


def _stack(stop: StopReport) -> Iterator[str]:
    """Yield the frames, and how many are left out between them."""
    following = left_out = 0
    for frame in stop.frames:
        if frame.index > following:
            left_out += frame.index - following
            yield f"({frame.index - following} in between)"
        yield f"- #{frame.id} {one_line(frame.name)} @ {frame_location(frame)}"
        following = frame.index + 1
    if stop.more_frames < 0:
        yield "(and more; see stack_trace)"
    elif stop.more_frames > left_out:
        yield f"(and {stop.more_frames - left_out} more; see stack_trace)"


def _numbered(stop: StopReport) -> str:
    return next((f"#{frame.id} {one_line(frame.name)}" for frame in stop.frames if frame.index == stop.frame), "")


def source_window(stop: StopReport) -> Iterator[str]:
    """Yield the lines around the current one, which is marked."""
    current = next((frame.line for frame in stop.frames if frame.index == (stop.frame or 0)), None)
    width = max(len(str(source_line.line)) for source_line in stop.source_lines)
    for source_line in stop.source_lines:
        mark = "->" if source_line.line == current else "  "
        yield f"{mark} {source_line.line:>{width}}  {one_line_of_code(source_line.text)}".rstrip()


def one_line_of_code(text: str) -> str:
    """Show a line of source, whose tabs stay."""
    return printable(text.rstrip("\r\n"))


def _stopped_by(stop: StopReport) -> str:
    if not stop.hit_breakpoints:
        return ""
    return f" (breakpoint {', '.join(map(str, stop.hit_breakpoints))})"


@render.register
def _(result: Started) -> str:
    lines = [*snapshot_block(result.snapshot)]
    lines += (f"Note: {one_line(note)}" for note in result.notes)
    if result.breakpoints or result.function_breakpoints:
        lines.append("Breakpoints:")
        lines += (f"- {one_line(placed.path)} {source_breakpoint(placed)}" for placed in result.breakpoints)
        lines += (f"- {function_breakpoint(placed)}" for placed in result.function_breakpoints)
    if result.stop is not None:
        lines += stop_report(result.stop)
    lines += output_since(result.output, 0)
    return "\n".join(lines)


def _stopped(result: Resumed) -> str:
    place = location(result.snapshot) or "unknown location"
    if result.interrupted_thread_id is None:
        return f"{result.verb} stopped at {place}."
    stopped = result.snapshot.thread_id
    return (
        f"{result.verb} was interrupted: before thread {result.interrupted_thread_id} had done it,"
        f" thread {stopped} stopped at {place}."
    )


@render.register
def _(result: Resumed) -> str:
    lines = [*snapshot_block(result.snapshot)]
    match result.state:
        case "stopped":
            lines.append(_stopped(result))
        case "terminated":
            ended = result.snapshot
            code = "" if ended.exit_code is None else f" with exit code {exit_code(ended)}"
            lines.append(f"Program terminated{code}.")
        case "running" if result.timed_out:
            lines.append(
                f"Program is still running after {result.waited:g}s. Use pause to interrupt and inspect state."
            )
        case "running":
            lines.append("Program is running.")
    if result.stop is not None:
        lines += stop_report(result.stop)
    if result.failure is not None:
        lines.append(f"Note: {one_line(result.failure)}")
    lines += output_since(result.output, result.output_since)
    return "\n".join(lines)


@render.register
def _(result: Paused) -> str:
    return "\n".join([*snapshot_block(result.snapshot), "Program paused.", *stop_report(result.stop)])


@render.register
def _(result: Terminated) -> str:
    if result.snapshot is None:
        return "No debug session to terminate."
    if result.already:
        code = "" if result.snapshot.exit_code is None else f" with exit code {result.snapshot.exit_code}"
        ended = f"Debug session {result.snapshot.id} had ended already{code}."
        return "\n".join([ended, *output_since(result.output, result.output_since)])
    ending = f"Debug session {result.ending}." + (" The program runs on." if result.released else "")
    return "\n".join([*snapshot_block(result.snapshot), ending, *output_since(result.output, result.output_since)])


@render.register
def _(result: SessionsResult) -> str:
    return "\n\n".join("\n".join(_listed(session)) for session in result.sessions) or "No debug sessions."


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
