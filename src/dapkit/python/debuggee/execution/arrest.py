"""How threads that run come to notice that they are to stop.

While the whole program is stopped, events are on everywhere, so that each other thread parks at its next line,
jump or return. A thread that is to stop alone and is inside native code is only waited for in the code that it will
come back to (`NativeReturns`), so that the others run at full speed.
"""

import os
from types import CodeType, FrameType

from ..interpreter.thread_checks import under_lock
from ..threads.table import ThreadTable
from .monitor import HOLD, Monitor
from .states import ARRESTING, ThreadStates

_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep

# Threads that are to stop as soon as they come back from native code, while the others run at full speed.
#
# Such a thread is waited for in the code that it will come back to, and nowhere else. Calls of native code are noticed
# meanwhile if they run code for the first time since.


class NativeReturns:
    """The threads that are waited for, by identity, and the code that is watched for each."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._codes: dict[int, list[CodeType]] = {}

    def __contains__(self, ident: int) -> bool:
        return ident in self._codes

    @under_lock
    def expect(self, ident: int, newest: FrameType | None) -> None:
        """Wait for a thread whose newest frame in Python is this one."""
        codes: dict[int, CodeType] = {}
        frame = newest
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_OURS):  # there no thread parks
                codes[id(frame.f_code)] = frame.f_code
            frame = frame.f_back
        self._codes[ident] = list(codes.values())
        for code in codes.values():
            self._monitor.want(code, f"return {ident}", HOLD, afresh=True)
        self._monitor.discover("return")

    @under_lock
    def end(self, ident: int) -> None:
        """Wait no more for a thread: it has come, or may continue."""
        for code in self._codes.pop(ident, ()):
            self._monitor.want(code, f"return {ident}", 0)
        if not self._codes:
            self._monitor.also("return", 0)

    @under_lock
    def clear(self) -> None:
        """Wait for none."""
        for ident in list(self._codes):
            self.end(ident)


class ThreadArrest:
    """The events that make threads park.

    Attributes:
        is_on: whether events are on everywhere.

    """

    def __init__(self, monitor: Monitor, states: ThreadStates, threads: ThreadTable) -> None:
        self.is_on = False
        self._monitor = monitor
        self._states = states
        self._threads = threads
        self._returning = NativeReturns(monitor)

    @under_lock
    def begin(self) -> None:
        """Watch everywhere."""
        self._switch(on=True)

    @under_lock
    def settle(self) -> None:
        """Watch everywhere only as long as a thread must be stopped wherever it is."""
        # Each of very many threads comes here as it parks: while all are stopped, others are not looked at.
        self._switch(on=self._states.stopped or self._expects_any())

    def _expects_any(self) -> bool:
        return any(ident not in self._returning for ident in self._states.all_in(ARRESTING))

    @under_lock
    def expect(self, ident: int) -> None:
        """Let the others run at full speed while a thread is inside native code."""
        frame = self._threads.frames().get(ident)
        self._switch(on=False)  # first: events that are on everywhere cannot be turned on again in one place
        self._returning.expect(ident, frame)
        self.settle()

    @under_lock
    def expect_no_more(self, ident: int) -> None:
        """Wait no more for a thread: it has come, or may continue."""
        self._returning.end(ident)

    @under_lock
    def end(self) -> None:
        """Watch for no thread any more."""
        self._returning.clear()
        self._switch(on=False)

    def forget(self) -> None:
        """Record that nothing is watched any more, for good."""
        self.is_on = False

    def _switch(self, *, on: bool) -> None:
        if self.is_on is not on:
            self.is_on = on
            self._monitor.also("hold", HOLD if on else 0)
