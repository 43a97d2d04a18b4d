"""The specification of a breakpoint: where it is, and when it takes effect.

The one description of a breakpoint from an agent's words down to the client.
`wire_form` makes the protocol's `SourceBreakpoint`, `FunctionBreakpoint`, ... from
it, and `spec_of` reads one of these back, for requests that were made by hand.
"""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from dapkit.protocol import (
    DataBreakpoint,
    DataBreakpointAccessType,
    FunctionBreakpoint,
    InstructionBreakpoint,
    InvalidValue,
    Source,
    SourceBreakpoint,
)

type File = str | PathLike[str] | Source
"""A file by path, taken relative to the working directory, or as the adapter named it."""

type WireBreakpoint = SourceBreakpoint | FunctionBreakpoint | DataBreakpoint | InstructionBreakpoint
"""A breakpoint as a request of the protocol has it."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of a file, from 1, by its number or by a text in it."""

    file: Path
    """Its path; empty if the adapter knows the source by a reference alone."""

    line: int | None = None
    """The line, from 1; beside a `text` it only chooses the nearest of several lines that hold it."""

    column: int | None = None
    """The column, from 1."""

    text: str | None = None
    """Text that the line must contain."""

    named: Source | None = None
    """The source as the adapter named it, if its path does not say everything."""

    @property
    def source(self) -> Source:
        """The file as the protocol has it."""
        return self.named or Source(path=str(self.file), name=self.file.name)

    @property
    def same_file_key(self) -> str:
        """Fields that all locations in a file have."""
        if self.named is None or self.named.path:
            return str(self.file)
        return f"#{self.named.source_reference or 0} {self.named.name or ''}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.text is None else f"{self.file}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class FunctionLocation:
    """The entry of a function."""

    name: str
    """Its name, as the adapter understands it."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class InstructionLocation:
    """A machine instruction, by a memory reference of this run."""

    reference: str
    """The memory reference."""

    offset: int | None = None
    """Bytes to add to it; may be negative."""

    def __str__(self) -> str:
        return self.reference if not self.offset else f"{self.reference}{self.offset:+d}"


@dataclass(frozen=True, slots=True)
class DataLocation:
    """A value, by the id that `dataBreakpointInfo` returned in this run."""

    data_id: str
    """The id."""

    access: DataBreakpointAccessType | None = None
    """Which access stops the program. None: the adapter chooses."""

    def __str__(self) -> str:
        return self.data_id


type Location = SourceLocation | FunctionLocation | InstructionLocation | DataLocation
"""Where a breakpoint is asked for."""


@dataclass(frozen=True, slots=True)
class BreakpointSpec:
    """A breakpoint as it is asked for."""

    location: Location
    """Where it is."""

    condition: str | None = None
    """An expression of the program's language; it acts only where that is true."""

    hit_condition: str | None = None
    """`5`, `== 5`, `!= 5`, `>= 5`, `> 5`, `<= 5`, `< 5` or `% 3`: at which of its hits it acts."""

    log_message: str | None = None
    """The message that is logged instead of stopping, with expressions in braces."""

    mode: str | None = None
    """One of the adapter's breakpoint modes."""

    enabled: bool = True
    """Whether it is set at present."""

    temporary: bool = False
    """Whether it is removed at the next stop, wherever that is."""


def source_location(file: File, line: int | None = None, column: int | None = None) -> SourceLocation:
    """Name a line of a file."""
    if isinstance(file, Source):
        return SourceLocation(Path(file.path or ""), line, column, named=file)
    return SourceLocation(Path(file).absolute(), line, column)


def wire_form(spec: BreakpointSpec) -> WireBreakpoint:
    """Make a specification from a request of the protocol.

    Raises:
        InvalidValue: the protocol has no field for a part of the specification.

    """
    condition, hit_condition = spec.condition, spec.hit_condition
    match spec.location:
        case SourceLocation(line=int(line), column=column):
            return SourceBreakpoint(
                line=line,
                column=column,
                condition=condition,
                hit_condition=hit_condition,
                log_message=spec.log_message,
                mode=spec.mode,
            )
        case SourceLocation():
            raise InvalidValue("expected the number of a line", path="$.location.line")
        case FunctionLocation(name):
            _refuse(spec, "log_message", "mode")
            return FunctionBreakpoint(name=name, condition=condition, hit_condition=hit_condition)
        case DataLocation(data_id, access):
            _refuse(spec, "log_message", "mode")
            return DataBreakpoint(data_id=data_id, access_type=access, condition=condition, hit_condition=hit_condition)
        case InstructionLocation(reference, offset):
            _refuse(spec, "log_message")
            return InstructionBreakpoint(
                instruction_reference=reference,
                offset=offset,
                condition=condition,
                hit_condition=hit_condition,
                mode=spec.mode,
            )


def _refuse(spec: BreakpointSpec, *fields: str) -> None:
    for field in fields:
        if getattr(spec, field) is not None:
            raise InvalidValue(f"a breakpoint at a {type(spec.location).__name__} lacks it", path=f"$.{field}")


def spec_of(wire: WireBreakpoint, source: Source | None = None) -> BreakpointSpec:
    """Read a breakpoint of a request; `source` is the file of a `SourceBreakpoint`."""
    location: Location
    match wire:
        case SourceBreakpoint():
            location = source_location(source or Source(), wire.line, wire.column)
        case FunctionBreakpoint():
            location = FunctionLocation(wire.name)
        case DataBreakpoint():
            location = DataLocation(wire.data_id, wire.access_type)
        case InstructionBreakpoint():
            location = InstructionLocation(wire.instruction_reference, wire.offset)
    return BreakpointSpec(
        location,
        condition=wire.condition,
        hit_condition=wire.hit_condition,
        log_message=wire.log_message if isinstance(wire, SourceBreakpoint) else None,
        mode=wire.mode if isinstance(wire, SourceBreakpoint | InstructionBreakpoint) else None,
    )
