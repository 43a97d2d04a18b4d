"""What can be asked for: where a breakpoint is to be, and when it is to act."""

from dataclasses import dataclass
from pathlib import Path

from dapkit.protocol import DataBreakpointAccessType


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, from 1."""

    file: Path
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Text:
    """The line of a file that holds a text; `near` chooses among several."""

    file: Path
    text: str
    near: int | None = None

    def __str__(self) -> str:
        return f"{self.file}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class Function:
    """The entry of a function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Instruction:
    """A machine instruction, by a memory reference of this run."""

    reference: str
    offset: int | None = None

    def __str__(self) -> str:
        return self.reference if not self.offset else f"{self.reference}{self.offset:+d}"


@dataclass(frozen=True, slots=True)
class Data:
    """A value, by the id that `dataBreakpointInfo` told in this run."""

    data_id: str
    access: DataBreakpointAccessType | None = None

    def __str__(self) -> str:
        return self.data_id


type Place = Line | Text | Function | Instruction | Data


@dataclass(frozen=True, slots=True)
class Wish:
    """A breakpoint as it is asked for.

    Attributes:
        condition: an expression of the program's language; it acts only where that is true.
        hit_condition: `5`, `== 5`, `>= 5`, `> 5`, `< 5` or `% 3`: at which of its hits it acts.
        log_message: what is logged instead of stopping, with expressions in braces.
        mode: one of the adapter's breakpoint modes.
        enabled: whether it is set at present.
        temporary: whether it goes with the next stop, wherever that is.

    """

    place: Place
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None
    enabled: bool = True
    temporary: bool = False
