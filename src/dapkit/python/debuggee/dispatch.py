"""Requests of the adapter: a table from command to handler, and what each answers.

What a handler is, is said in `handling`; handlers of a topic of their own live in modules `requests_TOPIC`.
The order on the wire and the start of a session are described in `entry`.
"""

import os
from types import FrameType
from typing import TYPE_CHECKING, Final

from . import limits, requests_values
from .errors import RequestRefused
from .exceptions import FILTERS, information
from .handling import LATER, Handler, Later, flag, number
from .jobs import Guard, Job, Request
from .stepping import INTO, OUT, OVER, Kind
from .wire import Json

if TYPE_CHECKING:
    from .engine import Engine


CAPABILITIES: Final[Json] = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsEvaluateForHovers": True,
    "supportsClipboardContext": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsSingleThreadExecutionRequests": True,
    "exceptionBreakpointFilters": FILTERS,
}


class Dispatcher:
    """Answers every request exactly once."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def handle(self, message: Json) -> None:
        """Take a message from the link. What is no request gets no answer."""
        if message.get("type") != "request" or not isinstance(message.get("seq"), int):
            return
        request = Request(message, self._engine.link)
        command = message.setdefault("command", "")
        try:
            body = self._handler(command, request)(self._engine, request)
        except RequestRefused as refusal:
            request.refuse(str(refusal))
        except Exception as error:
            request.refuse(f"internal error of the debugger: {type(error).__name__}: {error}")
        else:
            if not isinstance(body, Later):
                request.answer(body)

    @staticmethod
    def _handler(command: object, request: Request) -> Handler:
        handler = HANDLERS.get(command) if isinstance(command, str) else None
        if handler is None:
            raise RequestRefused(f"unknown command {command!r}")
        arguments = request.message.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise RequestRefused(f"the arguments of {command} are {arguments!r:.200}, expected an object")
        request.arguments = arguments
        return handler


# The session


def initialize(engine: "Engine", request: Request) -> Json:
    """Tell what the engine can do."""
    request.afterwards = lambda: engine.link.event("initialized", {})
    return CAPABILITIES


def launch(engine: "Engine", request: Request) -> None:
    """Take the options of the session; the program itself is on the command line."""
    engine.stop_on_entry = flag(request, "stopOnEntry", default=False)
    engine.stepping.just_my_code = flag(request, "justMyCode", default=True)


def configuration_done(engine: "Engine", request: Request) -> None:
    """Let the program start."""
    if engine.configured:
        raise RequestRefused("configurationDone was sent already")
    request.afterwards = engine.configuration_done


def terminate(engine: "Engine", _request: Request) -> None:
    """Ask the program to end."""
    engine.terminate()


def disconnect(engine: "Engine", request: Request) -> None:
    """End the program, or leave it to itself."""
    if flag(request, "terminateDebuggee", default=True):
        request.afterwards = lambda: os._exit(limits.LINK_LOST_EXIT_CODE)
    else:
        request.afterwards = engine.release


# Breakpoints


def set_breakpoints(engine: "Engine", request: Request) -> Json:
    """Replace the breakpoints of one file."""
    source = request.arguments.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    if not isinstance(path, str) or not path:
        raise RequestRefused(f"setBreakpoints needs source.path; source is {source!r}")
    asked = request.arguments.get("breakpoints") or []
    if not isinstance(asked, list) or not all(isinstance(one, dict) for one in asked):
        raise RequestRefused(f"breakpoints is {asked!r:.200}, expected a list of objects")
    key = engine.sources.show_as(path)
    if key is None:
        raise RequestRefused(f"{path} is no file")
    breakpoints = engine.callbacks.breakpoints
    answers, good = breakpoints.prepare(path, asked)
    with engine.lock:
        breakpoints.place(key, good)
        engine.callbacks.choose_line()
    return {"breakpoints": answers}


def set_exception_breakpoints(engine: "Engine", request: Request) -> Json:
    """Replace the exception filters."""
    filters = request.arguments.get("filters") or []
    if not isinstance(filters, list):
        raise RequestRefused(f"filters is {filters!r}, expected a list of texts")
    with engine.lock:
        engine.exceptions.set([str(one) for one in filters])
    return {"breakpoints": [{"verified": True} for _ in filters]}


# Going on


def continue_(engine: "Engine", request: Request) -> Json:
    """Let the program go on, or one thread of it."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    engine.world.need_stop(ident)
    single = flag(request, "singleThread", default=False)
    request.afterwards = lambda: _go_on(engine, ident, single=single)
    return {"allThreadsContinued": not single}


def next_(engine: "Engine", request: Request) -> None:
    """Step over."""
    _step(engine, request, OVER)


def step_in(engine: "Engine", request: Request) -> None:
    """Step into."""
    _step(engine, request, INTO)


def step_out(engine: "Engine", request: Request) -> None:
    """Step out."""
    _step(engine, request, OUT)


def _step(engine: "Engine", request: Request, kind: Kind) -> None:
    ident = engine.threads.ident(request.arguments.get("threadId"))
    engine.world.need_stop(ident)
    granularity = request.arguments.get("granularity") or "statement"
    if granularity not in ("statement", "line"):
        raise RequestRefused(f"granularity {granularity!r} is not supported; there are statement and line")
    parked = engine.world.parked.get(ident)
    if parked is None:
        raise RequestRefused("the thread is inside native code and cannot be stepped; continue, or step another")
    single = flag(request, "singleThread", default=False)

    def go() -> None:
        with engine.lock:
            parked.chosen = True
            engine.stepping.start(ident, kind, parked.shown, leaving=parked.leaving)
        _go_on(engine, ident, single=single)

    request.afterwards = go


def _go_on(engine: "Engine", ident: int, *, single: bool) -> None:
    with engine.lock:
        engine.stepping.forget_unwinding()
        engine.world.resume(ident if single else None)


def pause(engine: "Engine", request: Request) -> None:
    """Stop the program where it is."""
    number = request.arguments.get("threadId")
    ident = engine.threads.ident(number) if number else engine.threads.main
    if not engine.configured:
        raise RequestRefused("the program has not started yet; it waits for configurationDone")
    request.afterwards = lambda: engine.world.pause(ident)


# Looking


def threads(engine: "Engine", _request: Request) -> Json:
    """List the threads."""
    return {"threads": engine.threads.listing()}


def stack_trace(engine: "Engine", request: Request) -> Json:
    """List the frames of a thread, stopped or running."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    return engine.stacks.page(
        _frames_of(engine, ident),
        ident,
        number(request, "startFrame"),
        number(request, "levels"),
        stopped=engine.world.must_park(ident),
    )


def _frames_of(engine: "Engine", ident: int) -> list[tuple[FrameType, int]]:
    parked = engine.world.parked.get(ident)
    if parked is not None:
        return engine.stacks.of_parked(parked)
    return engine.stacks.walk(engine.threads.frames().get(ident))


def exception_info(engine: "Engine", request: Request) -> Later:
    """Tell of the exception that a thread is stopped at."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    parked = engine.world.parked.get(ident)
    exception = parked.exception if parked is not None else None
    if parked is None or exception is None:
        raise RequestRefused("the thread is not stopped at an exception")
    frames = engine.stacks.of_parked(parked)
    mode = parked.break_mode

    def work(guard: Guard) -> Json:
        return information(exception, mode, frames, guard)

    def instead(_begun: bool) -> Json:
        return information(exception, mode, frames, None)

    engine.world.post(ident, Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead))
    return LATER


HANDLERS: Final[dict[str, Handler]] = {
    "initialize": initialize,
    "launch": launch,
    "configurationDone": configuration_done,
    "terminate": terminate,
    "disconnect": disconnect,
    "setBreakpoints": set_breakpoints,
    "setExceptionBreakpoints": set_exception_breakpoints,
    "continue": continue_,
    "next": next_,
    "stepIn": step_in,
    "stepOut": step_out,
    "pause": pause,
    "threads": threads,
    "stackTrace": stack_trace,
    "exceptionInfo": exception_info,
    **requests_values.HANDLERS,
}
