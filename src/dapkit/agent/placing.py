"""Breakpoints as callers write them and as answers show them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from dapkit.agent.arguments import read
from dapkit.agent.failures import InvalidArguments
from dapkit.agent.registry import ACTIONS
from dapkit.agent.results import breakpoints as shown
from dapkit.client import BreakpointSpec, DataLocation, FunctionLocation, InstructionLocation, Location, SourceLocation
from dapkit.protocol import Breakpoint
from dapkit.sessions.breakpoints.placed import PlacedBreakpoint

_SHORT = re.compile(r"(?P<where>.+?)(?:\s+if\s+(?P<condition>.+))?", re.DOTALL)
_FILE_AND_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)", re.DOTALL)


class Where(TypedDict, total=False):
    """The parameters that say where a breakpoint is to be."""

    file: Path | None
    line: int | None
    column: int | None
    text: str | None
    function: str | None


def place_of(action: str, where: Where) -> SourceLocation | FunctionLocation:
    """Say where a breakpoint is to be.

    Raises:
        InvalidArguments: it is not said, or said twice.

    """
    file, line, text, function = where.get("file"), where.get("line"), where.get("text"), where.get("function")
    if function is not None:
        if any(where.get(name) is not None for name in ("file", "line", "text")):
            raise InvalidArguments(f"{action}: function excludes file, line and text")
        return FunctionLocation(function)
    if file is None or (line is None and text is None):
        raise InvalidArguments(
            f"{action} requires file+line or function", hint="Instead of line there may be text, a part of the line."
        )
    return place_in(file, line, text, action=action, column=where.get("column"))


def place_in(
    file: Path, line: int | None, text: str | None, *, action: str, column: int | None = None
) -> SourceLocation:
    """Say which line of a file is meant. Raises: InvalidArguments."""
    if line is not None and line < 1:
        raise InvalidArguments(f"line must be 1 or more, not {line}")
    if text is not None:
        return SourceLocation(file, line, text=text)
    if line is None:
        raise InvalidArguments(f"{action} requires line or text")
    return SourceLocation(file, line, column)


def specs_of(given: Iterable[object], *, folders: Sequence[Path]) -> list[BreakpointSpec]:
    """Read the breakpoints that come with a launch; files are looked for in the folders, and else in the first.

    Raises:
        InvalidArguments: one of them cannot be read.

    """
    specs = []
    for item in given:
        found = [_spec_of(item, folder) for folder in folders]
        specs.append(next((one for one in found if _is_there(one.location)), found[0]))
    return specs


def _is_there(place: Location) -> bool:
    file = _file(place)
    return file is None or file.exists()


def _spec_of(spec: object, folder: Path) -> BreakpointSpec:
    given = _from_text(spec) if isinstance(spec, str) else spec
    if not isinstance(given, Mapping):
        raise InvalidArguments(f"breakpoints: expected a string or an object, not {spec!r}")
    try:
        arguments = read(ACTIONS["set_breakpoint"], given, folder=folder)
    except InvalidArguments as wrong:
        raise InvalidArguments(f"breakpoints: {wrong}", hint=wrong.hint) from None
    where = Where(**{name: arguments.get(name) for name in Where.__annotations__})  # type: ignore[typeddict-item] # read
    return BreakpointSpec(
        place_of("a breakpoint", where),
        condition=_text(arguments.get("condition")),
        hit_condition=_text(arguments.get("hit_condition")),
        log_message=_text(arguments.get("log_message")),
    )


def _from_text(spec: str) -> Mapping[str, object]:
    """Read `FILE:LINE`, `FILE:LINE if CONDITION`, or the same with the name of a function."""
    found = _SHORT.fullmatch(spec.strip())
    if found is None:
        raise InvalidArguments("breakpoints: one of them is empty")
    place = _FILE_AND_LINE.fullmatch(found["where"])
    where: dict[str, object] = (
        {"function": found["where"]} if place is None else {"file": place["file"], "line": int(place["line"])}
    )
    return {**where, "condition": found["condition"]}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# As answers show them


def source_breakpoints(placed: Iterable[PlacedBreakpoint], *, path: Path | None = None) -> list[shown.SourceBreakpoint]:
    """Show those on lines, of one file or of all, by their lines."""
    on_lines = [one for one in placed if _file(one.spec.location) is not None and not one.spec.temporary]
    chosen = [_source_breakpoint(one) for one in on_lines if path is None or _file(one.spec.location) == path]
    return sorted(chosen, key=lambda one: (one.path, one.line))


def _source_breakpoint(one: PlacedBreakpoint) -> shown.SourceBreakpoint:
    place = one.spec.location
    file = _file(place)
    missing = [] if file is None or file.exists() else ["there is no such file"]
    return shown.SourceBreakpoint(
        number=one.number,
        path=one.path or str(file),
        line=one.line or one.asked_line or 0,
        column=place.column if isinstance(place, SourceLocation) else None,
        text=place.text if isinstance(place, SourceLocation) else None,
        requested_line=one.asked_line if one.moved else None,
        verified=one.verified,
        enabled=one.spec.enabled,
        condition=one.spec.condition,
        hit_condition=one.spec.hit_condition,
        log_message=one.spec.log_message,
        message=_message(one, missing),
    )


def function_breakpoints(placed: Iterable[PlacedBreakpoint]) -> list[shown.FunctionBreakpoint]:
    """Show those on functions."""
    return [
        shown.FunctionBreakpoint(
            number=one.number,
            name=one.spec.location.name,
            verified=one.verified,
            enabled=one.spec.enabled,
            condition=one.spec.condition,
            hit_condition=one.spec.hit_condition,
            log_message=one.spec.log_message,
            message=_message(one),
        )
        for one in placed
        if isinstance(one.spec.location, FunctionLocation)
    ]


def instruction_breakpoints(placed: Iterable[PlacedBreakpoint]) -> list[shown.InstructionBreakpoint]:
    """Show those on instructions."""
    return [
        shown.InstructionBreakpoint(
            number=one.number,
            instruction_reference=one.spec.location.reference,
            offset=one.spec.location.offset,
            verified=one.verified,
            enabled=one.spec.enabled,
            condition=one.spec.condition,
            hit_condition=one.spec.hit_condition,
            message=_message(one),
        )
        for one in placed
        if isinstance(one.spec.location, InstructionLocation)
    ]


def data_breakpoints(placed: Iterable[PlacedBreakpoint]) -> list[shown.DataBreakpoint]:
    """Show those on data."""
    return [
        shown.DataBreakpoint(
            number=one.number,
            data_id=one.spec.location.data_id,
            access_type=one.spec.location.access,
            verified=one.verified,
            enabled=one.spec.enabled,
            condition=one.spec.condition,
            hit_condition=one.spec.hit_condition,
            message=_message(one),
        )
        for one in placed
        if isinstance(one.spec.location, DataLocation)
    ]


def foreign_breakpoints(told: Iterable[Breakpoint]) -> list[shown.ForeignBreakpoint]:
    """Show breakpoints that are the adapter's own."""
    return [
        shown.ForeignBreakpoint(
            id=one.id or 0,
            verified=one.verified,
            path=None if one.source is None else one.source.path,
            line=one.line,
            instruction_reference=one.instruction_reference,
            message=one.message,
        )
        for one in told
    ]


def _file(place: Location) -> Path | None:
    return place.file if isinstance(place, SourceLocation) else None


def _message(one: PlacedBreakpoint, more: Sequence[str] = ()) -> str | None:
    """Join what the adapter says with what we say; that one is disabled stands elsewhere."""
    remarks = [remark for remark in (one.message, *one.remarks, *more) if remark and remark != "disabled"]
    return "; ".join(remarks) or None
