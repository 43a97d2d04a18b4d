"""Messages of engines to the adapter about time travel, and messages to an engine that must show a moment."""

from typing import Any

import msgspec

from dapkit.protocol.time_travel import WhyBody

BRANCHED_EVENT = "dapkit/branched"
STANDS_EVENT = "dapkit/stands"
"""Says at which clock a program with time travel is about to stop."""
HISTORY_ENDS_EVENT = "dapkit/historyEnds"
RECORDING_ENDS_EVENT = "dapkit/recordingEnds"
SCANNED_EVENT = "dapkit/scanned"

HISTORY_ENDED = 'Time travel: the history ends where the program began a second thread ("threads": "end").\n'
"""For the user of a program that keeps running without a history."""


class FrameIdentity(msgspec.Struct):
    """By which number a frame is known in each replay process."""

    identity: int


class Watched(msgspec.Struct):
    """An observation of a value on the way of a process; `absent` if the value did not exist at the end.

    `frame` is the identity of the frame of the change, if its line began before the process watched.
    """

    how: str
    change: WhyBody | None = None
    frame: int = 0
    absent: bool = False


class StopPosition(msgspec.Struct, rename="camel"):
    """A stop of the program: its output so far, and the number of checkpoints made.

    `time`, in microseconds since 1970, comes from a recording; otherwise it is 0. `is_over` says whether its history
    has ended before.
    """

    clock: int = 0
    copies: int = 0
    written: int = 0
    time: int = 0
    is_over: bool = False


class Hit(msgspec.Struct, rename="camel"):
    """A stop that a scan has come by."""

    clock: int
    reason: str
    details: dict[str, Any]
    at_line: bool = True


class Scanned(msgspec.Struct):
    """The last stop that a scan has come by, if there was one."""

    last: Hit | None = None
    how: str = ""


class HistoryEnded(msgspec.Struct):
    """A replay process has come to where the live program is stopped, or has ended otherwise."""

    how: str = ""


class RecordingEnded(StopPosition):
    """A recording was executed again to its end, or as far as it could be."""

    how: str = ""


class ArrivalStop(msgspec.Struct):
    """A stop as the engine of a replay process reports it."""

    reason: str
    details: dict[str, Any] = msgspec.field(default_factory=dict)
