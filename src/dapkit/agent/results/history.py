"""The recorded history of a program."""

from collections.abc import Sequence

from dapkit.agent.results.snapshot import OfSession
from dapkit.protocol.time_travel import HistoryMoment, HistoryStop, WhyInput, WhyStep


class WhyResult(OfSession, frozen=True, kw_only=True):
    """The line that last changed a value.

    Without `line`, the value has not changed since the beginning of the history.

    Attributes:
        clock: when that line began: how many lines of the program's own code were begun by then. Absent if that was
            before the history began.
        path: of its file.
        function: that it is in.
        line: its number.
        old: the value before the change; absent if there was no value.
        new: the value after the change; absent if there is no value.
        unchanged_since: from which clock on it has not changed, where the time was over before the search was done.
        chain: with `follow`, the lines that the value has come by, the latest first.
        ends: why the chain ends with its last line.
        inputs: the values that the value was computed from there.
        writes: how many writes were seen in another run, where there is no history; absent if there is one.
        doubt: why the line may be another one.

    """

    expression: str
    clock: int | None = None
    path: str | None = None
    function: str | None = None
    line: int | None = None
    old: str | None = None
    new: str | None = None
    unchanged_since: int | None = None
    chain: Sequence[WhyStep] = ()
    ends: str | None = None
    inputs: Sequence[WhyInput] = ()
    writes: int | None = None
    doubt: str | None = None


class TimelineResult(OfSession, frozen=True, kw_only=True):
    """The recorded history of a program, in clocks: how many lines of its own code were begun.

    Attributes:
        beginning: where it begins.
        now: the moment that is shown.
        live: where the live program last stopped.
        checkpoints: where checkpoints of the program were made.
        stops: of the live program, the latest ones.
        earlier_stops: how many there were before those.

    """

    beginning: int
    now: int
    live: int
    checkpoints: list[HistoryMoment]
    stops: list[HistoryStop]
    earlier_stops: int
