"""Drive debug adapters: sessions, their breakpoints, events, terminals and children."""

from dapkit.client.blocking import BlockingEvents, BlockingOutput, BlockingSession, BlockingTerminal
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
from dapkit.client.listening import Listener
from dapkit.client.output import Text, TextLog
from dapkit.client.session import Session
from dapkit.client.state import Ended, KnownThread, Running, Starting, State, Stopped
from dapkit.client.terminal import Terminal

__all__ = [
    "AdapterDied",
    "BlockingEvents",
    "BlockingOutput",
    "BlockingSession",
    "BlockingTerminal",
    "Breakpoints",
    "ClientError",
    "CustomEvent",
    "Ended",
    "EventStream",
    "KnownThread",
    "Listener",
    "ProgramEnded",
    "Running",
    "Session",
    "SessionBreakpoint",
    "SessionEvent",
    "StartRefused",
    "Starting",
    "State",
    "Stopped",
    "Terminal",
    "Text",
    "TextLog",
    "UnknownBreakpoint",
    "UnknownFilter",
    "WaitExpired",
]
