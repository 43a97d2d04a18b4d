"""How bytes move: streams, child processes, gates, and the pump over them."""

from dapkit.transport.authentication import AUTHENTICATE
from dapkit.transport.child import ChildProcess, StderrSink, spawn
from dapkit.transport.child_on_socket import PLACEHOLDERS, spawn_listening
from dapkit.transport.connection import Connection, Incoming, Watch
from dapkit.transport.errors import (
    CannotStart,
    ConversationLost,
    DeadlineExceeded,
    NotAdmitted,
    NotPrivate,
    TransportError,
    Unreachable,
)
from dapkit.transport.gate import ConnectionHandler
from dapkit.transport.group_reaper import GroupReaper
from dapkit.transport.memory import memory_pair
from dapkit.transport.private_files import (
    LOOPBACK,
    check_private_folder,
    left_token,
    new_token,
    private_folder,
    read_token,
    token_file,
    token_left_for,
)
from dapkit.transport.process import ProcessGroup
from dapkit.transport.recorder import Recorder
from dapkit.transport.signals import ignored_signals, with_default_signals
from dapkit.transport.state_change import StateChange
from dapkit.transport.stdio import stdio
from dapkit.transport.tasks import EagerTasks, background_tasks
from dapkit.transport.tcp import connect_tcp, listen_tcp, listen_tcp_unproven
from dapkit.transport.unix import connect_unix, listen_unix, remove_dead_sockets
from dapkit.transport.wire_buffer import WireBuffer, WireHead, WireRecord, WireTap
from dapkit.transport.writer import Tap

__all__ = [
    "AUTHENTICATE",
    "LOOPBACK",
    "PLACEHOLDERS",
    "CannotStart",
    "ChildProcess",
    "Connection",
    "ConnectionHandler",
    "ConversationLost",
    "DeadlineExceeded",
    "EagerTasks",
    "GroupReaper",
    "Incoming",
    "NotAdmitted",
    "NotPrivate",
    "ProcessGroup",
    "Recorder",
    "StateChange",
    "StderrSink",
    "Tap",
    "TransportError",
    "Unreachable",
    "Watch",
    "WireBuffer",
    "WireHead",
    "WireRecord",
    "WireTap",
    "background_tasks",
    "check_private_folder",
    "connect_tcp",
    "connect_unix",
    "ignored_signals",
    "left_token",
    "listen_tcp",
    "listen_tcp_unproven",
    "listen_unix",
    "memory_pair",
    "new_token",
    "private_folder",
    "read_token",
    "remove_dead_sockets",
    "spawn",
    "spawn_listening",
    "stdio",
    "token_file",
    "token_left_for",
    "with_default_signals",
]
