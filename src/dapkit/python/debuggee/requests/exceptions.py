"""Requests about exceptions: which to stop at, and details of the raised one."""

from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..exceptions.details import information
from ..exceptions.table import read
from ..exceptions.traceback_text import TracebackWriter
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..stacks.frames import frames_only
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def set_exception_breakpoints(engine: "Engine", request: IncomingRequest) -> Json:
    """Replace the exception breakpoints."""
    arguments = request.arguments
    breakpoints, answers = read(
        arguments.get("filters"), arguments.get("filterOptions"), arguments.get("exceptionOptions")
    )
    with engine.lock:
        engine.exceptions.set(breakpoints)
    return {"breakpoints": answers}


def exception_info(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Describe the exception that a thread is stopped at."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    parked = engine.stops.parked.get(ident)
    exception = parked.exception if parked is not None else None
    if parked is None or exception is None:
        raise RequestRefused("the thread is not stopped at an exception")
    frames = list(frames_only(engine.stacks.of_parked(parked)))
    del frames[engine.options.exception_frames or len(frames) :]
    mode = parked.break_mode
    writer = TracebackWriter(engine.sources, engine.texts)

    def work(guard: EvaluationGuard) -> Json:
        return information(exception, mode, frames, guard, writer)

    def instead(_begun: bool) -> Json:
        return information(exception, mode, frames, None, writer)

    engine.jobs.post(ident, Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead))
    return DEFERRED


HANDLERS: Final[dict[str, Handler]] = {
    "setExceptionBreakpoints": set_exception_breakpoints,
    "exceptionInfo": exception_info,
}
