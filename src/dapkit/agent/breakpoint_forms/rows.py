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
    on_lines = [kept for kept in kept_breakpoints if _file(kept.spec.location) is not None and not kept.spec.temporary]
    chosen = [_source_breakpoint(kept) for kept in on_lines if path is None or _file(kept.spec.location) == path]
    return sorted(chosen, key=lambda kept: (kept.path, kept.line))


def _source_breakpoint(kept: KeptBreakpoint) -> shown.SourceBreakpointRow:
    location = kept.spec.location
    file = _file(location)
    missing = [] if file is None or not file.is_absolute() or file.exists() else ["there is no such file"]
    return shown.SourceBreakpointRow(
        number=kept.number,
        path=kept.path or str(file),
        line=kept.line or kept.asked_line or 0,
        column=location.column if isinstance(location, SourceLocation) else None,
        text=location.text if isinstance(location, SourceLocation) else None,
        requested_line=kept.asked_line if kept.moved else None,
        verified=kept.verified,
        enabled=kept.spec.enabled,
        condition=kept.spec.condition,
        hit_condition=kept.spec.hit_condition,
        log_message=kept.spec.log_message,
        message=_message(kept, missing),
        hits=kept.hits,
    )


def function_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.FunctionBreakpointRow]:
    """Show those on functions."""
    return [
        shown.FunctionBreakpointRow(
            number=kept.number,
            name=kept.spec.location.name,
            verified=kept.verified,
            enabled=kept.spec.enabled,
            condition=kept.spec.condition,
            hit_condition=kept.spec.hit_condition,
            log_message=kept.spec.log_message,
            message=_message(kept),
            hits=kept.hits,
        )
        for kept in kept_breakpoints
        if isinstance(kept.spec.location, FunctionLocation)
    ]


def instruction_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.InstructionBreakpointRow]:
    """Show those on instructions."""
    return [
        shown.InstructionBreakpointRow(
            number=kept.number,
            instruction_reference=kept.spec.location.reference,
            offset=kept.spec.location.offset,
            verified=kept.verified,
            enabled=kept.spec.enabled,
            condition=kept.spec.condition,
            hit_condition=kept.spec.hit_condition,
            message=_message(kept),
            hits=kept.hits,
        )
        for kept in kept_breakpoints
        if isinstance(kept.spec.location, InstructionLocation)
    ]


def data_breakpoints(kept_breakpoints: Iterable[KeptBreakpoint]) -> list[shown.DataBreakpointRow]:
    """Show those on data."""
    return [
        shown.DataBreakpointRow(
            number=kept.number,
            data_id=kept.spec.location.data_id,
            access_type=kept.spec.location.access,
            expression=None if kept.watched is None else kept.watched.expression,
            verified=kept.verified,
            enabled=kept.spec.enabled,
            condition=kept.spec.condition,
            hit_condition=kept.spec.hit_condition,
            message=_message(kept),
            hits=kept.hits,
        )
        for kept in kept_breakpoints
        if isinstance(kept.spec.location, DataLocation)
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


def _message(kept: KeptBreakpoint, more: Sequence[str] = ()) -> str | None:
    """Join the adapter's message with the message of dapkit."""
    return "; ".join(filter(None, (kept.message, *kept.remarks, *more))) or None
