"""The arrival of a child process: it tells the debugger of itself, and waits for a session of its own.

The debugger listens at a unix socket, the door, in a folder that only our own user can enter. The child connects, says
who it is in one frame (the event `dapkit/child`), and listens at a socket of its own beside the door. Either a process
of the same user connects there, which is the adapter of the child's session, or the socket is closed: then the child
continues undebugged. There is no thread in this, so that it can be done in the child of a fork, and before the engine
is loaded.
"""

import _socket
import os

from ..connection import local_socket
from ..connection.framing import Json, encode
from ..system import READABLE, new_poll, user

ARRIVED = "dapkit/child"


def connect(listener_path: str, name: str, arguments: list[str]) -> _socket.socket | None:
    """Wait for a session; return the connection to its adapter, None if this process is to keep running undebugged."""
    try:
        debugger = local_socket.connect(listener_path)
    except OSError:
        return None  # the debugger has gone
    path = os.path.join(os.path.dirname(listener_path), f"child-{os.getpid()}-{os.urandom(4).hex()}")
    listening: _socket.socket | None = None
    try:
        if local_socket.user_of(debugger) not in {0, user()}:
            return None
        listening = local_socket.listen(path)
        about: Json = {
            "name": name,
            "processId": os.getpid(),
            "parentId": os.getppid(),
            "socket": path,
            "arguments": arguments,
        }
        debugger.sendall(encode({"seq": 1, "type": "event", "event": ARRIVED, "body": about}))
        return _first(listening, debugger)
    except OSError:
        return None  # the debugger has gone
    finally:
        debugger.close()
        if listening is not None:
            listening.close()
            _remove(path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # the debugger has removed it


def _first(listening: _socket.socket, debugger: _socket.socket) -> _socket.socket | None:
    """Wait for the first connection of our own user; None if the debugger closes its door before."""
    poll = new_poll()
    poll.register(listening, READABLE)
    poll.register(debugger, READABLE)
    while True:
        ready = [place for place, _ in poll.poll()]
        if listening.fileno() in ready:
            handle, _ = listening._accept()  # type: ignore[attr-defined]  # the base of socket.accept
            connection = _socket.socket(fileno=handle)
            connection.setblocking(True)  # noqa: FBT003 - its only parameter
            if local_socket.user_of(connection) == user():
                return connection
            connection.close()
        elif debugger.fileno() in ready:
            return None
