"""Text of a whole run: each stop by its place, with its values, and the end of the program."""

import re
from collections.abc import Iterator, Sequence

from dapkit.agent import limits
from dapkit.agent.results.run import ComparedRuns, RunResult, RunStop, RunThread
from dapkit.agent.text.escaping import one_line, printable, render
from dapkit.agent.text.stops import place, stop_body
from dapkit.agent.text.values import expression_value, frame_location
from dapkit.protocol import changed

TRACEBACK = "Traceback (most recent call last):\n"
"""How a traceback of Python begins."""


def run_stop(row: RunStop) -> Iterator[str]:
    """Yield a stop: on one line where the stop before was at the same place and the values are short."""
    where = place(row.stop, caller=True) or "?"
    values = [line for value in row.values or () for line in expression_value(value)]
    notes = [f"Note: {one_line(note)}" for note in row.stop.incomplete]
    is_exception = row.stop.reason == "exception"
    if row.again and values and not notes and len("  ".join(values)) <= limits.RUN_LINE_CHARACTERS:
        yield f"{row.hit}: {'  '.join(values)}"
        return
    yield f"hit {row.hit}" if row.again else where + (f" (hit {row.hit})" if row.hit > 1 else "")
    if is_exception or not values:
        yield from stop_body(row.stop)
    else:
        yield from notes
    yield from (f"  {value}" for value in values)
    if row.interpreter is not None:
        yield f"Interpreter: {one_line(row.interpreter)}; --python chooses another."


def run_end(result: RunResult) -> Iterator[str]:
    """Yield the output, the faults of breakpoints, and the end of the program."""
    output = result.output.replace("\r\n", "\n")  # as programs on Windows write it
    if result.traceback_is_known:
        output = f"{output.partition(TRACEBACK)[0]}(traceback of the exception above)\n"
    if any(stop.stop.reason == "exception" for stop in result.stops):
        output = without_printed_stack(output)
    tail, left_out = last_lines(output, result.output_lines)
    if left_out:
        more = "more than " if result.omitted else ""
        tail = f"({more}{left_out} earlier lines left out; --output-lines 0 shows all)\n{tail}"
    elif result.omitted:
        tail = f"({result.omitted} earlier characters left out)\n{tail}"
    problems = [f"- {one_line(each.problem)}" for each in result.breakpoints if each.problem is not None]
    yield from _section("Output", tail)
    if problems or result.failure is not None or _logs(result):
        yield from _section("From the debugger", result.console)
    yield from _section("Breakpoints", "\n".join(problems))
    yield from _ending(result)


def _logs(result: RunResult) -> bool:
    """Whether a breakpoint writes instead of stopping, which its adapter need not report as a hit."""
    return any(each.problem is None and not each.hits for each in result.breakpoints)


def _ending(result: RunResult) -> Iterator[str]:
    if result.failure is not None:
        yield one_line(result.failure)
        return
    if result.seconds is not None:
        state = "ran" if result.has_begun else "had not begun"
        yield f"The program still {state} when {result.seconds:g} s were over, and is ended. --timeout gives it more."
        if result.threads:
            yield "It stood at:"
            yield from threads_at(result.threads)
        return
    if result.limited is not None:
        yield f"It ran on without stopping after stop {result.limited}: --stops shows more."
    if result.exit_code is None:
        yield "The program has ended; whether it failed is not known: its adapter reports no exit code."
    else:
        yield f"Exit code: {result.exit_code}" + (f" ({result.signal})" if result.signal else "")


def threads_at(threads: Sequence[RunThread]) -> Iterator[str]:
    """Yield each stack once, with the threads that stand there."""
    names: dict[tuple[str, ...], list[str]] = {}
    for thread in threads:
        stack = tuple(f"{one_line(frame.name)} @ {frame_location(frame)}" for frame in thread.frames)
        names.setdefault(stack, []).append(one_line(thread.name))
    for stack, members in names.items():
        count = f" ({len(members)})" if len(members) > 1 else ""
        yield f"- {', '.join(members[: limits.RUN_NAMES])}{count}: {' < '.join(stack) or '(no frames)'}"


@render.register
def _(result: ComparedRuns) -> str:
    return "\n".join(_comparison(result))


def _comparison(result: ComparedRuns) -> Iterator[str]:
    first, second = result.stops
    yield f"Stops of the first run: {first}, of the second: {second}, alike: {result.alike}."
    for difference in result.differences:
        yield f"After stop {difference.before}:" if difference.before else "At the beginning:"
        yield from _side("-", difference.first)
        yield from _side("+", difference.second)
    if result.more:
        yield f"(and {result.more} more differences)"
    if result.output_lines is None:
        yield "Their outputs are the same."
    else:
        yield "First line of output that differs:"
        yield from (f"{mark} | {one_line(text)}" for mark, text in zip("-+", result.output_lines, strict=True))
    yield from (f"Note: {one_line(problem)}" for problem in result.problems)
    codes = ["not known" if code is None else str(code) for code in result.exit_codes]
    yield f"Exit code: {codes[0]}" if codes[0] == codes[1] else f"Exit codes: {codes[0]}, {codes[1]}"


def _side(mark: str, stops: Sequence[RunStop]) -> Iterator[str]:
    """Yield the stops of one run at a difference."""
    for stop in stops:
        whole = changed(stop, again=False, hit=1)
        yield from (f"{mark} {line}" for line in run_stop(whole))


_PRINTED_STACK = re.compile(
    r"^stack backtrace:\n(?:[ \t]+\d+:.*\n|[ \t]+at .*\n)+(?:note: Some details are omitted.*\n?)?", re.MULTILINE
)
"""The stack that a panic of Rust prints."""


def without_printed_stack(output: str) -> str:
    """Return output without a stack that the program has printed, where the answer shows that stack."""
    return _PRINTED_STACK.sub("(stack backtrace)\n", output)


def last_lines(text: str, most: int) -> tuple[str, int]:
    """Return the last lines of a text, and how many before them are left out; all of them if `most` is 0."""
    lines = text.splitlines(keepends=True)
    left_out = max(len(lines) - most, 0) if most else 0
    return "".join(lines[left_out:]), left_out


def _section(title: str, text: str) -> Iterator[str]:
    """Yield a text below a title, and an empty line after it."""
    if text:
        yield f"{title}:\n{printable(text)}" + ("" if text.endswith("\n") else "\n")


@render.register
def _(stop: RunStop) -> str:
    return "\n".join(run_stop(stop))


@render.register
def _(result: RunResult) -> str:
    stops = [line for stop in result.stops for line in run_stop(stop)]
    return "\n".join([*stops, *run_end(result)])
