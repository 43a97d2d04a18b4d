"""Requests for diagnostics, beyond the protocol: the heap, locks that are taken, and the lines of a call.

The work is in `heap`, `threads.locks` and `execution.call_traces`.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..heap import snapshot
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..loader import PACKAGE
from ..threads.locks import SeenLock, taken_locks
from .handler import Handler
from .values import why_not_evaluated

if TYPE_CHECKING:
    from ..engine.engine import Engine

FOLDER: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""Of the engine's modules."""


def heap(_engine: "Engine", _request: IncomingRequest) -> Json:
    """Take a snapshot here, in the link's thread: it needs no thread of the program, which may run or stand."""
    body: Json = snapshot(
        seconds=limits.HEAP_SECONDS,
        most=limits.HEAP_OBJECTS,
        rows=limits.HEAP_ROWS,
        trace_bytes=limits.HEAP_TRACE_BYTES,
        debuggers=(PACKAGE,),
        folders=(FOLDER,),
    )
    return body


def locks(engine: "Engine", _request: IncomingRequest) -> Json:
    """Look for locks here, in the link's thread: it needs no thread of the program, which may run or stand."""
    frames = engine.threads.frames()
    return {"locks": [_row(engine, lock, frames) for lock in taken_locks(frames, engine.sources)]}


def _row(engine: "Engine", lock: SeenLock, frames: Mapping[int, object]) -> Json:
    row: Json = {
        "kind": lock.kind,
        "count": lock.count,
        "places": [
            {
                "threadId": engine.threads.number(ident),
                "function": frame.f_code.co_qualname,
                "path": frame.f_code.co_filename,
                "line": frame.f_lineno or 0,
                "expression": expression,
            }
            for ident, frame, expression in lock.places
        ],
    }
    if lock.owner is not None and lock.owner in frames:
        row["ownerId"] = engine.threads.number(lock.owner)
    elif lock.owner is not None:
        row["endedOwner"] = lock.owner
    return row


def trace_call(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Trace the call in which a thread is stopped, with the next step of that thread."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    engine.stops.need_stop(ident)
    parked = engine.stops.parked.get(ident)
    if parked is None or parked.leaving or engine.stops.history is not None:
        raise RequestRefused("the call cannot be traced here; step through it")
    frame = parked.shown
    depth, most = number(request, "depth"), number(request, "lines")

    def work(guard: EvaluationGuard) -> Json:
        return engine.callbacks.traces.begin(ident, frame, guard, depth=depth, most=most)

    def instead(has_begun: bool) -> Json:
        raise RequestRefused(why_not_evaluated(engine, ident, has_begun=has_begun))

    engine.jobs.post(ident, Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead))
    return DEFERRED


def call_trace(engine: "Engine", request: IncomingRequest) -> Json:
    """Return the lines of a traced call so far, and note no further ones."""
    trace = engine.callbacks.traces.end(engine.threads.ident(request.arguments.get("threadId")))
    if trace is None:
        raise RequestRefused("no call of this thread is traced")
    return {"lines": trace.lines, "isCut": trace.is_cut}


HANDLERS: Final[dict[str, Handler]] = {
    "dapkit/heap": heap,
    "dapkit/locks": locks,
    "dapkit/traceCall": trace_call,
    "dapkit/callTrace": call_trace,
}
