"""Breakpoints as answers show them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from dapkit.agent.results import breakpoints as shown
from dapkit.client import DataLocation, FunctionLocation, InstructionLocation, Location, SourceLocation
from dapkit.protocol import Breakpoint
from dapkit.sessions.breakpoints.kept import KeptBreakpoint


def source_breakpoints(
    kept_breakpoints: Iterable[KeptBreakpoint], *, path: Path | None = None
) -> list[shown.SourceBreakpointRow]:
    """Show those on lines, of one file or of all, by their lines."""
    on_lines = [each for each in kept_breakpoints if _file(each.spec.location) is not None and not each.spec.temporary]
    rows = [_source_breakpoint(each) for each in on_lines if path is None or _file(each.spec.location) == path]
    return sorted(rows, key=lambda each: (each.path, each.line))


def _source_breakpoint(each: KeptBreakpoint) -> shown.SourceBreakpointRow:
    location = each.spec.location
    file = _file(location)
    missing = [] if file is None or not file.is_absolute() or file.exists() else ["there is no such file"]
    return shown.SourceBreakpointRow(
        number=each.number,
        path=each.path or str(file),
        line=each.line or each.asked_line or 0,
        column=location.column if isinstance(location, SourceLocation) else None,
        text=location.text if isinstance(location, SourceLocation) else None,
        requested_line=each.asked_line if each.moved else None,
        verified=each.verified,
        enabled=each.spec.enabled,
        condition=each.spec.condition,
        hit_condition=each.spec.hit_condition,
        log_message=each.spec.log_message,
        message=_message(each, missing),
        hits=each.hits,
    )


def function_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.FunctionBreakpointRow]:
    """Show those on functions."""
    return [
        shown.FunctionBreakpointRow(
            number=each.number,
            name=each.spec.location.name,
            verified=each.verified,
            enabled=each.spec.enabled,
            condition=each.spec.condition,
            hit_condition=each.spec.hit_condition,
            log_message=each.spec.log_message,
            message=_message(each),
            hits=each.hits,
        )
        for each in kept_breakpoints
        if isinstance(each.spec.location, FunctionLocation)
    ]


def instruction_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.InstructionBreakpointRow]:
    """Show those on instructions."""
    return [
        shown.InstructionBreakpointRow(
            number=each.number,
            instruction_reference=each.spec.location.reference,
            offset=each.spec.location.offset,
            verified=each.verified,
            enabled=each.spec.enabled,
            condition=each.spec.condition,
            hit_condition=each.spec.hit_condition,
            message=_message(each),
            hits=each.hits,
        )
        for each in kept_breakpoints
        if isinstance(each.spec.location, InstructionLocation)
    ]


def data_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.DataBreakpointRow]:
    """Show those on data."""
    return [
        shown.DataBreakpointRow(
            number=each.number,
            data_id=each.spec.location.data_id,
            access_type=each.spec.location.access,
            expression=None if each.watched is None else each.watched.expression,
            verified=each.verified,
            enabled=each.spec.enabled,
            condition=each.spec.condition,
            hit_condition=each.spec.hit_condition,
            message=_message(each),
            hits=each.hits,
        )
        for each in kept_breakpoints
        if isinstance(each.spec.location, DataLocation)
    ]


def foreign_breakpoints(reported: Iterable[Breakpoint]) -> list[shown.ForeignBreakpoint]:
    """Show breakpoints that are the adapter's own."""
    return [
        shown.ForeignBreakpoint(
            id=breakpoint_.id or 0,
            verified=breakpoint_.verified,
            path=None if breakpoint_.source is None else breakpoint_.source.path,
            line=breakpoint_.line,
            instruction_reference=breakpoint_.instruction_reference,
            message=breakpoint_.message,
        )
        for breakpoint_ in reported
    ]


def _file(location: Location) -> Path | None:
    return location.file if isinstance(location, SourceLocation) else None


def _message(each: KeptBreakpoint, more: Sequence[str] = ()) -> str | None:
    """Join the adapter's message with dapkit's remarks; `more` is for an adapter that gives no reason of its own."""
    return "; ".join(filter(None, (each.message, *each.remarks, *(more if each.message is None else ())))) or None
