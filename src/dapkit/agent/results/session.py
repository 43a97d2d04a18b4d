"""The state of a session, and the results of starting, running and ending a program."""

from typing import Literal

from dapkit.agent.results.breakpoints import FunctionBreakpointRow, SourceBreakpointRow
from dapkit.agent.results.snapshot import OfSession, Snapshot
from dapkit.agent.results.values import ExceptionRow, ExpressionValue, FrameRow, VariableRow
from dapkit.protocol import ProtocolObject


class SourceLine(ProtocolObject, frozen=True, kw_only=True):
    """A line of source around a stop."""

    line: int
    text: str


class StopReport(ProtocolObject, frozen=True, kw_only=True):
    """The state of the program at a stop, within a budget.

    Attributes:
        number: stops of a session are counted from 1.
        child: number of the child that stands there; absent if it is the program itself.
        hit_breakpoints: numbers of the breakpoints that stopped it.
        source_lines: some lines around the current one.
        locals: variables of the current frame; those that changed since the last stop come first.
        more_locals: how many are not shown.
        returned: values that calls have returned since the last stop, by the function's name if the adapter reports it.
        other_names: names of these, the first ones.
        expressions: kept expressions, see the action `watch`.
        frames: the innermost frames; of a stop in code of others those around `frame`, and the outermost of one's own.
        frame: which one the lines and the variables are of, by its index; absent if it is the innermost.
        more_frames: how many are not shown; -1 if that is not known.
        output: the program's output since the last stop; its end, if it is long.
        output_since: position from which `output` gives all of it.
        incomplete: the parts that could not be read in time, and why.

    """

    number: int
    reason: str
    hit_breakpoints: list[int]
    source_lines: list[SourceLine]
    locals: list[VariableRow]
    more_locals: int
    frames: list[FrameRow]
    more_frames: int
    output: str
    output_since: int
    incomplete: list[str]
    child: int | None = None
    description: str | None = None
    text: str | None = None
    thread_name: str | None = None
    frame: int | None = None
    exception: ExceptionRow | None = None
    returned: list[VariableRow] | None = None
    other_names: list[str] | None = None
    expressions: list[ExpressionValue] | None = None


class Started(OfSession, frozen=True, kw_only=True):
    """A program that was launched, attached to or restarted.

    Attributes:
        notes: why this adapter was chosen, and other facts about this start.
        breakpoints: those that the session has on lines.
        function_breakpoints: those that it has on functions.
        unread_input: whether the caller had an input for the program that its adapter cannot have it read.

    """

    adapter: str
    notes: list[str]
    breakpoints: list[SourceBreakpointRow]
    function_breakpoints: list[FunctionBreakpointRow]
    stop: StopReport | None = None
    output: str = ""
    unread_input: bool = False


class PassedStep(ProtocolObject, frozen=True, kw_only=True):
    """One of several steps.

    Attributes:
        text: the line that was carried out.
        changes: variables of the function with other values at the next stop.
        returned: values that calls of the line have returned, as far as the adapter reports them.

    """

    function: str
    line: int
    text: str
    changes: list[VariableRow]
    returned: list[VariableRow] | None = None
    path: str | None = None


class Resumed(OfSession, frozen=True, kw_only=True):
    """The result of letting the program run.

    Attributes:
        verb: how it was let run, as in "Step over".
        timed_out: the deadline came first; the program keeps running.
        waited: for so many seconds.
        output: the program's output since the last stop, if no stop reports it.
        output_since: position from which `output` gives all of it.
        failure: why the session broke off, if it did.
        interrupted_thread_id: the thread that was to step, if another one stopped the program before it had.
        steps: each of them, if several were asked for.

    """

    verb: str
    state: Literal["stopped", "running", "terminated"]
    timed_out: bool
    waited: float
    stop: StopReport | None = None
    output: str = ""
    output_since: int = 0
    failure: str | None = None
    interrupted_thread_id: int | None = None
    steps: list[PassedStep] | None = None


class Paused(OfSession, frozen=True, kw_only=True):
    """A program that was interrupted."""

    stop: StopReport


class Terminated(ProtocolObject, frozen=True, kw_only=True):
    """A session that is over; no snapshot if there was none.

    Attributes:
        ending: the requested kind of end.
        released: the program keeps running without a debugger.
        already: the session had ended before.
        output: the program's output since the last stop.

    """

    ending: Literal["terminated", "detached"]
    released: bool
    already: bool = False
    snapshot: Snapshot | None = None
    output: str = ""
    output_since: int = 0


class SessionsResult(ProtocolObject, frozen=True, kw_only=True):
    """The sessions of a project.

    Attributes:
        ended_runs: how many that one action had begun and ended, such as `run`, are left out.
        near: live sessions of folders around the project and below it, by name with the folder.

    """

    sessions: list[Snapshot]
    ended_runs: int = 0
    near: list[str] | None = None


class Typed(OfSession, frozen=True, kw_only=True):
    """Input that was given to the program.

    Attributes:
        characters: how many were typed.

    """

    characters: int
    ended: bool


class OutputResult(OfSession, frozen=True, kw_only=True):
    """The output of the program.

    Attributes:
        next: the position to read on from, with `since`.
        lost: at most so many of the requested characters had been dropped.
        omitted: characters before `output` that the budget of an answer left out.

    """

    output: str
    next: int
    lost: int
    omitted: int


class CustomBody(OfSession, frozen=True, kw_only=True):
    """The adapter's response to a request of the caller's own.

    Attributes:
        length: of the whole as JSON, if it was cut; `custom_body` is the beginning of that as a text then.

    """

    command: str
    custom_body: object
    length: int | None = None


class ChangedVariable(ProtocolObject, frozen=True, kw_only=True):
    """A variable that differs between two stops.

    Attributes:
        before: its value at the first one; absent if there was no such variable.
        after: at the second one.

    """

    name: str
    before: VariableRow | None = None
    after: VariableRow | None = None


class StopDiff(OfSession, frozen=True, kw_only=True):
    """Two stops compared.

    Attributes:
        first: number and place of the first stop.
        second: number and place of the second one.
        changes: variables that differ.
        same: how many are the same, as far as their texts tell.
        other_function: whether the stops are in different functions, so that only names are compared.
        output: of the program between them; its end, if it is long.

    """

    first: str
    second: str
    changes: list[ChangedVariable]
    same: int
    other_function: bool
    output: str = ""
    output_since: int = 0


class JobReleased(ProtocolObject, frozen=True, kw_only=True):
    """The members of a job were let go.

    Attributes:
        target: the job, as the user has named it.
        members: how many were connected.

    """

    target: str
    members: int
