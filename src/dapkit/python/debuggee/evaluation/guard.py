"""The deadline over the program's own code, which may never come back."""

import _thread
from collections.abc import Callable
from time import monotonic

from ..interpreter import limits
from ..interpreter.errors import NotBegun, TimeIsUp
from ..interpreter.gc_pause import gc_pause
from ..interpreter.gc_tracking import untrack
from ..interpreter.thread_checks import in_link_thread, let_go
from . import interrupts
from .quarantine import quarantined


class EvaluationGuard:
    """A deadline over the program's own code, in one thread.

    Invariant: an interruption is sent only while `call` runs, and is received or withdrawn before `call` ends; so it
    never reaches code outside of it. A call may be part of another one, whose deadline it keeps too.
    """

    def __init__(self, seconds: float) -> None:
        untrack(self)
        self.ident = 0
        self._end = float("inf")
        self._seconds = seconds
        self._until: float | None = None
        self._sent = 0.0  # when the first interruption was, 0 for never
        self._sent_last = 0.0
        self._lock = _thread.RLock()
        self._woken = False
        self._asked_to_stop = False
        self._can_wake = False

    def begin(self) -> None:
        """Start the time of the whole work, in the thread that does it."""
        self.ident = _thread.get_ident()
        self._end = min(self._end, monotonic() + self._seconds)
        self._can_wake = interrupts.prepare()

    def end(self) -> None:
        """End the whole work."""
        if self._can_wake:
            interrupts.undo()

    def call[**P, T](self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that may never return.

        Raises:
            TimeIsUp: if it took longer than `seconds`.
            NotBegun: if the whole work took its time already.

        """
        now = monotonic()
        around = self._until  # of the call that this one is part of
        if now >= self._end:
            raise NotBegun
        is_ours = gc_pause.resume()  # before an interruption can come
        try:
            try:
                self._until = min(now + seconds, self._end, self._end if around is None else around)
                return function(*args, **kwargs)
            finally:
                if self._close(around):
                    interrupts.interrupt(self.ident, None)
        except TimeIsUp:
            self._close_for_certain(around)
            raise
        finally:
            if is_ours:
                gc_pause.pause()

    def call_quarantined[**P, T](
        self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call code on behalf of the client: without output, and without an end of the process.

        Raises:
            ExitRefused: it tried to end the process.
            TimeIsUp: as `call` does, after all has been put back.

        """
        return quarantined(lambda: self.call(seconds, function, *args, **kwargs))

    def stand_still(self) -> float:
        """Stop the clock, since the code of the program is stopped itself; return the argument of `go_on`."""
        with self._lock:
            seconds = (self._until or 0.0) - monotonic()
            self._until = float("inf")
            return seconds

    def go_on(self, seconds: float) -> None:
        """Let the clock continue."""
        with self._lock:
            if not self._asked_to_stop:
                self._until = monotonic() + seconds
                self._end = max(self._end, self._until)

    def _close(self, around: float | None) -> bool:
        with self._lock:
            self._until = 0.0 if around is not None and self._asked_to_stop else around
            self._woken = False
            sent_at, self._sent = self._sent, 0.0
            return sent_at > 0

    def _close_for_certain(self, around: float | None) -> None:
        """Close after an interruption, which may have come before or in `_close`.

        On 3.14 it can come between taking a lock in a `with` statement and entering its block, so that the lock
        stays taken; it is therefore one that its owner can release. A second interruption is the signal's.
        """
        while True:
            try:
                if self._close(around):
                    interrupts.interrupt(self.ident, None)
                let_go(self._lock)
            except TimeIsUp:
                continue
            return

    @in_link_thread
    def look(self, now: float) -> bool:
        """Interrupt work that is over its time; return whether even that did not help."""
        with self._lock:
            if self._until is None or now < self._until:
                return False
            if not self._sent:
                self._sent = self._sent_last = monotonic()
                interrupts.interrupt(self.ident, TimeIsUp)
                return False
            if now >= self._sent_last + limits.GRACE_SECONDS:  # it was caught there, perhaps not the next time
                self._sent_last = now
                self._woken = False
                interrupts.interrupt(self.ident, TimeIsUp)
            if not self._woken:  # it may wait in native code, which wakes only for a signal
                self._woken = True
                interrupts.wake(self.ident)
            return now >= self._sent + limits.GRACE_SECONDS

    @in_link_thread
    def stop(self) -> None:
        """Interrupt the running work, and let it end soon."""
        with self._lock:
            self._end = 0.0
            self._asked_to_stop = True
            if self._until is not None:
                self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Return whether code of the program runs in it."""
        return self._until is not None

    def give_up(self) -> None:
        """Let the work end soon: no more code of the program in it."""
        self._end = 0.0
