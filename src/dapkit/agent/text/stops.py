"""Text of a stop: its place first, then the reason, the lines around it, the variables and the callers."""

from collections.abc import Iterator, Sequence

from dapkit.agent.results.session import PassedStep, StopReport
from dapkit.agent.results.values import FrameRow, VariableRow
from dapkit.agent.text.escaping import one_line, printable
from dapkit.agent.text.values import (
    exception,
    expression_value,
    frame_location,
    output_since,
    shown_value,
    source_name,
    variable,
)
from dapkit.protocol import changed


def place(stop: StopReport, *, caller: bool = False) -> str | None:
    """Return the file, line and function that a report is about, and the place that has called it if that is wanted.

    None if the adapter reported no frame.
    """
    frame = frame_of(stop)
    if frame is None:
        return None
    where = f"{_file_and_line(frame)} in {one_line(frame.name)}"
    calling = None if not caller else _caller(stop, frame)
    return where if calling is None else f"{where}, called from {_short_location(calling, frame)}"


def stop_report(stop: StopReport) -> Iterator[str]:
    """Yield the state of the program at a stop, from its place on."""
    if (where := place(stop)) is not None:
        yield where
    yield from stop_details(stop)


def stop_details(stop: StopReport) -> Iterator[str]:
    """Yield the state of the program at a stop without its place."""
    raised = [] if stop.exception is None else [*exception(stop.exception)]
    title = one_line(stop.description or stop.reason)
    if f"Exception: {title}" in raised:
        title = one_line(stop.reason)
    thread = f", thread {one_line(stop.thread_name)}" if stop.thread_name else ""
    yield f"Stop {stop.number}: {title}{_stopped_by(stop)}{thread}"
    if stop.child is not None:
        yield f"Process: child {stop.child}"
    yield from stop_body(stop)
    yield from output_since(stop.output, stop.output_since)


def short_report(stop: StopReport) -> Iterator[str]:
    """Yield the place of a stop, its reason and the variables, for a reader who has seen the way there."""
    if (where := place(stop)) is not None:
        yield where
    yield from stop_details(changed(stop, source_lines=[], frames=[], more_frames=0))


def passed_steps(steps: Sequence[PassedStep]) -> Iterator[str]:
    """Yield each line that was carried out with its changes, below the function that it is in."""
    function: tuple[str | None, str] | None = None
    for step in steps:
        if function != (step.path, step.function):
            function = (step.path, step.function)
            yield f"{one_line(step.path or '?')} in {one_line(step.function)}"
        changes = ", ".join(
            [
                *(returned_value(row) for row in step.returned or ()),
                *(f"{one_line(row.name)} = {shown_value(row)}" for row in step.changes),
            ]
        )
        yield f"  {step.line}  {one_line_of_code(step.text.strip())}" + (f"  -> {changes}" if changes else "")


def returned_value(row: VariableRow) -> str:
    """Write a value that a call has returned."""
    return f"{one_line(row.name)}() = {shown_value(row)}" if row.name else shown_value(row)


def stop_body(stop: StopReport) -> Iterator[str]:
    """Yield the exception of a stop, the lines around it, the variables and the stack."""
    raised = [] if stop.exception is None else [*exception(stop.exception)]
    yield from raised
    if not raised and stop.text:
        yield f"Text: {one_line(stop.text)}"
    yield from (f"Returned: {returned_value(row)}" for row in stop.returned or ())
    yield from (f"Note: {one_line(note)}" for note in stop.incomplete)
    yield from _state(stop)


def _state(stop: StopReport) -> Iterator[str]:
    if stop.source_lines:
        yield from source_window(stop)
    if stop.expressions:
        yield "Expressions:"
        yield from (f"- {line}" for value in stop.expressions for line in expression_value(value))
    if stop.locals or stop.more_locals:
        yield "Locals:"
        yield from (f"- {variable(row)}" for row in stop.locals)
        if stop.more_locals:
            names = ", ".join(one_line(name) for name in stop.other_names or ())
            yield f"(and {stop.more_locals} more{f': {names}' if names else ''})"
    if len(stop.frames) > 1 or stop.more_frames:
        yield "Stack:"
        yield from _stack(stop)


def _stack(stop: StopReport) -> Iterator[str]:
    """Yield the frames, and how many are left out between them; the innermost one is the place of the stop."""
    current = frame_of(stop)
    following = left_out = 0
    for frame in stop.frames:
        if frame.index > following:
            left_out += frame.index - following
            yield f"({frame.index - following} in between)"
        following = frame.index + 1
        if frame.index == 0 and frame is current:
            continue
        mark = "->" if frame is current else "-"
        yield f"{mark} #{frame.id} {one_line(frame.name)} @ {_short_location(frame, current)}"
    if stop.more_frames < 0:
        yield "(and more; see stack_trace)"
    elif stop.more_frames > left_out:
        yield f"(and {stop.more_frames - left_out} more; see stack_trace)"


def frame_of(stop: StopReport) -> FrameRow | None:
    """Return the frame that a report is about."""
    return next((frame for frame in stop.frames if frame.index == (stop.frame or 0)), None)


def _caller(stop: StopReport, frame: FrameRow) -> FrameRow | None:
    """Return the frame that has called another; the interpreter's own frames of an import are left out."""
    callers = (each for each in stop.frames if each.index > frame.index)
    return next((each for each in callers if not source_name(each).startswith("<")), None)


def _short_location(frame: FrameRow, other: FrameRow | None) -> str:
    """Return where a frame is, without the file if that is also the file of another frame."""
    if other is not None and source_name(frame) == source_name(other):
        return f"line {frame.line}"
    return _file_and_line(frame)


def _file_and_line(frame: FrameRow) -> str:
    if frame.source is None and frame.instruction_pointer_reference is not None:
        return one_line(frame.instruction_pointer_reference)
    return frame_location(frame)


def source_window(stop: StopReport) -> Iterator[str]:
    """Yield the lines around the current one, which is marked."""
    frame = frame_of(stop)
    width = max(len(str(source_line.line)) for source_line in stop.source_lines)
    for source_line in stop.source_lines:
        mark = "->" if frame is not None and source_line.line == frame.line else "  "
        yield f"{mark} {source_line.line:>{width}}  {one_line_of_code(source_line.text)}".rstrip()


def one_line_of_code(text: str) -> str:
    """Show a line of source, whose tabs stay."""
    return printable(text.rstrip("\r\n"))


def _stopped_by(stop: StopReport) -> str:
    if not stop.hit_breakpoints:
        return ""
    return f" (breakpoint {', '.join(map(str, stop.hit_breakpoints))})"
