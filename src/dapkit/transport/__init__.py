"""How bytes move: streams, child processes, gates, and the pump over them."""

from dapkit.transport.child import ChildProcess, spawn
from dapkit.transport.connection import Connection, Incoming, Tap
from dapkit.transport.errors import CannotStart, ConversationLost, DeadlineExceeded, NotAdmitted, TransportError
from dapkit.transport.memory import memory_pair
from dapkit.transport.stdio import stdio

__all__ = [
    "CannotStart",
    "ChildProcess",
    "Connection",
    "ConversationLost",
    "DeadlineExceeded",
    "Incoming",
    "NotAdmitted",
    "Tap",
    "TransportError",
    "memory_pair",
    "spawn",
    "stdio",
]
