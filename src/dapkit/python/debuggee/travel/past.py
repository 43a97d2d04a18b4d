"""A process that shows the past: executed from a checkpoint to its goal, with an engine of its own.

    checkpoint --replay--> at the goal: a new engine, and a stop as the adapter wants it
               --scan----> a new engine at once, whose stops are only noted; at the goal it reports them, and ends
               --steps---> nothing; at the goal it reports where the frames of the stack were before, and ends

The engine that was there when the process was copied belongs to the live program, and is dropped. What comes after
the goal is history as well, up to the moment at which the live program stands.
"""

import _socket
import _thread
import os
import sys
from types import FrameType
from typing import Final

from .. import loader
from ..connection import current
from ..connection.wire import Json
from ..engine import Engine
from ..execution.parked import ParkedThread
from ..hidden import hide_parts
from .boundary import boundary

HISTORY_ENDS: Final = "dapkit/historyEnds"
SCANNED: Final = "dapkit/scanned"

_ENDED: Final = 0


class _Scan:
    """The stops that a scan has come by: the last of them, and how many."""

    def __init__(self) -> None:
        self.last: Json | None = None
        self.count = 0

    def note(self, parked: ParkedThread, reason: str, details: Json) -> None:
        """Take note of a stop, and let the program go on."""
        self.count += 1
        self.last = {"clock": boundary.clock(), "reason": reason, "details": details, "atLine": parked.at_line}


_scan = _Scan()
_engines: list[Engine] = []


def arrive(kind: str, descriptor: int, limit: int) -> None:
    """Do what this process is for; called by C, in the place of the program where it stands."""
    frame = sys._getframe(1)
    if kind == "steps":
        _report_steps(frame, descriptor, limit)
    elif _engines and _engines[0].stops.scanner is not None:
        _say_and_end(SCANNED, {"last": _scan.last, "count": _scan.count, "how": kind})
    elif _engines:
        _say_and_end(HISTORY_ENDS, {"how": kind, "clock": boundary.clock()})
    elif kind == "scan":
        _begin_engine(descriptor, aims_at_end=False).stops.scanner = _scan.note
    else:
        engine = _begin_engine(descriptor, aims_at_end=True)
        engine.stops.arrival = boundary.clock()
        stop = engine.options.past_stop
        if stop is None:
            return
        parked = ParkedThread(_thread.get_ident(), frame, at_line=True)
        engine.stops.show(parked, stop.reason, stop.details)


def _begin_engine(descriptor: int, *, aims_at_end: bool) -> Engine:
    """Have an engine that takes the requests of the adapter; return once it is configured."""
    before = current.engine
    assert isinstance(before, Engine)  # noqa: S101 - says so to mypy
    before.forget_in_child()
    dispatcher = loader.load("requests.dispatch").Dispatcher
    ident = _thread.get_ident()
    engine = Engine(_socket.socket(fileno=descriptor), before.name, dispatcher, main=before.threads.main or ident)
    current.engine = engine
    _engines.append(engine)
    engine.monitor.accompanied_by_clock(boundary.aside)
    engine.stops.clock = boundary.clock
    engine.start_in_past()
    hide_parts(engine)
    if aims_at_end:
        boundary.go_on_to_end()
    return engine


def _say_and_end(event: str, body: Json) -> None:
    [engine] = _engines
    engine.link.event(event, body)
    os._exit(_ENDED)


def _report_steps(frame: FrameType, descriptor: int, limit: int) -> None:
    """Report when the innermost frame of the stack that has begun a line before has done so.

    If none has since the checkpoint, report how deep the innermost frame lies that was there before. `limit` is what an
    earlier report has said, of a later time: frames that lie deeper were not on that stack.
    """
    chain: list[FrameType] = []
    outer: FrameType | None = frame
    while outer is not None:
        chain.append(outer)
        outer = outer.f_back
    clock, deepest = 0, 0
    for place, shown in enumerate(chain):
        depth = len(chain) - place
        if limit and depth > limit:
            continue
        last = boundary.last_tick(shown)
        if last > 0:
            clock = last
            break
        if last < 0 and not deepest:
            deepest = depth
    _socket.socket(fileno=descriptor).sendall(b"steps %d %d\n" % (clock, deepest or limit))
    os._exit(_ENDED)
