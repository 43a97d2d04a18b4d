"""Text of a trace: a page of at most `limits.TRACE_BYTES`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.results.trace import TraceResult, TraceRow
from dapkit.agent.results.values import VariableRow
from dapkit.agent.text.escaping import one_line, render
from dapkit.agent.text.stops import one_line_of_code, place, returned_value
from dapkit.agent.text.values import exception, shown_value

_FITTINGS = ((2, 120), (1, 120), (1, 60), (1, 30))
"""Rounds of a loop that are shown before the rest is left out, and characters of a value, from the roomiest on."""

_LEAST_FOLDED = 3
"""Lines that are worth a line which counts them."""


@render.register
def _(result: TraceResult) -> str:
    head, end = [*_head(result)], [*_end(result)]
    for rounds, characters in _FITTINGS:
        lines = [*_rows(_folded(result.rows, rounds), characters)]
        text = "\n".join([*head, *lines, *end])
        if len(text.encode()) <= limits.TRACE_BYTES:
            return text
    room = limits.TRACE_BYTES - len("\n".join([*head, *end]).encode()) - limits.NAME_CHARACTERS
    return "\n".join([*head, *_middle_left_out(lines, room), *end])


def _head(result: TraceResult) -> Iterator[str]:
    if result.function is None:
        return
    caller = "" if result.caller is None else f", called from {one_line(result.caller)}"
    yield f"{one_line(result.path or '?')}:{result.line} in {one_line(result.function)}{caller}"
    if result.arguments:
        yield f"At its beginning: {_values(result.arguments, limits.CUT_VALUE_CHARACTERS)}"


def _rows(rows: Sequence[TraceRow], characters: int) -> Iterator[str]:
    width = max((len(str(row.line)) for row in rows), default=1)
    own = min((_indent(row.text) for row in rows if row.text.strip() and not row.level), default=0)
    texts: set[tuple[int, int, str]] = set()
    for row in rows:
        margin = "  " * (row.level + 1)
        if row.folded is not None:
            lines = str(row.line) if row.line == row.last else f"{row.line} to {row.last}"
            yield f"{margin}{'...':>{width}}  ({row.folded} more of line{'s' * (row.line != row.last)} {lines})"
            continue
        changes = _values(row.changes or (), characters)
        if row.function is not None:
            yield f"{margin}call {one_line(row.function)} @ {one_line(row.path or '?')}:{row.line}: {changes}".rstrip(
                " :"
            )
            continue
        if not row.line:
            yield f"{margin}{'':>{width}}  -> {changes}"
            continue
        calls = ", ".join(_cut(returned_value(each), characters) for each in row.returned or ())
        effects = ", ".join(filter(None, [calls, changes]))
        text = one_line_of_code(row.text)[0 if row.level else own :].rstrip()
        if (row.level, row.line, text) in texts:  # of a round before
            text = ""
        else:
            texts.add((row.level, row.line, text))
        mark = "" if row.branch is None else "[true]" if row.branch else "[false]"
        parts = filter(None, [text, mark, f"-> {effects}" if effects else ""])
        yield f"{margin}{row.line:>{width}}  {'  '.join(parts)}".rstrip()


def _end(result: TraceResult) -> Iterator[str]:
    if result.exception is not None:
        yield from exception(result.exception)
    elif result.returned is not None:
        yield f"Returned: {_cut(shown_value(result.returned), limits.CUT_VALUE_CHARACTERS)}"
    elif result.function is not None:
        yield f"End: {result.ending}."
    if result.problem is not None:
        yield one_line(result.problem)
    if result.stop is not None and (result.exception is None or result.function is None):
        yield f"Stopped at {place(result.stop) or '?'}: {one_line(result.stop.reason)}"


def _values(rows: Sequence[VariableRow], characters: int) -> str:
    return ", ".join(f"{one_line(row.name)} = {_cut(shown_value(row), characters)}" for row in rows)


def _cut(text: str, characters: int) -> str:
    return shortened(text, characters)[0]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _folded(rows: Sequence[TraceRow], rounds: int) -> list[TraceRow]:
    """Leave out the rounds of loops after so many and before the last, with a row that counts their lines."""
    totals = Counter((row.level, row.line, row.path) for row in rows)
    visits: Counter[tuple[int, int, str | None]] = Counter()
    result: list[TraceRow] = []
    left_out: list[TraceRow] = []
    for row in rows:
        key = (row.level, row.line, row.path)
        visits[key] += 1
        if rounds < visits[key] < totals[key] and row.line:
            left_out.append(row)
            continue
        result += _fold(left_out)
        left_out = []
        result.append(row)
    return [*result, *_fold(left_out)]


def _fold(left_out: Sequence[TraceRow]) -> Iterator[TraceRow]:
    if len(left_out) < _LEAST_FOLDED:
        yield from left_out
        return
    lines = [row.line for row in left_out if row.level == left_out[0].level]
    yield TraceRow(level=left_out[0].level, line=min(lines), last=max(lines), folded=len(left_out))


def _middle_left_out(lines: Sequence[str], room: int) -> Iterator[str]:
    """Yield the first and the last lines that there is room for."""
    head: list[str] = []
    tail: list[str] = []
    remaining = room
    for at in range(len(lines)):
        line = lines[at // 2] if at % 2 == 0 else lines[-(at // 2) - 1]
        remaining -= len(line.encode()) + 1
        if remaining < 0:
            break
        (head if at % 2 == 0 else tail).append(line)
    yield from head
    yield f"  ({len(lines) - len(head) - len(tail)} lines left out)"
    yield from reversed(tail)
