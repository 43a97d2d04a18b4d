"""Text of breakpoints."""

from collections.abc import Iterator, Sequence

from dapkit.agent.results.breakpoints import (
    AllBreakpoints,
    DataBreakpoint,
    DataBreakpointInfo,
    DataBreakpoints,
    ExceptionBreakpoints,
    ExceptionFilter,
    ForeignBreakpoint,
    FunctionBreakpoint,
    FunctionBreakpoints,
    InstructionBreakpoint,
    InstructionBreakpoints,
    Placed,
    SourceBreakpoint,
    SourceBreakpoints,
)
from dapkit.agent.text.escaping import one_line
from dapkit.agent.text.rendering import render


def source_breakpoint(one: SourceBreakpoint) -> str:
    """Say how a breakpoint on a line stands."""
    return f"line {one.line}: {_state(one)}{_condition(one)}{_hits(one)}{_remarks([*_message(one), *_logs(one)])}"


def function_breakpoint(one: FunctionBreakpoint) -> str:
    """Say how a breakpoint on a function stands."""
    remarks = _remarks([*_message(one), *_logs(one)])
    return f"{one_line(one.name)}: {_state(one)}{_condition(one)}{_hits(one)}{remarks}"


def _instruction_breakpoint(one: InstructionBreakpoint) -> str:
    place = one.instruction_reference + (f"+{one.offset}" if one.offset is not None else "")
    return f"{one_line(place)}: {_state(one)}{_condition(one)}{_hits(one)}{_remarks(_message(one))}"


def _data_breakpoint(one: DataBreakpoint) -> str:
    access = f" ({one.access_type})" if one.access_type else ""
    return f"{one_line(one.data_id)}: {_state(one)}{access}{_condition(one)}{_hits(one)}{_remarks(_message(one))}"


def _exception_filter(one: ExceptionFilter) -> str:
    condition = f" if {one_line(one.condition)}" if one.condition else ""
    return f"{one_line(one.filter)}: {'on' if one.enabled else 'off'}{condition} ({one_line(one.label)})"


def _state(one: Placed) -> str:
    if not one.enabled:
        return "disabled"
    return "verified" if one.verified else "pending"


def _condition(one: Placed) -> str:
    return f" if {one_line(one.condition)}" if one.condition else ""


def _hits(one: Placed) -> str:
    return f" after {one_line(one.hit_condition)}" if one.hit_condition else ""


def _message(one: Placed) -> list[str]:
    return [one.message] if one.message else []


def _logs(one: SourceBreakpoint | FunctionBreakpoint) -> list[str]:
    return [] if one.log_message is None else [f"logs {one.log_message}"]


def _remarks(remarks: Sequence[str]) -> str:
    return f" ({one_line('; '.join(remarks))})" if remarks else ""


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)] if lines else [title, "(none)"])


@render.register
def _(result: SourceBreakpoints) -> str:
    return _listed(f"Breakpoints for {one_line(result.path)}:", [source_breakpoint(one) for one in result.breakpoints])


@render.register
def _(result: FunctionBreakpoints) -> str:
    return _listed("Function breakpoints:", [function_breakpoint(one) for one in result.function_breakpoints])


@render.register
def _(result: InstructionBreakpoints) -> str:
    lines = [_instruction_breakpoint(one) for one in result.instruction_breakpoints]
    return _listed("Instruction breakpoints:", lines)


@render.register
def _(result: DataBreakpoints) -> str:
    return _listed("Data breakpoints:", [_data_breakpoint(one) for one in result.data_breakpoints])


@render.register
def _(result: ExceptionBreakpoints) -> str:
    return _listed("Exception breakpoints:", [_exception_filter(one) for one in result.exception_filters])


@render.register
def _(result: AllBreakpoints) -> str:
    return "\n".join(_all(result)) or "No breakpoints."


def _all(result: AllBreakpoints) -> Iterator[str]:
    groups: list[tuple[str, list[tuple[int, str]]]] = [
        (
            "Breakpoints:",
            [(one.number, f"{one_line(one.path)} {source_breakpoint(one)}") for one in result.breakpoints],
        ),
        ("Function breakpoints:", [(one.number, function_breakpoint(one)) for one in result.function_breakpoints]),
        (
            "Instruction breakpoints:",
            [(one.number, _instruction_breakpoint(one)) for one in result.instruction_breakpoints],
        ),
        ("Data breakpoints:", [(one.number, _data_breakpoint(one)) for one in result.data_breakpoints]),
    ]
    for title, lines in groups:
        if lines:
            yield title
            yield from (f"- #{number} {line}" for number, line in lines)
    if result.exception_filters:
        yield "Exception breakpoints:"
        yield from (f"- {_exception_filter(one)}" for one in result.exception_filters)
    if result.foreign_breakpoints:
        yield "Set by the debugger itself:"
        yield from (f"- {_foreign_breakpoint(one)}" for one in result.foreign_breakpoints)


def _foreign_breakpoint(one: ForeignBreakpoint) -> str:
    place = one.instruction_reference or "?" if one.path is None else f"{one_line(one.path)} line {one.line}"
    return f"{place}: {'verified' if one.verified else 'pending'}{f' ({one_line(one.message)})' if one.message else ''}"


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
