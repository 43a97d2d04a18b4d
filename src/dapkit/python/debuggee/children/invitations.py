"""A child without a session waits for invitations: a thread of the debugger, which loads the engine only for a session.

The adapter of a later session invites this process at its `FamilySocket`. The child then goes to the adapter as a child
does that has just been started, and is served as a program that clients attach to (`starting.attachable`).
"""

import atexit
import os
import sys

from .. import loader
from ..connection import current_engine
from ..connection.thread import start_thread
from ..interpreter.hidden_frames import hidden_frame
from ..system import at_fork
from .child_handshake import connect
from .family_socket import FamilySocket


class ReceivedInvitations:
    """The invitations to this process.

    Invariant: `_process` is the process that has set the hooks at its forks and its end, 0 before.
    """

    def __init__(self) -> None:
        self._socket: FamilySocket | None = None
        self._process = 0

    def wait_for(self, family: str, name: str) -> None:
        """Accept them from now on, in a thread of the debugger.

        Raises:
            OSError: no socket can be made.
            RuntimeError: no thread can be started, because the interpreter is ending.

        """
        self._forget_in_child()  # its own hook may be a later one
        if not self._process:
            at_fork(after_in_child=self._forget_in_child)
            atexit.register(self._remove)
        self._process = os.getpid()
        family_socket = self._socket = FamilySocket(family)
        main = current_engine.main_thread()
        try:
            start_thread(hidden_frame(lambda: self._accept(family_socket, name, main)))
        except RuntimeError:
            self.refuse()
            raise

    def refuse(self) -> None:
        """Accept none any more: the program lets clients come in another way."""
        family_socket, self._socket = self._socket, None
        if family_socket is not None:
            family_socket.close()

    @hidden_frame
    def _accept(self, family_socket: FamilySocket, name: str, main: int) -> None:
        """Go where invitations lead, and serve each adapter that wants this process until it leaves."""
        while (listener_path := family_socket.wait()) is not None:
            if current_engine.expects_clients:
                continue  # a debugger serves this process already
            connection = connect(listener_path, name, list(sys.orig_argv))
            if connection is not None:
                loader.load("starting.attachable").serve_as_child(connection, name, main)
                del connection

    def _remove(self) -> None:
        if self._socket is not None:
            self._socket.remove()

    def _forget_in_child(self) -> None:
        """Let go of the socket in the child of a fork, once: the thread has stayed with the parent."""
        if self._process in {0, os.getpid()}:
            return
        self._process = os.getpid()
        if self._socket is not None:
            self._socket.forget()
            self._socket = None


invitations = ReceivedInvitations()
