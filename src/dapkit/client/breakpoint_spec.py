"""What can be asked for: where a breakpoint is to be, and when it is to act.

The one description of a breakpoint from an agent's words down to the client, which
makes the protocol's `SourceBreakpoint`, `FunctionBreakpoint`, ... from it.
"""

from dataclasses import dataclass
from pathlib import Path

from dapkit.protocol import DataBreakpointAccessType


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of a file, from 1, by its number or by a text in it.

    With a `text`, `line` only chooses the nearest of several lines that hold it.
    """

    file: Path
    line: int | None = None
    column: int | None = None
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.text is None else f"{self.file}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class FunctionLocation:
    """The entry of a function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class InstructionLocation:
    """A machine instruction, by a memory reference of this run."""

    reference: str
    offset: int | None = None

    def __str__(self) -> str:
        return self.reference if not self.offset else f"{self.reference}{self.offset:+d}"


@dataclass(frozen=True, slots=True)
class DataLocation:
    """A value, by the id that `dataBreakpointInfo` returned in this run."""

    data_id: str
    access: DataBreakpointAccessType | None = None

    def __str__(self) -> str:
        return self.data_id


type Location = SourceLocation | FunctionLocation | InstructionLocation | DataLocation


@dataclass(frozen=True, slots=True)
class BreakpointSpec:
    """A breakpoint as it is asked for.

    Attributes:
        condition: an expression of the program's language; it acts only where that is true.
        hit_condition: `5`, `== 5`, `!= 5`, `>= 5`, `> 5`, `<= 5`, `< 5` or `% 3`: at which of its hits it acts.
        log_message: what is logged instead of stopping, with expressions in braces.
        mode: one of the adapter's breakpoint modes.
        enabled: whether it is set at present.
        temporary: whether it is removed at the next stop, wherever that is.

    """

    location: Location
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None
    enabled: bool = True
    temporary: bool = False
