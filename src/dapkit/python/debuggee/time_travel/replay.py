"""A process that shows the past: executed from a checkpoint to its goal, with an engine of its own.

    checkpoint --replay--> at the goal: a new engine, and a stop as the adapter wants it
               --scan----> a new engine at once, whose stops are only noted; at the goal it reports them, and ends
               --steps---> nothing; at the goal it reports where the frames of the stack were before, and ends
               --frame---> the same, when one of those frames has begun its first line
               --watch---> at each line, the value of an expression, or which line it is; at the goal it reports its
                           last change, or when that line began, and ends. Or, at no line, the writes to dicts

The engine that was there when the process was copied belongs to the live program, and is dropped. The log after the
goal is history as well, up to the present moment of the live program.
"""

import _socket
import _thread
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

from .. import loader
from ..connection import current_engine
from ..connection.framing import FrameReader, Json, body_of
from ..engine.engine import Engine
from ..evaluation.jobs import as_it_is
from ..execution.history_role import HistoryRole
from ..execution.parked_thread import ParkedThread
from ..interpreter.gc_tracking import untrack_members
from ..interpreter.recursion_headroom import with_headroom
from ..interpreter.thread_frames import stack_of
from .replay_backend import backend
from .value_watches import DataWatch, LineWatch, ValueWatch
from .write_watch import WriteWatch

HISTORY_ENDS: Final = "dapkit/historyEnds"
SCANNED: Final = "dapkit/scanned"

_ENDED: Final = 0


class _Scan:
    """The last of the stops that a scan has come by."""

    def __init__(self) -> None:
        self.is_under_way = False
        self.last: Json | None = None

    def note(self, parked: ParkedThread, reason: str, details: Json) -> None:
        """Record a stop, and let the program continue."""
        self.last = {"clock": backend.clock(), "reason": reason, "details": details, "atLine": parked.at_line}


def _stands() -> Json:
    return {"clock": backend.clock(), "written": backend.count_written()}


_scan = _Scan()
_engines: list[Engine] = []
_watches: list[ValueWatch | LineWatch | WriteWatch] = []


def run(kind: str, descriptor: int, known_frame: int) -> None:
    """Do this process's work; called by C, in place of the program at its present position, or after its end."""
    frame = sys._getframe().f_back
    try:
        if frame is None:
            _end_after_program(kind, descriptor)
        else:
            _arrive(frame, kind, descriptor, known_frame)
    except Exception as error:  # the program must not continue with it, and it would be lost
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = "" if where is None else f" in {where.tb_frame.f_code.co_qualname}, line {where.tb_lineno}"
        try:
            os.write(descriptor, f"failed {type(error).__name__}: {error}{place}\n".encode())
        finally:
            os._exit(_ENDED)


def _arrive(frame: FrameType, kind: str, descriptor: int, known_frame: int) -> None:
    if kind == "steps":
        _report_steps(frame, descriptor, known_frame)
    elif kind == "frame":
        _report_first_line(descriptor, known_frame)
    elif kind == "birth":
        _answer(descriptor, {"how": kind, "write": backend.last_write()})
    elif _watches:
        _report_change(kind, frame, descriptor)
    elif kind in ("watch", "look"):
        _begin_watch(frame, descriptor)
    elif _engines and _scan.is_under_way:
        _say_and_end(SCANNED, {"last": _scan.last, "how": kind})
    elif _engines:
        _say_and_end(HISTORY_ENDS, {"how": kind})
    elif kind == "scan":
        _scan.is_under_way = True
        _begin_engine(descriptor, scanner=_scan.note)
    else:
        engine = _begin_engine(descriptor, arrival=backend.clock())
        backend.go_on_to_end(engine.options.past_end)
        stop = engine.options.past_stop
        if stop is None:
            return
        parked = ParkedThread(_thread.get_ident(), frame, at_line=True, before_line=True)  # the clock is called first
        engine.stops.show(parked, stop.reason, stop.details)


def _end_after_program(kind: str, descriptor: int) -> None:
    if _engines and _scan.is_under_way:
        _say_and_end(SCANNED, {"last": _scan.last, "how": kind})
    if _engines:
        _say_and_end(HISTORY_ENDS, {"how": kind})
    _answer(descriptor, {"how": kind})


def leave() -> None:
    """Record that this process is the live program from now on."""
    _engines.clear()


def _begin_engine(
    descriptor: int,
    *,
    scanner: Callable[[ParkedThread, str, Json], None] | None = None,
    arrival: int | None = None,
) -> Engine:
    """Start an engine that takes the requests of the adapter; return once it is configured."""
    before = current_engine.engine
    assert isinstance(before, Engine)  # noqa: S101 - says so to mypy
    before.forget_in_child()
    dispatcher = loader.load("requests.dispatch").Dispatcher
    ident = _thread.get_ident()
    main, folder = before.threads.main or ident, before.sources.folder
    is_of_recording = before.options.travel is not None and before.options.travel.recording is not None
    role = HistoryRole(
        _stands,
        backend.clock,
        backend.object_at,
        callback_wrapper=backend.engine_context,
        fork_wrapper=backend.engine_context,
        forks_again=is_of_recording,
        job_wrapper=backend.read_only(as_it_is),
        scanner=scanner,
        arrival=arrival,
    )
    connection = _socket.socket(fileno=descriptor)
    engine = Engine(connection, before.name, dispatcher, main=main, folder=folder, history=role)
    current_engine.engine = engine
    _engines.append(engine)
    engine.start_in_past()
    untrack_members(engine)
    return engine


def _say_and_end(event: str, body: Json) -> NoReturn:
    [engine] = _engines
    engine.link.event(event, body)
    os._exit(_ENDED)


def _report_steps(frame: FrameType, descriptor: int, known_frame: int) -> None:
    """Report when the innermost frame of the stack that has begun a line before has done so.

    If that was before the checkpoint, report the identity of the frame: an earlier process gets it as `known_frame`,
    since it may be suspended there, and another one at its depth.
    """
    clock = max(backend.last_tick_of(known_frame), 0) if known_frame else 0
    for older in [] if known_frame else stack_of(frame):
        clock = backend.last_tick(older)
        if clock > 0:
            break
        if clock < 0 and backend.is_of_program(older):
            known_frame = backend.identity(older)
            break
    _socket.socket(fileno=descriptor).sendall(b"steps %d %d\n" % (max(clock, 0), known_frame))
    os._exit(_ENDED)


def _watch_for(target: Json) -> ValueWatch | LineWatch | WriteWatch:
    place, line, test = target.get("place"), target.get("line"), target.get("test")
    if isinstance(line, dict):
        return LineWatch(line)
    where = place if isinstance(place, dict) else {}
    if target.get("onlyWrites"):
        return WriteWatch(str(target["expression"]), where)
    return DataWatch(target, where, test) if isinstance(test, dict) else ValueWatch(str(target["expression"]), where)


def _begin_watch(frame: FrameType, descriptor: int) -> None:
    """Look at each line from here on: the adapter sends the target, as a message."""
    reader, messages = FrameReader(), list[Json]()
    while not messages:
        data = os.read(descriptor, 4096)
        if not data:
            os._exit(_ENDED)
        messages = reader.feed(data)
    watch = _watch_for(messages[0])
    _watches.append(watch)
    until = messages[0].get("until")
    if isinstance(until, int):
        backend.go_on_to_end(until)
    if isinstance(watch, WriteWatch):
        if messages[0].get("onlyName"):
            _answer(descriptor, {"how": "look", **watch.named_at(frame)})
        if watch.is_too_early:
            _answer(descriptor, {"how": "watch", "isTooEarly": True})
        watch.begin(frame)
        return
    if isinstance(watch, ValueWatch):
        watch.begin({ident: other for ident, other in sys._current_frames().items() if ident != _thread.get_ident()})
    watch.line(frame, backend.clock())

    backend.look_at_lines(
        with_headroom(lambda: watch.line(sys._getframe(1), backend.clock())),
        with_headroom(lambda: watch.leave(sys._getframe(1))),
        with_headroom(lambda: watch.resume(sys._getframe(1))),
    )


def _report_change(kind: str, frame: FrameType, descriptor: int) -> None:
    """Report the result of the watch."""
    [watch] = _watches
    report = watch.report(frame) if isinstance(watch, WriteWatch) else watch.report(frame, backend.clock())
    _answer(descriptor, {"how": kind, **report})


def _answer(descriptor: int, body: Json) -> NoReturn:
    os.write(descriptor, body_of(body) + b"\n")
    os._exit(_ENDED)


def _report_first_line(descriptor: int, known_frame: int) -> None:
    """Report when a frame has begun its first line; 0 if it was there before the checkpoint."""
    first = backend.first_tick_of(known_frame)
    clock = backend.clock() if first == 0 else max(first, 0)
    _socket.socket(fileno=descriptor).sendall(b"steps %d %d\n" % (clock, known_frame))
    os._exit(_ENDED)
