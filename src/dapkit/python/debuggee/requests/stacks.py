"""Requests about threads and their stacks."""

from types import FrameType
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..stacks.frames import Naming, StackEntries
from ..stacks.names import in_native_call, naming, plain_name, wants_values
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def threads(engine: "Engine", _request: IncomingRequest) -> Json:
    """List the threads, and at a stop the suspended asyncio tasks and greenlets."""
    return {"threads": engine.threads.listing(engine.states.stands, engine.stepping.may_show)}


def stack_trace(engine: "Engine", request: IncomingRequest) -> Json | Deferred:
    """List the frames of a thread, stopped or running, or of a suspended task."""
    thread_id = request.arguments.get("threadId")
    form = request.arguments.get("format") or {}
    if not isinstance(form, dict):
        raise RequestRefused(f"format is {form!r:.200}, expected an object")
    start, levels = number(request, "startFrame"), number(request, "levels")
    frames = engine.threads.frames()  # once: there may be thousands
    task = engine.threads.task(thread_id)
    if task is not None:
        ident = engine.threads.of_task(task)
        engine.stops.need_stop(ident)
    else:
        ident = engine.threads.ident(thread_id, frames)
    newest = frames.get(ident)
    del frames  # frames of other threads may return meanwhile
    stopped = engine.states.stands(ident)
    if stopped and ident not in engine.stops.parked and engine.stops.since() < limits.PARK_SECONDS:
        # It may still be on its way to where it will stand.
        engine.link.after(limits.SETTLE_TICK_SECONDS, lambda: engine.dispatcher.again(request))
        return DEFERRED
    whole = form.get("includeAll") is True
    entries = engine.stacks.of_task(task) if task is not None else _entries(engine, ident, newest, whole=whole)
    is_native = task is None and stopped and ident not in engine.stops.parked
    native = newest if is_native else None
    if native is not None:
        engine.stops.seen_in_native.add(ident)

    def page(names: Naming) -> Json:
        return engine.stacks.page(
            entries, ident, start=start, levels=levels, stopped=stopped, naming=in_native_call(names, native)
        )

    if not form:
        return page(plain_name)
    if not stopped or not wants_values(form):
        return page(naming(form, None, with_values=stopped))

    def work(guard: EvaluationGuard) -> Json:
        return page(naming(form, guard, with_values=True))

    def instead(_begun: bool) -> Json:
        return page(naming(form, None, with_values=True))

    engine.jobs.post(ident, Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead))
    return DEFERRED


def _entries(engine: "Engine", ident: int, newest: FrameType | None, *, whole: bool) -> StackEntries:
    parked = engine.stops.parked.get(ident)
    if parked is not None:
        return engine.stacks.of_parked(parked, whole=whole)
    return engine.stacks.of_running(newest, whole=whole)


def terminate_threads(engine: "Engine", request: IncomingRequest) -> None:
    """End threads by SystemExit, so that their `finally` blocks run."""
    thread_ids = request.arguments.get("threadIds")
    if not isinstance(thread_ids, list) or not thread_ids:
        raise RequestRefused(f"threadIds is {thread_ids!r:.200}, expected a list of threads")
    idents: list[int] = []
    for thread in thread_ids:
        task = engine.threads.task(thread)
        if task is not None:
            raise RequestRefused(f"thread {thread} is suspended; only its runner can end it")
        idents.append(engine.threads.ident(thread))
        if idents[-1] == engine.threads.main:
            raise RequestRefused("the main thread cannot be ended alone; end the program with terminate")

    def end() -> None:
        for ident in idents:
            engine.end_thread(ident)

    request.afterwards = end


HANDLERS: Final[dict[str, Handler]] = {
    "threads": threads,
    "stackTrace": stack_trace,
    "terminateThreads": terminate_threads,
}
