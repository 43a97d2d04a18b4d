"""Requests beyond the specification for the trace of a call, as dapkit's Python adapter answers them."""

from typing import Final

from dapkit.protocol.base import Arguments, ProtocolObject

TRACE_CALL: Final = "dapkit/traceCall"
CALL_TRACE: Final = "dapkit/callTrace"


class TracedValue(ProtocolObject, frozen=True, kw_only=True):
    """A variable, or a value that a function of this name has returned.

    Attributes:
        value: its text.
        fields: in braces, the fields of an object that has no text of its own.

    """

    name: str
    value: str
    fields: str | None = None


class TracedLine(ProtocolObject, frozen=True, kw_only=True):
    """A line before it is carried out.

    Attributes:
        level: calls between the traced one and this; 0 for its own lines.
        variables: those that are other than at the line before of the same call; all at its first line.
        returned: values that calls of the line before have returned.

    """

    level: int
    line: int
    function: str
    path: str
    text: str
    variables: list[TracedValue]
    returned: list[TracedValue]


class TraceCallArguments(Arguments[TracedLine], frozen=True, kw_only=True):
    """Lets the next step of a thread that is stopped go on to the end of its call, each line of which is noted.

    The answer is the line where it is stopped.

    Attributes:
        thread_id: the thread.
        depth: levels of calls below it whose lines are noted, where they are the user's own code.
        lines: how many are noted at most.

    """

    command = TRACE_CALL

    thread_id: int
    depth: int
    lines: int


class CallTraceBody(ProtocolObject, frozen=True, kw_only=True):
    """The lines of a call after the one at which the trace began.

    Attributes:
        is_cut: whether the call had more lines than were noted.

    """

    lines: list[TracedLine]
    is_cut: bool


class CallTraceArguments(Arguments[CallTraceBody], frozen=True, kw_only=True):
    """Asks for the trace of a thread's call, and ends it."""

    command = CALL_TRACE

    thread_id: int
