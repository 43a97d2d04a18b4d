"""Text of the recorded history of a program."""

from collections.abc import Iterator
from itertools import chain

from dapkit.agent.results.history import TimelineResult, WhyResult
from dapkit.agent.text.escaping import fenced, one_line, render

_WIDTH = 60


@render.register
def _(result: WhyResult) -> str:
    what = one_line(result.expression)
    if result.unchanged_since is not None:
        return (
            f"{what} has not changed since clock {result.unchanged_since}; the time was over before that was searched. "
            "A longer timeout searches farther back."
        )
    if result.writes is not None:
        return "\n".join(_by_another_run(result))
    if result.line is None:
        return f"{what} has not changed since the recorded history begins."
    place = f"{one_line(result.path or '<unknown>')}:{result.line} in {one_line(result.function or '<unknown>')}"
    when = "before the recorded history begins" if result.clock is None else f"clock {result.clock}"
    lines = [f"{what} was last changed at {place} ({when})."]
    if result.new is not None and result.old == result.new:  # an object is shown without its attributes
        values = _value("Before and after, with other items or attributes", result.new)
    else:
        values = chain(_value("Before", result.old), _value("After", result.new))
    return "\n".join([*lines, *values, *_doubt(result), *_chain(result)])


def _by_another_run(result: WhyResult) -> Iterator[str]:
    expression = one_line(result.expression)
    if result.line is None:
        yield f"{expression} was not written by the program's own code, as another run shows ({result.writes} writes)."
    else:
        place = f"{one_line(result.path or '<unknown>')}:{result.line} in {one_line(result.function or '<unknown>')}"
        yield f"{expression} was last written at {place}, as another run shows ({result.writes} writes)."
        yield from chain(_value("Before", result.old), _value("After", result.new))
    yield from _doubt(result)


def _doubt(result: WhyResult) -> Iterator[str]:
    if result.doubt is not None:
        yield f"Doubt: {one_line(result.doubt)}."


def _chain(result: WhyResult) -> Iterator[str]:
    if result.ends is None:
        return
    yield "The value came by these lines, the latest first:"
    for number, step in enumerate(result.chain, 1):
        when = "before the recorded history begins" if step.expression is not None else ""
        when = when if step.clock is None else f"clock {step.clock}"
        place = f"{one_line(step.path)}:{step.line} in {one_line(step.function)}{when and f' ({when})'}"
        yield f"{number}. {place}: {one_line(step.text)}"
        if step.expression is not None:
            old = "(none)" if step.old is None else one_line(step.old)
            yield f"   {one_line(step.expression)}: {old} -> {'(none)' if step.new is None else one_line(step.new)}"
    inputs = ", ".join(f"{one_line(part.expression)} = {one_line(part.value)}" for part in result.inputs)
    yield f"At the last of them {one_line(result.ends)}{inputs and f', with {inputs}'}."


def _value(title: str, value: str | None) -> Iterator[str]:
    if value is None:
        yield f"{title}: (none)"
    elif "\n" in value:
        yield f"{title}:"
        yield from fenced(value)
    else:
        yield f"{title}: {one_line(value)}"


@render.register
def _(result: TimelineResult) -> str:
    lines_ago = result.live - result.now
    ago = f"{lines_ago} line{'s' * (lines_ago != 1)} before the live program"
    where = ago if lines_ago else "the live program"
    lines = [f"Timeline: clock {result.beginning} to {result.live}; shown: {result.now}, {where}", *_picture(result)]
    begin = result.checkpoints[0].time if result.checkpoints else result.stops[0].time if result.stops else 0.0
    lines.append("Stops of the live program:")
    if result.earlier_stops:
        lines.append(f"({result.earlier_stops} earlier ones are not shown)")
    for stop in result.stops:
        thread = f", thread {stop.thread_id}" if stop.thread_id is not None else ""
        line = f"- clock {stop.clock}: {one_line(stop.reason)}{thread}"
        lines.append(f"{line}, {max(0.0, stop.time - begin):.3f} s after the beginning, {stop.output} bytes written")
    if not result.stops:
        lines.append("(none)")
    return "\n".join(lines)


def _picture(result: TimelineResult) -> Iterator[str]:
    """Yield the history as a row: checkpoints are dots, stops are circles, and the shown position has a mark."""
    length = max(1, result.live - result.beginning)

    def column(clock: int) -> int:
        return min(_WIDTH - 1, max(0, (clock - result.beginning) * (_WIDTH - 1) // length))

    row = ["-"] * _WIDTH
    for marks, sign in ((result.checkpoints, "."), (result.stops, "o")):
        for mark in marks:
            row[column(mark.clock)] = sign
    yield f"  |{''.join(row)}|"
    yield f"   {' ' * column(result.now)}^"
