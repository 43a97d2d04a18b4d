"""Text of a probe: a table with a line for each hit."""

from collections.abc import Iterator, Sequence

from dapkit.agent import limits
from dapkit.agent.results.probe import ProbeResult, ProbesOfTag, ProbeTable
from dapkit.agent.results.values import ExpressionValue
from dapkit.agent.text.escaping import one_line, render
from dapkit.agent.text.stops import place
from dapkit.agent.text.values import exception, value_alone


@render.register
def _(result: ProbeResult) -> str:
    return "\n".join([*_table(result.table, limited=result.limited), *_ending(result)])


@render.register
def _(result: ProbesOfTag) -> str:
    lines = [line for table in result.tables for line in _table(table)]
    return "\n".join(lines or [f"Nothing is kept under the tag {one_line(result.tag)}."])


def _table(table: ProbeTable, *, limited: bool = False) -> Iterator[str]:
    threads = {row.thread for row in table.rows}
    tag = "" if table.tag is None else f"[{one_line(table.tag)}] "
    thread = ""
    if len(threads) == 1 and (name := table.rows[0].thread) not in (None, "MainThread"):
        thread = f", thread {one_line(name or '')}"
    count = f"{len(table.rows)} hit{'s' * (len(table.rows) != 1)}"
    first = f"first {count} (--hits for more)" if limited else count
    yield f"{tag}{one_line(table.location)}: {first}{thread}"
    if table.problem is not None:
        yield f"Note: {one_line(table.problem)}"
    if not table.rows:
        return
    head = ["hit", "ms", *(["thread"] if len(threads) > 1 else []), *map(one_line, table.expressions)]
    rows = [
        [
            str(row.hit),
            f"{row.seconds * 1000:.0f}",
            *([one_line(row.thread or "?")] if len(threads) > 1 else []),
            *map(_cell, row.values),
        ]
        for row in table.rows
    ]
    yield "  ".join(head)
    yield from _aligned(rows)


def _cell(value: ExpressionValue) -> str:
    if value.evaluation is None:
        return f"({one_line(value.problem or 'no value')})"
    return one_line(value_alone(value.evaluation)) or "(none)"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table; columns that are narrow are aligned, but for their names, which may be long."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if width <= limits.ALIGNED_COLUMN_CHARACTERS else cell
            for cell, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _ending(result: ProbeResult) -> Iterator[str]:
    if result.stop is not None:
        yield f"Stopped at {place(result.stop) or '?'}: {one_line(result.stop.reason)}"
        if result.stop.exception is not None:
            yield from exception(result.stop.exception)
    if result.failure is not None:
        yield one_line(result.failure)
    elif result.seconds is not None:
        yield f"{result.seconds:g} s were over before the program had ended. --timeout gives it more."
    elif result.state == "terminated":
        code = "not known" if result.exit_code is None else str(result.exit_code)
        yield f"Exit code: {code}"
    elif result.stop is None:
        yield "The program is stopped at the last of these hits."
