"""Forks of the program: the engine's state in the parent, and in the child.

The child is not debugged, nor is any child of it: it lets go of everything of ours, once, and the hooks, which
cannot be unregistered, do nothing there from then on. The parent is debugged as before; while it forks, the
link's thread rests if the program has one thread, which must not be warned that it has two.

A process that executes the recording of a child does not fork, but the interpreter treats it as the child: it forgets
all other threads. There the link's thread rests in any case, and the engine stays.
"""

import _thread
import sys
from collections.abc import Callable

from ..connection.link import Link
from ..execution.history_role import HistoryRole
from ..execution.states import ThreadStates
from ..system import at_fork
from ..threads.table import ThreadTable
from .link_thread import LinkThread
from .monitoring_callbacks import MonitoringCallbacks


class Forks:
    """The steps at each fork.

    Invariant: while `_rests`, nothing serves the link; no thread stops then.
    """

    def __init__(
        self,
        link: Link,
        link_thread: LinkThread,
        threads: ThreadTable,
        states: ThreadStates,
        callbacks: MonitoringCallbacks,
    ) -> None:
        """Take the engine's parts."""
        self._link = link
        self._link_thread = link_thread
        self._threads = threads
        self._states = states
        self._callbacks = callbacks
        self._rests = False
        self._forks_again = False

    def look_after(self, forget_in_child: Callable[[], None], role: HistoryRole | None) -> None:
        """Be called at each fork from here on, as the role in a history has it; there is no way to end that."""
        wrapper = None if role is None else role.fork_wrapper
        self._forks_again = role is not None and role.forks_again
        in_child = self.end_rest if self._forks_again else forget_in_child
        hooks: list[Callable[..., object]] = [self.rest, self.go_on, in_child]
        before, after_in_parent, after_in_child = hooks if wrapper is None else map(wrapper, hooks)
        at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)

    def rest(self) -> None:
        """End the link's thread before a fork.

        Threads that must stop have stopped by then: their events would bring the thread back.
        """
        ident = _thread.get_ident()
        if self._states.released or ident == self._threads.link or not self._states.configured:
            return
        forking = sys._getframe().f_back  # None where native code forks
        while not self._rests or (forking is not None and self._states.must_park(ident)):
            self.end_rest()
            if forking is not None:
                self._callbacks.park_before_fork(forking)
            if not self._forks_again and not self._threads.alone():
                return
            self._rests = True
            self._link.rest()
            self._link_thread.wait_for_end()
        self._link_thread.wait_until_gone()

    def go_on(self) -> None:
        """Let the link be served again, in the parent."""
        if not self._rests:
            return
        # From 3.13 on the interpreter counts the threads only after this. At a stop it may: nothing is executed there.
        if sys.version_info < (3, 13) or self._states.stands(_thread.get_ident()):
            self.end_rest()
        else:
            self._callbacks.at_next_instruction_of(sys._getframe(1), self.end_rest)

    def end_rest(self) -> None:
        """Let the link be served, if it is not: the program continues after a fork, or is about to stop."""
        if self._rests:
            self._link_thread.start()
            self._rests = False  # after it: where the system gives no thread, the next fork tries again

    def forget(self) -> None:
        """Record that this process is a child, in which nothing is to be served."""
        self._rests = False
