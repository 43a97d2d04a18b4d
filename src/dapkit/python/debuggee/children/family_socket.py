"""The socket of a child without a session, by which an adapter that comes later invites it.

A program that clients attach to, and all processes that it starts, are a family. Each child of the family that no
client debugs listens at a unix socket of its own, in a folder that only our own user can enter:

    FOLDER/family-MARK-PID

The adapter of a later session finds these sockets and sends one frame to each: the event `dapkit/invitation` with
`listener`, the path of its own socket for children. The child then goes there as a child does that has just been
started (`child_handshake`).
"""

import _socket
import os
from time import monotonic, sleep

from ..connection import local_socket
from ..connection.descriptor import OwnDescriptor
from ..connection.framing import FrameReader, Json
from ..interpreter import limits
from ..interpreter.errors import MalformedFrame
from ..interpreter.gc_tracking import untrack
from ..system import READABLE, new_poll, user

INVITATION = "dapkit/invitation"


def new_family(folder: str) -> str:
    """Return the beginning of the paths of a new family."""
    return os.path.join(folder, f"family-{os.getpid()}{os.urandom(4).hex()}")


class FamilySocket:
    """The socket of this process.

    Raises:
        OSError: it cannot be made.

    """

    def __init__(self, family: str) -> None:
        self._path = f"{family}-{os.getpid()}"
        self._own = OwnDescriptor(local_socket.listen(self._path).detach())
        self._listening = self._own.socket()
        untrack(self)

    def wait(self) -> str | None:
        """Wait for an invitation, and return the path that it names; None if the program has closed the socket."""
        while self._own.is_ours():
            _wait_until_readable(self._listening, None)
            try:
                handle, _ = self._listening._accept()  # type: ignore[attr-defined]  # the base of socket.accept
            except OSError:  # the adapter has gone, the socket was closed, or no descriptor is left
                sleep(limits.TICK_SECONDS)
                continue
            visitor = _socket.socket(fileno=handle)
            try:
                listener = _invitation(visitor) if local_socket.user_of(visitor) in {0, user()} else None
            except (OSError, MalformedFrame):
                listener = None
            finally:
                visitor.close()
            if listener is not None:
                return listener
        return None

    def close(self) -> None:
        """Listen no more, end `wait`, and remove the file."""
        self.remove()
        if self._own.is_ours():
            self._listening.shutdown(_socket.SHUT_RDWR)
        self.forget()

    def forget(self) -> None:
        """Listen no more, in the child of a fork: the file belongs to the parent."""
        self._listening.detach()
        self._own.close()

    def remove(self) -> None:
        """Remove the file, as the process is about to end."""
        try:
            os.unlink(self._path)
        except OSError:
            return  # an adapter has removed it


def _wait_until_readable(connection: _socket.socket, milliseconds: float | None) -> bool:
    poll = new_poll()
    poll.register(connection, READABLE)
    return bool(poll.poll(milliseconds))


def _invitation(visitor: _socket.socket) -> str | None:
    """Return the path that a visitor sends within the time for it; None if it sends none."""
    frames = FrameReader()
    until = monotonic() + limits.TOKEN_SECONDS
    visitor.setblocking(False)  # noqa: FBT003 - its only parameter
    while (rest := until - monotonic()) > 0 and _wait_until_readable(visitor, rest * 1_000):
        data = visitor.recv(limits.TOKEN_MESSAGE_BYTES)
        if not data:
            return None
        for message in frames.feed(data):
            body = message.get("body")
            return _listener_in(body) if message.get("event") == INVITATION and isinstance(body, dict) else None
    return None


def _listener_in(body: Json) -> str | None:
    listener = body.get("listener")
    return listener if isinstance(listener, str) and os.path.isabs(listener) else None
