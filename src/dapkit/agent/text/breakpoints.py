"""Text of breakpoints."""

from collections.abc import Iterator, Sequence

from dapkit.agent.results.breakpoints import (
    AllBreakpoints,
    BreakpointRow,
    DataBreakpointInfo,
    DataBreakpointRow,
    DataBreakpoints,
    ExceptionBreakpoints,
    ExceptionFilter,
    ForeignBreakpoint,
    FunctionBreakpointRow,
    FunctionBreakpoints,
    InstructionBreakpointRow,
    InstructionBreakpoints,
    SourceBreakpointRow,
    SourceBreakpoints,
)
from dapkit.agent.text.escaping import one_line, render


def source_breakpoint(row: SourceBreakpointRow) -> str:
    """Return how a breakpoint on a line stands."""
    return f"line {row.line}: {_state(row)}{_condition(row)}{_hits(row)}{_remarks([*_notes(row), *_logs(row)])}"


def function_breakpoint(row: FunctionBreakpointRow) -> str:
    """Return how a breakpoint on a function stands."""
    remarks = _remarks([*_notes(row), *_logs(row)])
    return f"{one_line(row.name)}: {_state(row)}{_condition(row)}{_hits(row)}{remarks}"


def _instruction_breakpoint(row: InstructionBreakpointRow) -> str:
    place = row.instruction_reference + (f"+{row.offset}" if row.offset is not None else "")
    return f"{one_line(place)}: {_state(row)}{_condition(row)}{_hits(row)}{_remarks(_notes(row))}"


def _data_breakpoint(row: DataBreakpointRow) -> str:
    what = " of ".join(part for part in (row.access_type, row.expression) if part)
    access = f" ({one_line(what)})" if what else ""
    return f"{one_line(row.data_id)}: {_state(row)}{access}{_condition(row)}{_hits(row)}{_remarks(_notes(row))}"


def _exception_filter(row: ExceptionFilter) -> str:
    condition = f" if {one_line(row.condition)}" if row.condition else ""
    return f"{one_line(row.filter)}: {'on' if row.enabled else 'off'}{condition} ({one_line(row.label)})"


def _state(row: BreakpointRow) -> str:
    if not row.enabled:
        return "disabled"
    return "verified" if row.verified else "pending"


def _condition(row: BreakpointRow) -> str:
    return f" if {one_line(row.condition)}" if row.condition else ""


def _hits(row: BreakpointRow) -> str:
    return f" after {one_line(row.hit_condition)}" if row.hit_condition else ""


def _notes(row: BreakpointRow) -> list[str]:
    met = f"hit {row.hits} {'time' if row.hits == 1 else 'times'}" if row.hits else None
    return [remark for remark in (met, row.message) if remark]


def _logs(row: SourceBreakpointRow | FunctionBreakpointRow) -> list[str]:
    return [] if row.log_message is None else [f"logs {row.log_message}"]


def _remarks(remarks: Sequence[str]) -> str:
    return f" ({one_line('; '.join(remarks))})" if remarks else ""


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)] if lines else [title, "(none)"])


@render.register
def _(result: SourceBreakpoints) -> str:
    return _listed(f"Breakpoints for {one_line(result.path)}:", [source_breakpoint(row) for row in result.breakpoints])


@render.register
def _(result: FunctionBreakpoints) -> str:
    return _listed("Function breakpoints:", [function_breakpoint(row) for row in result.function_breakpoints])


@render.register
def _(result: InstructionBreakpoints) -> str:
    lines = [_instruction_breakpoint(row) for row in result.instruction_breakpoints]
    return _listed("Instruction breakpoints:", lines)


@render.register
def _(result: DataBreakpoints) -> str:
    return _listed("Data breakpoints:", [_data_breakpoint(row) for row in result.data_breakpoints])


@render.register
def _(result: ExceptionBreakpoints) -> str:
    return _listed("Exception breakpoints:", [_exception_filter(row) for row in result.exception_filters])


@render.register
def _(result: AllBreakpoints) -> str:
    return "\n".join(_all(result)) or "No breakpoints."


def _all(result: AllBreakpoints) -> Iterator[str]:
    groups: list[tuple[str, list[tuple[int, str]]]] = [
        (
            "Breakpoints:",
            [(row.number, f"{one_line(row.path)} {source_breakpoint(row)}") for row in result.breakpoints],
        ),
        ("Function breakpoints:", [(row.number, function_breakpoint(row)) for row in result.function_breakpoints]),
        (
            "Instruction breakpoints:",
            [(row.number, _instruction_breakpoint(row)) for row in result.instruction_breakpoints],
        ),
        ("Data breakpoints:", [(row.number, _data_breakpoint(row)) for row in result.data_breakpoints]),
    ]
    for title, lines in groups:
        if lines:
            yield title
            yield from (f"- #{number} {line}" for number, line in lines)
    if result.exception_filters:
        yield "Exception breakpoints:"
        yield from (f"- {_exception_filter(row)}" for row in result.exception_filters)
    if result.foreign_breakpoints:
        yield "Set by the debugger itself:"
        yield from (f"- {_foreign_breakpoint(row)}" for row in result.foreign_breakpoints)


def _foreign_breakpoint(row: ForeignBreakpoint) -> str:
    place = row.instruction_reference or "?" if row.path is None else f"{one_line(row.path)} line {row.line}"
    return f"{place}: {'verified' if row.verified else 'pending'}{f' ({one_line(row.message)})' if row.message else ''}"


@render.register
def _(result: DataBreakpointInfo) -> str:
    info = result.data_breakpoint_info
    lines = [f"Data breakpoint info: {one_line(info.description)}"]
    lines.append(f"Data ID: {'(not available)' if info.data_id is None else one_line(info.data_id)}")
    if info.access_types:
        lines.append(f"Access types: {', '.join(info.access_types)}")
    if info.can_persist is not None:
        lines.append(f"Persistent: {'yes' if info.can_persist else 'no'}")
    return "\n".join(lines)
