"""Requests that stop the program or let it go on."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, flag
from ..execution.stepping import INTO, OUT, OVER, STATEMENT, UNITS, StepKind
from ..interpreter.errors import RequestRefused
from ..threads.table import ALL_THREADS
from .bytecode import chosen_call, statements_of_line
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def continue_(engine: "Engine", request: IncomingRequest) -> Json:
    """Let the program continue, or one thread of it; a suspended task continues with the thread of its loop."""
    thread_id = request.arguments.get("threadId")
    if thread_id == ALL_THREADS:
        engine.stops.need_stop(engine.stops.standing or engine.threads.main)
        request.afterwards = lambda: _go_on(engine, 0, single=False)
        return {"allThreadsContinued": True}
    task = engine.threads.task(thread_id)
    ident = engine.threads.ident(thread_id) if task is None else engine.threads.of_task(task)
    engine.stops.need_stop(ident)
    single = flag(request, "singleThread", default=engine.stops.each_alone)
    request.afterwards = lambda: _go_on(engine, ident, single=single)
    return {"allThreadsContinued": not single}


def next_(engine: "Engine", request: IncomingRequest) -> None:
    """Step over."""
    _step(engine, request, OVER)


def step_in(engine: "Engine", request: IncomingRequest) -> None:
    """Step into."""
    _step(engine, request, INTO)


def step_out(engine: "Engine", request: IncomingRequest) -> None:
    """Step out."""
    _step(engine, request, OUT)


def _step(engine: "Engine", request: IncomingRequest, kind: StepKind) -> None:
    thread_id = request.arguments.get("threadId")
    if engine.threads.task(thread_id) is not None:
        raise RequestRefused(f"thread {thread_id} is suspended; step the thread that runs it")
    ident = engine.threads.ident(thread_id)
    engine.stops.need_stop(ident)
    unit = request.arguments.get("granularity") or STATEMENT
    if unit not in UNITS:
        raise RequestRefused(f"granularity {unit!r} is unknown; there are {', '.join(UNITS)}")
    parked = engine.stops.parked.get(ident)
    if parked is None:
        raise RequestRefused("the thread is inside native code and cannot be stepped; continue, or step another")
    alone = engine.stops.each_alone or not engine.options.step_resumes_all
    single = flag(request, "singleThread", default=alone)
    target = chosen_call(engine, request, parked) if kind == INTO else None
    offsets = statements_of_line(engine, parked.shown) if unit == STATEMENT and kind != OUT else frozenset()

    def begin() -> None:
        parked.resumed_alone = True
        engine.stepping.start(
            ident,
            OVER if target is not None else kind,
            parked.shown,
            leaving=parked.leaving,
            before_line=parked.before_line,
            unit=unit,
            offsets=offsets,
            call=target.call if target is not None else None,
        )

    def go() -> None:
        if not single and not engine.threads.alone():  # a client takes a step for the step of one thread
            engine.link.event("continued", {"threadId": thread_id, "allThreadsContinued": True})
        _go_on(engine, ident, single=single, begin=begin)

    request.afterwards = go


def _go_on(engine: "Engine", ident: int, *, single: bool, begin: Callable[[], None] | None = None) -> None:
    """Let all threads continue, or a single one, once a step has begun if there is one."""
    engine.looks.mend_tool()  # an expression may have freed it during the stop
    with engine.lock:
        if begin is not None:
            begin()
        engine.stepping.watch_nothing_everywhere()
        left_behind = [
            each.ident
            for each in engine.stops.parked.values()
            if each.is_left_behind and (not single or each.ident == ident)
        ]
        engine.stops.resume(ident if single else None)
    for each in left_behind:
        text = "is still in an evaluation that cannot be interrupted, and continues once that has ended"
        engine.link.event("output", {"category": "console", "output": f"{engine.threads.name(each)} {text}.\n"})


def pause(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Stop the program where it is, or one thread of it."""
    number = request.arguments.get("threadId")
    idents = _all_to_pause(engine) if number == ALL_THREADS else [engine.threads.ident(number)]
    if not engine.states.configured:
        raise RequestRefused("the program has not started yet; it waits for configurationDone")

    # First the events that stop threads, then the response, for which the link's thread may have to wait while others
    # run: who must wait for the lock until then reports its stop after the response.
    with engine.lock:
        for ident in idents:
            engine.stops.pause(ident)
        request.answer(None)
    return DEFERRED


def _all_to_pause(engine: "Engine") -> list[int]:
    """Return the threads to pause so that all stand: any one, unless each stops alone."""
    return list(engine.threads.frames()) if engine.stops.each_alone else [engine.threads.main]


HANDLERS: Final[dict[str, Handler]] = {
    "continue": continue_,
    "next": next_,
    "stepIn": step_in,
    "stepOut": step_out,
    "pause": pause,
}
