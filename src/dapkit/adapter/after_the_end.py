"""Responses to requests that arrive after the program has ended.

These are not mistakes: they were on their way, or a client asks for everything once more before it disconnects. VS Code
asks for `breakpointLocations` of open files, dape sends `terminate` after each end, Helix `disconnect` twice. None has
its handler called: there is nothing that it could ask. Lists are empty, breakpoints are not verified, and requests to
end the session succeed; all others fail without a notification.
"""

from typing import Any, Final

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    Arguments,
    Breakpoint,
    BreakpointLocationsBody,
    CompletionsBody,
    DataBreakpointInfoBody,
    GotoTargetsBody,
    LoadedSourcesBody,
    ModulesBody,
    ProtocolObject,
    RawJson,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    SetDataBreakpointsArguments,
    SetDataBreakpointsBody,
    SetExceptionBreakpointsBody,
    SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsBody,
    SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsBody,
    StackTraceBody,
    StepInTargetsBody,
    ThreadsBody,
    error_message,
)

type AnyArguments = Arguments[Any] | RawJson | None

_ENDED: Final = "the debug session has ended"
_BODIES: Final[dict[str, ProtocolObject | None]] = {
    "breakpointLocations": BreakpointLocationsBody(breakpoints=[]),
    "completions": CompletionsBody(targets=[]),
    "configurationDone": None,
    "dataBreakpointInfo": DataBreakpointInfoBody(data_id=None, description=_ENDED),
    "disconnect": None,
    "gotoTargets": GotoTargetsBody(targets=[]),
    "loadedSources": LoadedSourcesBody(sources=[]),
    "modules": ModulesBody(modules=[], total_modules=0),
    "setExceptionBreakpoints": SetExceptionBreakpointsBody(),
    "stackTrace": StackTraceBody(stack_frames=[], total_frames=0),
    "stepInTargets": StepInTargetsBody(targets=[]),
    "terminate": None,
    "terminateThreads": None,
    "threads": ThreadsBody(threads=[]),
}
"""Responses that do not depend on the arguments."""


def answer_after_the_end(command: str, arguments: AnyArguments) -> ProtocolObject | None:
    """Return the body of the response to a request that came when there was no program any more.

    Raises:
        RequestFailed: nothing fits.

    """
    match arguments:
        case SetBreakpointsArguments():
            breakpoints = arguments.breakpoints if arguments.breakpoints is not None else arguments.lines
            return SetBreakpointsBody(breakpoints=_unverified(breakpoints or []))
        case SetFunctionBreakpointsArguments():
            return SetFunctionBreakpointsBody(breakpoints=_unverified(arguments.breakpoints))
        case SetDataBreakpointsArguments():
            return SetDataBreakpointsBody(breakpoints=_unverified(arguments.breakpoints))
        case SetInstructionBreakpointsArguments():
            return SetInstructionBreakpointsBody(breakpoints=_unverified(arguments.breakpoints))
    if command in _BODIES:
        return _BODIES[command]
    text = f"{command}: {_ENDED}"
    raise RequestFailed(text, error=error_message(text))


def _unverified(breakpoints: list[Any]) -> list[Breakpoint]:
    return [Breakpoint(verified=False, message=_ENDED) for _ in breakpoints]
