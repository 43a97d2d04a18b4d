"""How bytes move: streams, child processes, gates, and the pump over them."""

from dapkit.transport.child import ChildProcess, spawn
from dapkit.transport.connection import Connection, Incoming, Tap, Watch
from dapkit.transport.errors import CannotStart, ConversationLost, DeadlineExceeded, NotAdmitted, TransportError
from dapkit.transport.guard import Guard
from dapkit.transport.memory import memory_pair
from dapkit.transport.process import ProcessGroup
from dapkit.transport.pulse import Pulse
from dapkit.transport.stdio import stdio
from dapkit.transport.tasks import background_tasks

__all__ = [
    "CannotStart",
    "ChildProcess",
    "Connection",
    "ConversationLost",
    "DeadlineExceeded",
    "Guard",
    "Incoming",
    "NotAdmitted",
    "ProcessGroup",
    "Pulse",
    "Tap",
    "TransportError",
    "Watch",
    "background_tasks",
    "memory_pair",
    "spawn",
    "stdio",
]
