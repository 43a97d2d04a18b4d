"""The interpreter's automatic garbage collection, kept out of code of the debugger.

A collection runs finalizers of the program and callbacks of its weak references, in whichever thread has made one
object too many. In the link's thread, or in one that stands, they would wait for locks that threads of the
program hold which stand as well; and `threading` would take our thread for one of the program's. So none begins while
the link's thread does something, and while a stopped thread does, except in code of the program.

It is done by the first threshold of `gc`, not by `gc.disable`, which the program may call at any time. In CPython
3.12 to 3.15 a collection that is due already finds nothing above the threshold then. Work that must be done at once is
one call of native code: between two of them another thread may run, or a collection begin.
"""

import _thread
import gc
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from _operator import call  # the C half of `operator`
from collections.abc import Callable
from typing import Any, Final

from .hidden_frames import hidden_frame

_OFF: Final = 2**31 - 1
"""A threshold that no program reaches."""

_set_threshold: Final = gc.set_threshold
_get_threshold: Final = gc.get_threshold
_switch_off: Final = partial(_set_threshold, _OFF)
_do_nothing: Final = tuple  # called without arguments: native code, and makes no object


class GcPause:
    """Whether a collection may begin.

    Invariant: the threshold is `_OFF` while any thread is in `_ours`, unless the program has set another one since.
    There is no lock: a signal handler of the program could leave it taken.
    """

    def __init__(self) -> None:
        self._ours: set[int] = set()
        """Threads that run code of the debugger."""
        self._doors: dict[int, tuple[Callable[[], None], Callable[[], None]]] = {}
        """The functions that take each of them out of there, and put it back."""
        self._thresholds = {True: _OFF, False: 0}
        """By whether there are any; the program's threshold is the second."""
        self._is_released = False

    def pause(self) -> None:
        """Let no collection begin, for the sake of the calling thread."""
        ident = _thread.get_ident()
        if ident not in self._ours and not self._is_released:
            self._ours.add(ident)
            self._doors[ident] = partial(self._ours.discard, ident), partial(self._ours.add, ident)
            self._note(_get_threshold()[0])
            _set_threshold(_OFF)

    def resume(self) -> bool:
        """Let collections begin, as far as the calling thread is concerned; return whether `pause` is to follow."""
        ident = _thread.get_ident()
        if ident not in self._ours:
            return False
        self._note(_get_threshold()[0])
        self._ours.discard(ident)
        self._doors.pop(ident, None)
        self._switch()()
        return True

    @hidden_frame
    def wait[T](self, wait: Callable[[], T], working: _thread.LockType | None = None) -> T:
        """Call native code that waits, and let collections begin meanwhile; a lock `working` is free meanwhile, too."""
        ident = _thread.get_ident()
        release, take = (working.release, working.acquire) if working is not None else (_do_nothing, _do_nothing)
        result: T
        if ident not in self._ours:
            alone: tuple[Callable[[], Any], ...] = (release, wait, take)
            _, result, _ = map(call, alone)
            return result
        self._note(_get_threshold()[0])
        leave, enter = self._doors[ident]
        steps: tuple[Callable[[], Any], ...] = (
            *(leave, self._switch(), release),
            wait,
            *(take, _get_threshold, _switch_off, enter),
        )
        try:
            _, _, _, result, _, thresholds, _, _ = map(call, steps)
        except BaseException:  # of a signal handler
            self.pause()
            raise
        self._note(thresholds[0])
        return result

    def _switch(self) -> Callable[[], object]:
        """Return native code that sets the threshold from `_ours` at the time of its call."""
        switch: Callable[[], object] = partial(
            next, map(_set_threshold, map(self._thresholds.__getitem__, map(bool, (self._ours,))))
        )
        return switch

    def _note(self, threshold: int) -> None:
        """Record a threshold that the program has set."""
        if threshold != _OFF:
            self._thresholds[False] = threshold

    def release(self) -> None:
        """Let collections begin from now on, for good: in the child of a fork."""
        self._is_released = True
        self._ours.clear()
        self._doors.clear()
        if _get_threshold()[0] == _OFF:
            _set_threshold(self._thresholds[False])


gc_pause: Final = GcPause()
"""The pause of this process."""
