"""Messages of engines to the adapter about time travel, and messages to an engine that must show a moment."""

from typing import Any

import msgspec

from dapkit.protocol.time_travel import WhyBody, WhyInput, WhyStep

BRANCHED_EVENT = "dapkit/branched"
STANDS_EVENT = "dapkit/stands"
"""Says at which clock a program with time travel is about to stop."""
HISTORY_ENDS_EVENT = "dapkit/historyEnds"
RECORDING_ENDS_EVENT = "dapkit/recordingEnds"
SCANNED_EVENT = "dapkit/scanned"

_SETTINGS = {
    "libgomp": "set OMP_NUM_THREADS=1 in its environment",
    "libomp": "set OMP_NUM_THREADS=1 in its environment",
    "libiomp": "set OMP_NUM_THREADS=1 in its environment",
    "libarrow": "call pyarrow.set_cpu_count(1) first, and read with use_threads=False",
}
"""How a program keeps a library, by the beginning of its file's name, from beginning threads."""


def history_ended(library: str) -> str:
    """Return the message for the user of a program that keeps running without a history.

    Args:
        library: the file of the library that began a thread; empty if the program began one.

    """
    if not library:
        return 'Time travel: the history ends where the program began a second thread ("threads": "end").\n'
    file = library.rpartition("/")[2]
    setting = next((text for name, text in _SETTINGS.items() if file.startswith(name)), "")
    way = f" To go back in the rest of the program, {setting}." if setting else ""
    return f"Time travel: the history ends where {library} began a thread that the interpreter does not know.{way}\n"


class FrameIdentity(msgspec.Struct):
    """By which number a frame is known in each replay process."""

    identity: int


class Origin(msgspec.Struct):
    """Where the value came from that a line has bound: an expression to `follow`, or the reason why it ends there."""

    text: str = ""
    returns: list[WhyStep] = []
    follow: str | None = None
    place: dict[str, Any] | None = None
    ends: str = ""
    inputs: list[WhyInput] = []


class Watched(msgspec.Struct, rename="camel"):
    """An observation of a value on the way of a process; `absent` if the value did not exist at the end.

    `frame` is the identity of the frame of the change, if its line began before the process watched, and `after` the
    clock of the line that was begun last before the value was there. `doubt` names the two lines, of different threads,
    either of which may have made the change; empty if it is known. `write` is the
    clock of the last write to its data, 0 if there was none; where `is_known` is false, there may have been others.
    `is_too_early` says that the object did not exist yet where the process began. `named_at` are the addresses of the
    object and its type as the variable of its place leads to it at the end, zeros if the variable does not exist;
    `was_named` says that it led to the object where the process began.
    """

    how: str
    change: WhyBody | None = None
    frame: int = 0
    after: int = 0
    doubt: str = ""
    absent: bool = False
    write: int = 0
    is_known: bool = False
    is_too_early: bool = False
    named_at: tuple[int, int] = (0, 0)
    was_named: bool = False


class StopPosition(msgspec.Struct, rename="camel"):
    """A stop of the program: its output so far, and the number of checkpoints made.

    `time`, in microseconds since 1970, comes from a recording; otherwise it is 0. `is_over` says whether its history
    has ended before; `ended_by` names the library whose thread has ended it.
    """

    clock: int = 0
    copies: int = 0
    written: int = 0
    time: int = 0
    is_over: bool = False
    ended_by: str = ""


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
