"""Drive debug adapters: sessions, their breakpoints, events, terminals and children."""

from dapkit.client.blocking import BlockingEvents, BlockingOutput, BlockingSession, BlockingTerminal
from dapkit.client.breakpoint_spec import (
    BreakpointSpec,
    DataLocation,
    FunctionLocation,
    InstructionLocation,
    Location,
    SourceLocation,
)
from dapkit.client.breakpoints import Breakpoints, SessionBreakpoint
from dapkit.client.errors import (
    AdapterDied,
    ClientError,
    ProgramEnded,
    StartRefused,
    UnknownBreakpoint,
    UnknownFilter,
    WaitExpired,
)
from dapkit.client.events import CustomEvent, EventStream, SessionEvent
from dapkit.client.handshake import introduction
from dapkit.client.open_options import Listener, OpenOptions
from dapkit.client.output import OutputText, TextLog
from dapkit.client.routes import Given, Listening, Reached, Route, Spawned, Tcp, Unix
from dapkit.client.session import Session
from dapkit.client.state import Ended, KnownThread, Running, Starting, State, Stopped
from dapkit.client.terminal import Terminal

__all__ = [
    "AdapterDied",
    "BlockingEvents",
    "BlockingOutput",
    "BlockingSession",
    "BlockingTerminal",
    "BreakpointSpec",
    "Breakpoints",
    "ClientError",
    "CustomEvent",
    "DataLocation",
    "Ended",
    "EventStream",
    "FunctionLocation",
    "Given",
    "InstructionLocation",
    "KnownThread",
    "Listener",
    "Listening",
    "Location",
    "OpenOptions",
    "OutputText",
    "ProgramEnded",
    "Reached",
    "Route",
    "Running",
    "Session",
    "SessionBreakpoint",
    "SessionEvent",
    "SourceLocation",
    "Spawned",
    "StartRefused",
    "Starting",
    "State",
    "Stopped",
    "Tcp",
    "Terminal",
    "TextLog",
    "Unix",
    "UnknownBreakpoint",
    "UnknownFilter",
    "WaitExpired",
    "introduction",
]
