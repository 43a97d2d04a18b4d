"""Why a program broke off."""

from dapkit.agent.results.history import WhyResult
from dapkit.agent.results.run import RunThread
from dapkit.agent.results.session import PassedStep, StopReport
from dapkit.agent.results.snapshot import OfSession
from dapkit.agent.results.values import VariableRow
from dapkit.protocol import ProtocolObject


class AutopsyFrame(ProtocolObject, frozen=True, kw_only=True):
    """A frame of the user's own code.

    Attributes:
        text: the line in which it stands.
        variables: the suspicious ones first, then those in that line.
        suspicious: names of variables that are empty, or not a number, or that refer to nothing.
        more: how many variables are not shown.
        problem: why its variables could not be read.

    """

    index: int
    function: str
    line: int
    text: str
    variables: list[VariableRow]
    suspicious: list[str]
    more: int
    path: str | None = None
    problem: str | None = None


class AutopsyResult(OfSession, frozen=True, kw_only=True):
    """The end of a program, or the signal or exception that ends it.

    Attributes:
        stop: where it broke off; absent if it did not.
        frames: of the user's own code, innermost first.
        more_frames: how many further ones there are.
        last_lines: the lines that the program carried out last, if there is a recorded history.
        origins: where the suspicious values of the innermost frame come from, if there is a recorded history.
        output: of the program; its end.
        seconds: the time that was over while the program still ran.
        threads: where it stood then.

    """

    frames: list[AutopsyFrame]
    more_frames: int
    stop: StopReport | None = None
    last_lines: list[PassedStep] | None = None
    origins: list[WhyResult] | None = None
    output: str = ""
    exit_code: int | None = None
    signal: str | None = None
    seconds: float | None = None
    threads: list[RunThread] | None = None
    failure: str | None = None
