"""Breakpoints: the request of the user, and the response of the adapter."""

from dapkit.agent.results.snapshot import OfSession
from dapkit.protocol import ProtocolObject


class BreakpointRow(ProtocolObject, frozen=True, kw_only=True):
    """Fields of every breakpoint.

    Attributes:
        number: by which it can be named as long as the session lasts.
        enabled: whether it was not switched off by the action `breakpoints`.
        hits: the number of hits in this run, as far as the adapter reports them: it does not report the hits that its
            own conditions, hit conditions and log messages consumed.
        message: the adapter's message, and the work that the client does in its place.

    """

    number: int
    verified: bool
    enabled: bool
    condition: str | None = None
    hit_condition: str | None = None
    message: str | None = None
    hits: int = 0


class SourceBreakpointRow(BreakpointRow, frozen=True, kw_only=True):
    """A breakpoint on a line.

    Attributes:
        line: where it is now.
        requested_line: where it was asked for, if that is another line.
        text: of the line, if it was asked for by that.

    """

    path: str
    line: int
    column: int | None = None
    requested_line: int | None = None
    text: str | None = None
    log_message: str | None = None


class FunctionBreakpointRow(BreakpointRow, frozen=True, kw_only=True):
    """A breakpoint on a function."""

    name: str
    log_message: str | None = None


class InstructionBreakpointRow(BreakpointRow, frozen=True, kw_only=True):
    """A breakpoint on an instruction."""

    instruction_reference: str
    offset: int | None = None


class DataBreakpointRow(BreakpointRow, frozen=True, kw_only=True):
    """A breakpoint on access to data.

    Attributes:
        expression: the expression that named the data, if it is known.

    """

    data_id: str
    access_type: str | None = None
    expression: str | None = None


class ExceptionFilter(ProtocolObject, frozen=True, kw_only=True):
    """A kind of exceptions that the adapter can stop on.

    Attributes:
        filter: its name.
        enabled: whether it stops now.

    """

    filter: str
    label: str
    enabled: bool
    supports_condition: bool
    condition: str | None = None
    description: str | None = None


class ForeignBreakpoint(ProtocolObject, frozen=True, kw_only=True):
    """A breakpoint that the adapter has set by itself, such as by a command of the debugger; it is not ours to change.

    Attributes:
        id: the adapter's own number.

    """

    id: int
    verified: bool
    path: str | None = None
    line: int | None = None
    instruction_reference: str | None = None
    message: str | None = None


class SourceBreakpoints(OfSession, frozen=True, kw_only=True):
    """The breakpoints of a file."""

    path: str
    breakpoints: list[SourceBreakpointRow]


class FunctionBreakpoints(OfSession, frozen=True, kw_only=True):
    """All function breakpoints."""

    function_breakpoints: list[FunctionBreakpointRow]


class InstructionBreakpoints(OfSession, frozen=True, kw_only=True):
    """All instruction breakpoints."""

    instruction_breakpoints: list[InstructionBreakpointRow]


class DataBreakpoints(OfSession, frozen=True, kw_only=True):
    """All data breakpoints."""

    data_breakpoints: list[DataBreakpointRow]


class ExceptionBreakpoints(OfSession, frozen=True, kw_only=True):
    """The exception filters that the adapter offers, and which of them stop."""

    exception_filters: list[ExceptionFilter]


class AllBreakpoints(OfSession, frozen=True, kw_only=True):
    """Everything that is to stop the program."""

    breakpoints: list[SourceBreakpointRow]
    function_breakpoints: list[FunctionBreakpointRow]
    instruction_breakpoints: list[InstructionBreakpointRow]
    data_breakpoints: list[DataBreakpointRow]
    exception_filters: list[ExceptionFilter]
    foreign_breakpoints: list[ForeignBreakpoint]


class DataId(ProtocolObject, frozen=True, kw_only=True):
    """Whether data can be watched, and under which id."""

    data_id: str | None
    description: str
    access_types: list[str] | None = None
    can_persist: bool | None = None


class DataBreakpointInfo(OfSession, frozen=True, kw_only=True):
    """The answer about data that may be watched."""

    data_breakpoint_info: DataId
