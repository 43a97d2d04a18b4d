"""The result of a program that was debugged from its start to its end in one call."""

from dapkit.agent.results.session import StopReport
from dapkit.agent.results.snapshot import OfSession
from dapkit.agent.results.values import ExpressionValue, FrameRow
from dapkit.protocol import ProtocolObject


class RunStop(ProtocolObject, frozen=True, kw_only=True):
    """A stop, and the values of the expressions that belong to it.

    Attributes:
        hit: how often the program has stopped at this place by now.
        again: whether the stop before was at this place.
        interpreter: the one that did not find a module, if that is the reason of the stop.

    """

    stop: StopReport
    hit: int
    again: bool = False
    values: list[ExpressionValue] | None = None
    interpreter: str | None = None


class RunBreakpoint(ProtocolObject, frozen=True, kw_only=True):
    """A breakpoint at the end.

    Attributes:
        breakpoint: where it was asked for.
        problem: why it had no effect, or another one than was asked for.

    """

    breakpoint: str
    verified: bool
    hits: int
    problem: str | None = None


class RunThread(ProtocolObject, frozen=True, kw_only=True):
    """Where a thread or a task stood when the time was over, innermost frame first."""

    name: str
    frames: list[FrameRow]


class StopDifference(ProtocolObject, frozen=True, kw_only=True):
    """Stops of two runs that are not alike, at one place in their order.

    Attributes:
        before: how many stops of the first run came before.
        first: stops of the first run; empty if it had no stop there.
        second: stops of the second run.

    """

    before: int
    first: list[RunStop]
    second: list[RunStop]


class RunResult(OfSession, frozen=True, kw_only=True):
    """The whole run.

    Attributes:
        output: of the program; its end, if it is long.
        omitted: characters before that.
        traceback_is_known: whether it ends with a traceback of Python that says no more than the last stop does.
        output_lines: how many of its last lines the text shows; 0 for all.
        console: messages of the debugger.
        exit_code: of the program; 128 and the signal's number, if one has killed it; absent if it is not known.
        signal: name of that signal.
        limited: the number of stops after which it was no longer stopped, if there were that many.
        seconds: the time that was over before the program had ended, which was then ended.
        has_begun: whether it had begun to run by then.
        threads: where it stood then.
        failure: why the session broke off, if it did.
        unread_input: whether the caller had an input for the program that its adapter cannot have it read.

    """

    stops: list[RunStop]
    breakpoints: list[RunBreakpoint]
    output: str
    omitted: int
    output_lines: int
    console: str
    traceback_is_known: bool = False
    exit_code: int | None = None
    signal: str | None = None
    limited: int | None = None
    seconds: float | None = None
    has_begun: bool = True
    threads: list[RunThread] | None = None
    failure: str | None = None
    unread_input: bool = False


class ComparedRuns(OfSession, frozen=True, kw_only=True):
    """Two runs of a program.

    Attributes:
        stops: how many stops each run had.
        alike: how many of them are the same in both.
        differences: between them, the first ones.
        more: how many differences are not among these.
        output_lines: the first line in which the outputs differ, of each; absent if they are the same.
        exit_codes: of each, if it is known.
        problems: why a breakpoint had no effect, or a run did not come to its end.

    """

    stops: tuple[int, int]
    alike: int
    differences: list[StopDifference]
    more: int
    exit_codes: tuple[int | None, int | None]
    problems: list[str]
    output_lines: tuple[str, str] | None = None
