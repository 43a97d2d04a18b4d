"""The link's thread: its beginning, its end, and its identity.

    starts -> serves --a rest--> has ended, until it is started again
                 |  ^
                 |  +-- an internal error: once more
                 +-- the link is no longer usable, or a second error --> `over`, which decides the program's fate

In a program that clients come to, the thread that listens for them becomes it by `take`.
"""

import _thread
import os
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from types import MappingProxyType

from ..connection.framing import Json
from ..connection.internal_errors import RELEASED_EVENT
from ..connection.link import Link
from ..connection.thread import start_thread
from ..execution.states import ThreadStates
from ..interpreter import limits
from ..interpreter.hidden_frames import hidden_frame
from ..system import IS_LINUX
from ..threads.table import ThreadTable

_ATTEMPTS = 2
"""How often the link is served, if an internal error ends that."""


class LinkThread:
    """The thread that serves the link of one session.

    Invariant: there is one at most; `_serving` is held while one lives that was started here.
    """

    def __init__(
        self,
        link: Link,
        threads: ThreadTable,
        states: ThreadStates,
        *,
        lock: _thread.RLock,
        handle: Callable[[Json], None],
        over: Callable[[], None],
        complain: Callable[[str], None],
    ) -> None:
        """Take the engine's parts, the handler of a message, and the function to call at the end of the link."""
        self._link = link
        self._threads = threads
        self._states = states
        self._lock = lock
        self._handle = handle
        self._over = over
        self._complain = complain
        self._task = 0
        self._join: Callable[[float], None] | None = None  # only of a thread that was started here
        self._known = _thread.allocate_lock()
        self._serving = _thread.allocate_lock()

    def start(self) -> None:
        """Start it, and return when it is known which thread it is.

        Raises:
            RuntimeError: the system gives no thread.

        """
        self._known.acquire()
        self._serving.acquire()
        try:
            self._join = start_thread(self._live)
        except RuntimeError:
            self._serving.release()
            self._known.release()
            raise
        with self._known:  # released once the thread has said who it is
            return

    def wait_for_end(self) -> None:
        """Wait until it serves the link no more."""
        with self._serving:
            return

    def wait_until_gone(self) -> None:
        """Wait, after its end, until the system does not count it any more, for the interpreter counts so at a fork.

        Python 3.12 cannot join it: there Linux is asked for it, and another system may still count it. The calling
        thread must not be about to stop: functions of Python are called.
        """
        if self._join is not None:
            self._join(limits.REST_SECONDS)
            return
        deadline = monotonic() + limits.REST_SECONDS
        while IS_LINUX and os.path.exists(f"/proc/self/task/{self._task}") and monotonic() < deadline:
            sleep(0)

    def take(self) -> None:
        """Make the calling thread the link's."""
        with self._lock:
            self._states.forget(self._threads.link)
            self._threads.link = _thread.get_ident()
            self._task = _thread.get_native_id()
            self._states.move(self._threads.link, "exempt")

    @hidden_frame
    def serve(self, others: Mapping[int, Callable[[], None]] = MappingProxyType({})) -> bool:
        """Serve the link in the calling thread; once more after an internal error. Return whether it rests."""
        for _ in range(_ATTEMPTS):
            try:
                return self._link.serve(self._handle, others)
            except BaseException as error:
                self._link.errors.show(error, "the link's thread")
        self._complain("The debugger cannot go on because of internal errors; the program runs on without it.")
        self._link.event(RELEASED_EVENT, {})
        return False

    @hidden_frame
    def _live(self) -> None:
        """Serve the link until it rests or is no longer usable."""
        self.take()
        self._known.release()
        try:
            if not self.serve():
                self._over()
        finally:
            self._serving.release()
