"""Text of values, scopes, frames and threads."""

from collections.abc import Iterator

from dapkit.agent.results.values import (
    Assigned,
    CompletionsResult,
    Evaluated,
    Evaluation,
    ExceptionInfo,
    ExceptionRow,
    FrameRow,
    ScopesResult,
    StackTraceResult,
    ThreadsResult,
    VariableRow,
    VariablesResult,
)
from dapkit.agent.text.escaping import fenced, one_line, render


def variable(row: VariableRow) -> str:
    """Write a variable in one line."""
    value = one_line(row.value) + (f" {_cut(row)}" if row.length is not None else "")
    if row.contents is not None:
        value = with_contents(value, row.type, one_line(row.contents))
    kind = f" ({one_line(row.type)})" if row.type else ""
    reference = f" [ref={row.variables_reference}]" if row.variables_reference > 0 else ""
    before = f" [was {one_line(row.was)}]" if row.was is not None else " [new]" if row.changed else ""
    return f"{one_line(row.name)} = {value}{kind}{reference}{before}"


def with_contents(value: str, kind: str | None, contents: str) -> str:
    """Return a value with its contents: without its own text if that only names its type, or is a part of them."""
    return contents if not value or value == kind or value.startswith("{") else f"{value} {contents}"


def output_since(output: str, since: int) -> Iterator[str]:
    """Yield the program's output, fenced."""
    if output:
        yield f"Output since {since}:"
        yield from fenced(output)


def _cut(row: VariableRow | Evaluation) -> str:
    """Return how large a value is of which the beginning is shown; the adapter may have cut it, too."""
    if row.indexed_variables:
        return f"(cut, {row.indexed_variables} item{'s' * (row.indexed_variables != 1)})"
    if row.named_variables:
        return f"(cut, {row.named_variables} member{'s' * (row.named_variables != 1)})"
    return f"(cut, at least {row.length} characters)"


def frame_location(frame: FrameRow) -> str:
    """Return where a frame is."""
    source = "<unknown>" if frame.source is None else frame.source.path or frame.source.name or "<unknown>"
    return f"{one_line(source)}:{frame.line}:{frame.column}"


def exception(details: ExceptionRow) -> Iterator[str]:
    """Yield the known facts about an exception."""
    name = details.type_name or details.exception_id
    text = details.message if details.message is not None else details.description
    yield f"Exception: {one_line(name)}" + (f": {one_line(text)}" if text and text != name else "")
    yield from (f"Caused by: {one_line(cause)}" for cause in details.cause or ())


@render.register
def _(result: Evaluated) -> str:
    lines = [*_evaluation("Result", result.evaluation)]
    if result.resumed:
        lines.append("Program is running. Use wait or pause; if it never stops, restart.")
    return "\n".join([*lines, *output_since(result.output, result.output_since)])


@render.register
def _(result: Assigned) -> str:
    return "\n".join([f"{one_line(result.name)} was set.", *_evaluation("Value", result.evaluation)])


def _evaluation(title: str, value: Evaluation) -> Iterator[str]:
    text = value.result.rstrip("\n")
    if value.contents is not None:
        text = with_contents(text, value.type, value.contents)
    if "\n" in text:
        yield f"{title}:"
        yield from fenced(text)
    else:
        yield f"{title}: {one_line(text) or '(none)'}"
    if value.length is not None:
        yield _cut(value)
    if value.type:
        yield f"Type: {one_line(value.type)}"
    if value.variables_reference > 0:
        yield f"Variables ref: {value.variables_reference}"


@render.register
def _(result: StackTraceResult) -> str:
    lines = [f"- #{frame.id} {one_line(frame.name)} @ {frame_location(frame)}" for frame in result.stack_frames]
    if result.more:
        total = f" of {result.total_frames}" if result.total_frames is not None else ""
        lines.append(f"(there are more{total}; start={result.next_start} shows them)")
    return "\n".join(["Stack trace:", *(lines or ["(empty)"])])


@render.register
def _(result: ThreadsResult) -> str:
    lines = [*_threads(result)]
    return "\n".join(["Threads:", *(lines or ["(none)"])])


def _threads(result: ThreadsResult) -> Iterator[str]:
    stacks = {stack.thread_id: stack for stack in result.stacks or ()}
    for thread in result.threads:
        yield f"- {thread.id}: {one_line(thread.name)}"
        if (stack := stacks.get(thread.id)) is None:
            continue
        yield from (f"  - #{frame.id} {one_line(frame.name)} @ {frame_location(frame)}" for frame in stack.frames)
        if stack.more:
            yield f"  (there are more; stack_trace with thread_id={thread.id} shows them)"
        if stack.problem is not None:
            yield f"  ({one_line(stack.problem)})"
    if result.more:
        yield f"(and {result.more} more)"


@render.register
def _(result: ScopesResult) -> str:
    lines = [
        f"- {one_line(scope.name)}: ref={scope.variables_reference}, expensive={'yes' if scope.expensive else 'no'}"
        + (f", hint={one_line(scope.presentation_hint)}" if scope.presentation_hint else "")
        for scope in result.scopes
    ]
    return "\n".join(["Scopes:", *(lines or ["(none)"])])


@render.register
def _(result: VariablesResult) -> str:
    lines = [f"- {variable(row)}" for row in result.variables] or ["(none)"]
    if result.searched is not None:
        lines.append(f"(only the first {result.searched} members were searched)")
    if result.more:
        following = result.start + len(result.variables)
        amount = "more" if result.more < 0 else f"{result.more} more"
        lines.append(f"(there are {amount}; start={following} shows them)")
    return "\n".join(["Variables:", *lines])


@render.register
def _(result: ExceptionInfo) -> str:
    lines = list(exception(result.exception))
    if result.exception.break_mode:  # delve reports no such name
        lines.append(f"Break mode: {one_line(result.exception.break_mode)}")
    if result.exception.stack_trace:
        lines += ["Stack:", *fenced(result.exception.stack_trace)]
    return "\n".join(lines)


@render.register
def _(result: CompletionsResult) -> str:
    lines = [
        f"- {one_line(completion.label)}" + (f" ({one_line(completion.type)})" if completion.type else "")
        for completion in result.completions
    ] or ["(none)"]
    if result.more:
        lines.append(f"(and {result.more} more)")
    return "\n".join(["Completions:", *lines])
