"""Text of values, scopes, frames and threads."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dapkit.agent import limits
from dapkit.agent.results.values import (
    Assigned,
    CompletionsResult,
    Evaluated,
    Evaluation,
    ExceptionInfo,
    ExceptionRow,
    ExpressionValue,
    FrameRow,
    KeptExpressions,
    ScopesResult,
    StackTraceResult,
    ThreadsResult,
    ThreadStack,
    VariableRow,
    VariablesResult,
)
from dapkit.agent.text.escaping import fenced, one_line, render
from dapkit.protocol import Thread

_PLAIN_TYPES = {
    *("int", "float", "complex", "bool", "str", "bytes", "NoneType", "list", "dict", "tuple", "set", "frozenset"),
    *("string", "number", "boolean", "undefined", "null", "object", "Object", "Array", "Function", "double", "char"),
}
"""Types that a value's text shows, or that need not be read at each value."""

_OBJECT = re.compile(r"<(?:[\w.<>]+\.)?(?P<name>\w+) object at 0x[0-9a-fA-F]+>")
"""An object of Python that has no text of its own."""


def variable(row: VariableRow) -> str:
    """Write a variable in one line: its value, the type where the value does not show it, and the value before.

    A reference stands there if the value has members that are not shown.
    """
    value = shown_value(row)
    before = f" [was {one_line(row.was)}]" if row.was is not None else " [new]" if row.changed else ""
    return f"{one_line(row.name)} = {value}{_type(value, row.type)}{_reference(row, value)}{before}"


def shown_value(row: VariableRow) -> str:
    """Write the value of a variable, with its contents."""
    value = one_line(row.value) + (f" {_cut(row)}" if row.length is not None else "")
    return value if row.contents is None else with_contents(value, row.type, one_line(row.contents))


def with_contents(value: str, kind: str | None, contents: str) -> str:
    """Return a value with its contents: without its own text if that only names its type, or is a part of them."""
    if (match := _OBJECT.fullmatch(value)) is not None:
        return f"{match['name']} {contents}"
    return contents if not value or value == kind or value.startswith("{") else f"{value} {contents}"


def _type(value: str, kind: str | None) -> str:
    """Return the type in brackets; nothing where the value shows it, or the type is a plain one."""
    if not kind or kind in _PLAIN_TYPES or re.search(rf"\b{re.escape(kind.rpartition('.')[2])}\b", value):
        return ""
    return f" ({one_line(kind)})"


def _reference(value: VariableRow | Evaluation, text: str) -> str:
    """Return the reference of the members, unless the text shows all of them."""
    if value.variables_reference <= 0:
        return ""
    is_container = text[:1] in "([{" and "0x" not in text  # a pointer may begin with its type in brackets
    is_whole = (value.contents is not None or is_container) and value.length is None
    return "" if is_whole and "\u2026" not in text and "..." not in text else f" [ref={value.variables_reference}]"


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
    return f"{one_line(source_name(frame))}:{frame.line}" + (f":{frame.column}" if frame.column > 1 else "")


def source_name(frame: FrameRow) -> str:
    """Return the path of a frame's source, or its name."""
    return "<unknown>" if frame.source is None else frame.source.path or frame.source.name or "<unknown>"


def exception(details: ExceptionRow) -> Iterator[str]:
    """Yield the known facts about an exception."""
    name = details.type_name or details.exception_id
    text = details.message if details.message is not None else details.description
    yield f"Exception: {one_line(name)}" + (f": {one_line(text)}" if text and text != name else "")
    yield from (f"Caused by: {one_line(cause)}" for cause in details.cause or ())


@render.register
def _(result: Evaluated) -> str:
    if result.values is None:
        lines = [*_evaluation("Result", result.evaluation)]
    else:
        lines = [line for value in result.values for line in expression_value(value)]
    if result.resumed:
        lines.append("Program is running. Use wait or pause; if it never stops, restart.")
    return "\n".join([*lines, *output_since(result.output, result.output_since)])


@render.register
def _(result: KeptExpressions) -> str:
    lines = [f"- {line}" for value in result.expressions for line in expression_value(value)]
    return "\n".join(["Expressions:", *(lines or ["(none)"])])


@render.register
def _(result: Assigned) -> str:
    return "\n".join([f"{one_line(result.name)} was set.", *_evaluation("Value", result.evaluation)])


def expression_value(value: ExpressionValue) -> Iterator[str]:
    """Yield an expression with its value, or with the reason why there is no value, on one line if they fit there."""
    name = one_line(value.expression)
    if value.evaluation is None:
        yield name if value.problem is None else f"{name} = ({one_line(value.problem)})"
        return
    text = value_alone(value.evaluation)
    if "\n" in text:
        yield f"{name} ="
        yield from fenced(text)
    else:
        yield f"{name} = {one_line(text) or '(none)'}{_after(value.evaluation, text)}"


def _evaluation(title: str, value: Evaluation) -> Iterator[str]:
    text = value_alone(value)
    if "\n" in text:
        yield f"{title}:"
        yield from fenced(text)
        if after := _after(value, text).strip():
            yield after
    else:
        yield f"{title}: {one_line(text) or '(none)'}{_after(value, text)}"


def value_alone(value: Evaluation) -> str:
    """Write a value with its contents, without its type."""
    text = value.result.rstrip("\n")
    return text if value.contents is None else with_contents(text, value.type, value.contents)


def _after(value: Evaluation, text: str) -> str:
    """Return how much of a value is left out, its type and its reference, as far as they are needed."""
    cut = f" {_cut(value)}" if value.length is not None else ""
    return f"{cut}{_type(text, value.type)}{_reference(value, text)}"


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
    groups: dict[object, list[Thread]] = {}
    for thread in result.threads:
        stack = stacks.get(thread.id)
        groups.setdefault(_name_without_numbers(thread) if stack is None else _places(stack), []).append(thread)
    for threads in _parted(groups.values(), stacks):
        first = threads[0]
        yield _names(threads)
        if (stack := stacks.get(first.id)) is None:
            continue
        yield from (f"  - #{frame.id} {one_line(frame.name)} @ {frame_location(frame)}" for frame in stack.frames)
        if stack.more:
            yield f"  (there are more; stack_trace with thread_id={first.id} shows them)"
        if stack.problem is not None:
            yield f"  ({one_line(stack.problem)})"
    if result.more:
        yield f"(and {result.more} more)"


def _parted(groups: Iterable[Sequence[Thread]], stacks: Mapping[int, ThreadStack]) -> Iterator[Sequence[Thread]]:
    """Yield the groups of threads; a few that only have like names are shown one by one."""
    for threads in groups:
        if threads[0].id in stacks or len(threads) > limits.THREAD_NUMBERS:
            yield threads
        else:
            yield from ([thread] for thread in threads)


def _name_without_numbers(thread: Thread) -> str:
    return re.sub(r"\d+", "", thread.name)


def _places(stack: ThreadStack) -> tuple[object, ...]:
    """Return the part of a stack that is equal for threads at the same place."""
    return (*((frame.name, frame_location(frame)) for frame in stack.frames), stack.more, stack.problem)


def _names(threads: Sequence[Thread]) -> str:
    """Name threads that are shown once: each of a few, and the first numbers of many."""
    first = threads[0]
    if len(threads) == 1:
        return f"- {first.id}: {one_line(first.name)}"
    numbers = ", ".join(str(thread.id) for thread in threads[: limits.THREAD_NUMBERS])
    more = ", ..." if len(threads) > limits.THREAD_NUMBERS else ""
    return f"- {len(threads)} x {one_line(first.name)} (threads {numbers}{more})"


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
