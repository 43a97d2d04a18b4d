"""The requests for traces of calls; the work is in `execution.call_traces`."""

from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from .handler import Handler
from .values import why_not_evaluated

if TYPE_CHECKING:
    from ..engine.engine import Engine


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


HANDLERS: Final[dict[str, Handler]] = {"dapkit/traceCall": trace_call, "dapkit/callTrace": call_trace}
