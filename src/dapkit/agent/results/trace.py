"""The life of one call of a function."""

from dapkit.agent.results.session import StopReport
from dapkit.agent.results.snapshot import OfSession
from dapkit.agent.results.values import ExceptionRow, VariableRow
from dapkit.protocol import ProtocolObject


class TraceRow(ProtocolObject, frozen=True, kw_only=True):
    """A line that the call has carried out, or a number of lines that are left out.

    Attributes:
        level: how many calls below the traced function; 0 for its own lines.
        line: its number.
        text: its source.
        function: name of the function, where it is the first line of a call below.
        branch: of a line that decides: whether the next line is the one below it; absent if that is not known.
        changes: variables with other values after it.
        returned: values that calls of the line have returned, as far as the adapter reports them.
        folded: how many lines of a loop are left out here; the line is the first of these then.
        last: number of the last line of the loop, where lines are left out.

    """

    level: int
    line: int
    text: str = ""
    function: str | None = None
    path: str | None = None
    branch: bool | None = None
    changes: list[VariableRow] | None = None
    returned: list[VariableRow] | None = None
    folded: int | None = None
    last: int | None = None


class TraceResult(OfSession, frozen=True, kw_only=True):
    """The life of a call: its arguments, its lines, and its end.

    Attributes:
        function: name of the function; absent if the program did not come there.
        path: its file.
        line: the first line that is shown.
        caller: place of the call.
        arguments: variables at the beginning.
        rows: its lines, loops folded.
        steps: how many lines were followed in all.
        ending: how it ended: it has returned, raised an exception, or was not followed to its end.
        returned: the value that it returned, if the adapter reports it.
        exception: at which it was stopped.
        problem: why there is nothing to show, or not all of it.
        stop: where the program is stopped, if not just behind the call.

    """

    ending: str
    rows: list[TraceRow]
    steps: int
    arguments: list[VariableRow]
    function: str | None = None
    path: str | None = None
    line: int | None = None
    caller: str | None = None
    returned: VariableRow | None = None
    exception: ExceptionRow | None = None
    problem: str | None = None
    stop: StopReport | None = None
