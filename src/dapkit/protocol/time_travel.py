"""Requests beyond the specification about the recorded history of a program; an adapter answers them if it records one.

A moment is identified by its clock: how many lines of the program's own code were begun. More is in
`docs/reference/python/time-travel.md`.
"""

from collections.abc import Sequence
from typing import Final

from dapkit.protocol.base import Arguments, EventBody, ProtocolObject

TIMELINE: Final = "dapkit/timeline"
"""A request without arguments, answered by a `TimelineBody`; the event tells that there is more of it."""
STEP_BACK_INTO: Final = "dapkit/stepBackInto"
TRAVEL_TO: Final = "dapkit/travelTo"
WHY: Final = "dapkit/why"


class TravelToArguments(Arguments[None], frozen=True, kw_only=True):
    """Which moment is to be shown.

    Attributes:
        clock: how many lines of the program's own code were begun by then.
        from_beginning: execute it again from the first copy of the program, not from the nearest.

    """

    command = TRAVEL_TO

    clock: int
    from_beginning: bool = False


class StepBackIntoArguments(Arguments[None], frozen=True, kw_only=True):
    """The line that was begun before is to be shown, in whichever function."""

    command = STEP_BACK_INTO


class HistoryMoment(ProtocolObject, frozen=True, kw_only=True):
    """A moment of the history of a program.

    Attributes:
        clock: how many lines of the program's own code were begun by then.
        time: when that was, in seconds since 1970.
        output: bytes that the program had written by then to its standard output and standard error.

    """

    clock: int
    time: float
    output: int


class HistoryStop(HistoryMoment, frozen=True, kw_only=True):
    """A moment when the live program stopped.

    Attributes:
        reason: as of its `stopped` event.
        thread_id: the thread that it stopped in, if one.

    """

    reason: str
    thread_id: int | None = None


class TimelineBody(ProtocolObject, frozen=True, kw_only=True):
    """The recorded history of a program.

    Attributes:
        beginning: the clock where it begins.
        now: the clock of the moment that is shown.
        output: bytes that the program had written by then to its standard output and standard error.
        live: the clock of the live program when it last stopped.
        checkpoints: where checkpoints of the program were made, from which other moments are reached.
        stops: of the live program, the latest ones.

    """

    beginning: int
    now: int
    output: int = 0
    live: int
    checkpoints: list[HistoryMoment]
    stops: list[HistoryStop]


class TimelineEvent(EventBody, frozen=True, kw_only=True):
    """The live program has stopped: its history is longer now.

    Attributes:
        live: the clock of that moment.

    """

    event = TIMELINE

    live: int


class TimelineArguments(Arguments[TimelineBody], frozen=True, kw_only=True):
    """The recorded history is asked for."""

    command = TIMELINE


class WhyArguments(Arguments["WhyBody"], frozen=True, kw_only=True):
    """Which value is asked about.

    Attributes:
        expression: the value.
        frame_id: of the moment that is shown.
        seconds: how long to search; absent for as long as it takes.
        follow: also find where the new value came from, across calls, in ten steps at most.

    """

    command = WHY

    expression: str
    frame_id: int
    seconds: float | None = None
    follow: bool = False


class WhyStep(ProtocolObject, frozen=True, kw_only=True):
    """A line that a value has come by.

    Attributes:
        expression: the value that the line changed; absent if it passed the value on, as `return` does.
        clock: when the line began; absent if that was before the history began, or if the line passed the value on from
            another call.
        path: of its file.
        function: that it is in.
        line: its number.
        text: of the line; empty if it is not known.
        old: the value before the change; absent if there was no value.
        new: the value after the change.

    """

    expression: str | None = None
    clock: int | None = None
    path: str
    function: str
    line: int
    text: str = ""
    old: str | None = None
    new: str | None = None


class WhyInput(ProtocolObject, frozen=True, kw_only=True):
    """An expression that a value was computed from, and the value of that."""

    expression: str
    value: str


class WhyBody(ProtocolObject, frozen=True, kw_only=True):
    """The line that last changed a value; empty if the value has not changed since the beginning.

    Attributes:
        clock: when that line began; absent if that was before the history began.
        path: of its file.
        function: that it is in.
        line: its number.
        old: the value before the change; absent if there was no value.
        new: the value after the change; absent if there is no value.
        unchanged_since: from which clock on the value has not changed, where the search ended before it was done. The
            other fields are absent then.
        chain: the lines that the value has come by, the latest first, if they were asked for.
        ends: why the chain ends with its last line.
        inputs: the values that the value was computed from there.
        doubt: which later changes would not have been seen.

    """

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
    doubt: str | None = None
