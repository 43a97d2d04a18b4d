"""Requests that begin and end a session, and the responses of a program that runs without debugging."""

import os
from typing import TYPE_CHECKING, Final

from ..children import launch_hooks
from ..connection import current_engine
from ..connection.framing import Json
from ..connection.request import IncomingRequest, flag, number
from ..engine import child
from ..exceptions.filters import read_exit_codes
from ..interpreter import native
from ..interpreter.errors import RequestRefused
from ..loader import load
from ..program import termination as asking_to_end
from ..sources.files import working_folder
from ..sources.own_code_rules import read_rules
from ..templates.kinds import choose
from ..values.presenters.project import PROJECT
from ..values.row_types import read_presentation
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine

_FREE_THREADED: Final = (
    "This Python is a free-threaded build: time travel does not work, "
    "and data breakpoints on variables, attributes and items of dicts are checked at each line, which is slower.\n"
    if native.AVAILABLE
    else "This Python is a free-threaded build for which dapkit was installed without its C extension: "
    "time travel does not work, and conditions, exception breakpoints and data breakpoints are slower.\n"
)


def launch(engine: "Engine", request: IncomingRequest) -> Json:
    """Take the options of the session; the program itself is on the command line."""
    engine.options.read(request)
    engine.link.marks.begin(engine.options.marked_pipes, memory=engine.options.output_memory)
    rules = read_rules(engine.options.rules)
    without_file = choose(engine.options.templates)
    engine.sources.obey(rules.code, just_my_code=engine.options.just_my_code, without_file=without_file)
    engine.exceptions.rules = rules.exceptions
    arguments = request.arguments
    engine.exceptions.exit_codes = read_exit_codes(arguments.get("breakOnSystemExit"), arguments.get("quietExitCodes"))
    if engine.options.travel is not None:
        load("time_travel.record").claim(engine)
    if engine.options.debugs and current_engine.config["subProcess"]:
        if engine.options.children:
            child.follow(engine.options.children)
        elif engine.options.announces_children:
            child.announce()
    engine.reader.presentation = read_presentation(arguments.get("variablePresentation"))
    files = arguments.get("presenters")
    PROJECT.use([text for text in files if isinstance(text, str)] if isinstance(files, list) else [])
    texts = arguments.get("recordedTexts")
    engine.shown.recorded = texts if isinstance(texts, dict) else {}
    if native.IS_FREE_THREADED:
        engine.link.event("output", {"category": "console", "output": _FREE_THREADED})
    return {"cwd": working_folder()}


def attach(engine: "Engine", request: IncomingRequest) -> Json:
    """Take the options of the session with a program that runs already."""
    if engine.owned:
        raise RequestRefused("the program was launched by its debugger; it cannot be attached to")
    body = launch(engine, request)
    engine.take_hold()
    request.afterwards = engine.tell_of_program
    return {**body, "pid": os.getpid(), "family": launch_hooks.family()}


def configuration_done(engine: "Engine", request: IncomingRequest) -> None:
    """Let the program start."""
    if engine.states.configured:
        raise RequestRefused("configurationDone was sent already")
    request.afterwards = engine.configuration_done


def terminate(engine: "Engine", request: IncomingRequest) -> None:
    """Ask the program to end."""
    asking_to_end.need_listener()
    request.afterwards = engine.terminate


def disconnect(engine: "Engine", request: IncomingRequest) -> None:
    """End the program, or leave it to itself, running or suspended."""
    options = engine.options
    options.closes_listener = flag(request, "closesListener", default=options.closes_listener)
    if flag(request, "terminateDebuggee", default=engine.owned):
        request.afterwards = engine.end
    elif flag(request, "suspendDebuggee", default=False):
        request.afterwards = engine.suspend
    else:
        request.afterwards = engine.release


def output_taken(engine: "Engine", request: IncomingRequest) -> None:
    """Record that some of our output has reached the client."""
    engine.link.note_taken(number(request, "characters"))


HANDLERS: Final[dict[str, Handler]] = {
    "launch": launch,
    "attach": attach,
    "configurationDone": configuration_done,
    "terminate": terminate,
    "disconnect": disconnect,
    "dapkit/outputTaken": output_taken,
}

# Without debugging


def _unused(_engine: "Engine", request: IncomingRequest) -> Json:
    breakpoints = request.arguments.get("breakpoints") or []
    count = len(breakpoints) if isinstance(breakpoints, list) else 0
    return {"breakpoints": [{"verified": False, "message": "the program runs without debugging"}] * count}


def _refused(_engine: "Engine", request: IncomingRequest) -> Json:
    raise RequestRefused(f"{request.message['command']}: the program runs without debugging (noDebug)")


WITHOUT_DEBUGGING: Final[dict[str, Handler]] = {
    "setBreakpoints": _unused,
    "setFunctionBreakpoints": _unused,
    "setExceptionBreakpoints": _unused,
    "setDataBreakpoints": _unused,
    "setInstructionBreakpoints": _unused,
    "pause": _refused,
}
"""The responses of a program that must not be stopped."""
