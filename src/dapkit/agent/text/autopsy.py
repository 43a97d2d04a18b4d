"""Text of an autopsy: the cause, the user's stack with its variables, the way that led there."""

from collections.abc import Iterator

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.results.autopsy import AutopsyFrame, AutopsyResult
from dapkit.agent.results.session import StopReport
from dapkit.agent.text.escaping import fenced, one_line, render
from dapkit.agent.text.run import last_lines, threads_at, without_printed_stack
from dapkit.agent.text.stops import one_line_of_code, place, source_window
from dapkit.agent.text.values import exception, shown_value


@render.register
def _(result: AutopsyResult) -> str:
    lines = [*_without_a_crash(result)] if result.stop is None else [*_crash(result, result.stop)]
    output = result.output if result.stop is None else without_printed_stack(result.output)
    tail, left_out = last_lines(output, limits.AUTOPSY_OUTPUT_LINES)
    if tail:
        lines.append(f"Output ({left_out} earlier lines left out):" if left_out else "Output:")
        lines += fenced(tail)
    return "\n".join(lines)


def _crash(result: AutopsyResult, stop: StopReport) -> Iterator[str]:
    yield place(stop) or "?"
    raised = [] if stop.exception is None else [*exception(stop.exception)]
    yield from raised
    if not raised:
        text = stop.text or stop.description or stop.reason
        yield f"Cause: {one_line(text)}"
    yield from (f"Note: {one_line(note)}" for note in stop.incomplete)
    if stop.source_lines:
        yield from source_window(stop)
    current = stop.frame or 0
    for frame in result.frames:
        yield from _frame(frame, with_text=frame.index != current)
    if result.more_frames:
        yield f"(and {result.more_frames} more frames of the program's own code)"
    if result.last_lines:
        yield "Lines before, the last one last:"
        for step in result.last_lines:
            yield f"  {one_line(step.function)}:{step.line}  {one_line_of_code(step.text.strip())}"
    for origin in result.origins or ():
        yield render(origin)


def _frame(frame: AutopsyFrame, *, with_text: bool) -> Iterator[str]:
    text = f": {one_line_of_code(frame.text.strip())}" if with_text and frame.text.strip() else ""
    yield f"#{frame.index} {one_line(frame.function)} @ {one_line(frame.path or '?')}:{frame.line}{text}"
    parts = []
    for row in frame.variables:
        mark = " (!)" if row.name in frame.suspicious else ""
        parts.append(f"{one_line(row.name)} = {shortened(shown_value(row), limits.AUTOPSY_CHARACTERS)[0]}{mark}")
    if frame.problem is not None:
        parts.append(f"(no variables: {one_line(frame.problem)})")
    more = f" (and {frame.more} more)" if frame.more else ""
    if parts:
        yield f"   {', '.join(parts)}{more}"


def _without_a_crash(result: AutopsyResult) -> Iterator[str]:
    if result.failure is not None:
        yield one_line(result.failure)
    elif result.seconds is not None:
        yield f"The program still ran when {result.seconds:g} s were over. It stood at:"
        yield from threads_at(result.threads or [])
    else:
        code = "not known" if result.exit_code is None else str(result.exit_code)
        signal = f" ({result.signal})" if result.signal else ""
        yield f"The program has ended without an exception or a signal that stopped it. Exit code: {code}{signal}"
