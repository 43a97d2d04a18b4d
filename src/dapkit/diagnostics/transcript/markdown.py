"""A transcript as Markdown.

A text of the program is data: one line of it is in a code span, several in a fenced block, both closed by more
backticks than the text contains. So it can make no heading, no link and no HTML, and cannot end its block.
"""

import re
from collections.abc import Iterator, Sequence

from dapkit.agent.text.escaping import one_line, printable
from dapkit.diagnostics import limits
from dapkit.diagnostics.transcript.content import ShownStop, ShownVariable, Transcript, TranscriptStep, WireMessage
from dapkit.diagnostics.transcript.wording import (
    counted,
    date_and_time,
    duration,
    fitting,
    language_of,
    more,
    not_kept,
    output_lost,
    time_of_day,
    wire_lost,
)

_RESERVED_BYTES = 4096
"""Room for the notice of an omitted part."""


def as_markdown(transcript: Transcript, *, most: int = limits.TRANSCRIPT_BYTES) -> str:
    """Write a transcript as Markdown, with at most so many bytes."""
    head = "\n".join([*_head(transcript), ""])
    tail = "\n".join(["", *_tail(transcript), ""])
    size = len(head.encode(errors="replace")) + len(tail.encode(errors="replace")) + _RESERVED_BYTES
    steps = ["\n".join([*_step(step), ""]) for step in transcript.steps]
    if notice := not_kept(transcript):
        steps[0] += f"\n*{notice}*\n"
    return "\n".join([head, *fitting(steps, most - size - len(steps), _left_out), tail]).strip("\n") + "\n"


def code_span(text: str) -> str:
    """Write a text of one line as code.

    >>> code_span("a"), code_span("`x`")
    ('`a`', '`` `x` ``')
    """
    line = one_line(text)
    ticks = "`" * (_longest_run(line) + 1)
    padding = " " if not line.strip(" ") or line[0] in "` " or line[-1] in "` " else ""
    return f"{ticks}{padding}{line or ' '}{padding}{ticks}"


def fenced_block(text: str, language: str = "text") -> str:
    """Write a text of several lines as a block of code."""
    block = printable(text).removesuffix("\n")
    fence = "`" * max(3, _longest_run(block) + 1)
    return f"{fence}{language}\n{block}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(match[0]) for match in re.finditer("`+", text)), default=0)


def _head(transcript: Transcript) -> Iterator[str]:
    yield f"# Debug session of {code_span(transcript.program)}"
    yield ""
    yield from (f"- {name}: {code_span(text)}" for name, text in transcript.facts)
    yield f"- Session: {code_span(transcript.session)}"
    yield f"- Started: {date_and_time(transcript.started)}, for {duration(transcript.seconds)}"
    yield f"- Ended: {code_span(transcript.ending)}" if transcript.over else f"- Now: {code_span(transcript.ending)}"
    yield from (f"- {notice}" for notice in (output_lost(transcript), wire_lost(transcript)) if notice)
    if transcript.stops:
        yield from ("", "## Stops", "")
        for step, stop in transcript.stops:
            yield f"{stop.number}. [{_where(stop)}](#step-{step.number}): {code_span(stop.reason)}"
    yield from ("", "## Actions")
    if not transcript.steps:
        yield from ("", "There was none yet.")


def _where(stop: ShownStop) -> str:
    parts = [code_span(part) for part in (stop.function, stop.place) if part]
    return " at ".join(parts) or "unknown place"


def _step(step: TranscriptStep) -> Iterator[str]:
    yield from ("", f'<a id="step-{step.number}"></a>', "", f"### {step.number}. {code_span(step.command)}", "")
    failed = "" if step.success else ", **failed**"
    yield f"{time_of_day(step.time)}, took {duration(step.seconds)}{failed}"
    if step.output:
        yield from ("", "Output:", "", fenced_block(step.output))
    if step.outcome:
        yield from ("", one_line_of_text(step.outcome))
    if step.value is not None:
        name = "Value" if step.action == "evaluate" else code_span(step.value.name)
        kind = f" ({code_span(step.value.type)})" if step.value.type else ""
        yield from ("", f"{name}{kind}:", "", fenced_block(step.value.value or "(nothing)"))
    if step.stop is not None:
        yield from _stop(step.stop)
    if step.text:
        yield from ("", fenced_block(step.text))
    yield from _wire(step.wire)


def one_line_of_text(text: str) -> str:
    """Write words of dapkit, in which a name or a place of the program may stand, as plain text."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~&])", r"\\\1", one_line(text))


def _stop(stop: ShownStop) -> Iterator[str]:
    thread = f", thread {code_span(stop.thread)}" if stop.thread else ""
    yield from ("", f"**Stop {stop.number}**: {code_span(stop.reason)} in {_where(stop)}{thread}")
    if stop.raised:
        yield from ("", "Exception:", "", fenced_block("\n".join(stop.raised)))
    if stop.code:
        yield from ("", fenced_block("\n".join(_code(stop)), language_of(stop)))
    changed = [row for row in stop.variables if row.change]
    others = [row for row in stop.variables if not row.change]
    if changed:
        yield from ("", "Changed:", "", fenced_block("\n".join(map(_change, changed))))
    if others or stop.more_variables:
        title = "Unchanged:" if changed else "Values:"
        rows = [f"{one_line(row.name)} = {one_line(row.value)}" for row in others]
        yield from (
            "",
            title,
            "",
            fenced_block("\n".join([*rows, *filter(None, [more(stop.more_variables, "value")])])),
        )
    if len(stop.frames) > 1 or stop.more_frames:
        rows = [*map(one_line, stop.frames), *filter(None, [more(stop.more_frames, "frame")])]
        yield from ("", "Stack:", "", fenced_block("\n".join(rows)))
    yield from (f"\nNote: {code_span(note)}" for note in stop.notes)


def _code(stop: ShownStop) -> Iterator[str]:
    width = max(len(str(line.number)) for line in stop.code)
    for line in stop.code:
        mark = "->" if line.current else "  "
        yield f"{mark} {line.number:>{width}}  {one_line(line.text.replace('\t', '    '))}".rstrip()


def _change(row: ShownVariable) -> str:
    if row.was is None:
        return f"{one_line(row.name)}: {one_line(row.value)} (new)"
    return f"{one_line(row.name)}: {one_line(row.was)} -> {one_line(row.value)}"


def _wire(messages: Sequence[WireMessage]) -> Iterator[str]:
    if not messages:
        return
    yield from ("", f"<details><summary>{counted(len(messages), 'message')} on the wire</summary>", "")
    for message in messages:
        yield from (f"{message.number}. {code_span(message.title)}", "", fenced_block(message.text, "json"), "")
    yield "</details>"


def _tail(transcript: Transcript) -> Iterator[str]:
    if transcript.later_output:
        yield from ("Output after the last action:", "", fenced_block(transcript.later_output))
    yield from _wire(transcript.later_wire)


def _left_out(count: int) -> str:
    return f"\n*{counted(count, 'action')} left out here, for which there is no room.*\n"
