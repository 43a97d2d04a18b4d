"""The handshakes of real adapters, as scripts for a `FakeAdapter`.

They differ in when `initialized` comes and when launch is answered; a client has
to get along with each of them. Breakpoints are verified where they are asked
for; the program stops at its entry after configurationDone, and ends with the
session.
"""

from collections.abc import Mapping
from types import MappingProxyType

from dapkit.protocol import (
    Breakpoint,
    Capabilities,
    InitializedEvent,
    OutputEvent,
    Request,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    StoppedEvent,
    TerminatedEvent,
    Thread,
    ThreadsBody,
)
from dapkit.testing.peers import Script, Step
from dapkit.testing.steps import blurt, hold, release, reply, tell

_CAPABILITIES = Capabilities(supports_configuration_done_request=True)
_ENTRY = StoppedEvent(reason="entry", thread_id=1, all_threads_stopped=True)


def _verified(request: Request) -> SetBreakpointsBody:
    arguments = request.arguments
    requested = (arguments.breakpoints or []) if isinstance(arguments, SetBreakpointsArguments) else []
    return SetBreakpointsBody(breakpoints=[Breakpoint(verified=True, line=each.line) for each in requested])


def _handshake(*, initialize: tuple[Step, ...] = (reply(_CAPABILITIES),), start: tuple[Step, ...]) -> Script:
    return {
        "initialize": initialize,
        "launch": start,
        "attach": start,
        "setBreakpoints": [reply(_verified)],
        "configurationDone": [reply(), release("configured"), tell(_ENTRY)],
        "threads": [reply(ThreadsBody(threads=[Thread(id=1, name="main")]))],
        "disconnect": [tell(TerminatedEvent()), reply()],
    }


_INITIALIZED = tell(InitializedEvent())
_GREETING = OutputEvent(output="GNU gdb\n", category="console")

HANDSHAKES: Mapping[str, Script] = MappingProxyType(
    {
        "lldb-dap": _handshake(start=(_INITIALIZED, hold("configured"), reply())),
        "lldb-dap 19": _handshake(start=(reply(), _INITIALIZED)),
        "delve": _handshake(start=(_INITIALIZED, reply())),
        "rdbg": _handshake(initialize=(reply(_CAPABILITIES), _INITIALIZED), start=(reply(),)),
        "js-debug": _handshake(start=(_INITIALIZED, _INITIALIZED, hold("configured"), reply())),
        "gdb": _handshake(
            initialize=(blurt(_GREETING, _GREETING), reply(_CAPABILITIES)),
            start=(_INITIALIZED, hold("configured"), reply()),
        ),
    }
)
"""Scripts by the adapter that behaves so."""
