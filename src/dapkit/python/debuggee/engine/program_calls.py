"""The program's calls to its debugger while a client is connected: `breakpoint`, `post_mortem`, `trace_this_thread`."""

import _thread
from types import FrameType

from ..connection import current_engine
from ..exceptions import details
from ..exceptions.table import UNCAUGHT, ExceptionBreakpointTable
from ..execution.monitor import Monitor
from ..execution.parked_thread import ParkedThread
from ..execution.states import STOPPED
from ..execution.stops import Stops
from ..interpreter.safe_types import traceback_of
from ..threads.table import ThreadTable
from .monitoring_callbacks import MonitoringCallbacks


class ProgramCalls:
    """The calls of one session, each made in the thread of the program that it is about."""

    def __init__(
        self,
        threads: ThreadTable,
        stops: Stops,
        monitor: Monitor,
        *,
        callbacks: MonitoringCallbacks,
        exceptions: ExceptionBreakpointTable,
        lock: _thread.RLock,
    ) -> None:
        self._threads = threads
        self._stops = stops
        self._monitor = monitor
        self._callbacks = callbacks
        self._exceptions = exceptions
        self._lock = lock

    def stop_in(self, frame: FrameType) -> None:
        """Stop in a frame of the calling thread as soon as it continues."""
        if not current_engine.is_debugged() or not self._monitor.active:
            return
        ident = _thread.get_ident()
        if self._stops.states.of(ident) == STOPPED:
            return  # called by something that is evaluated at a stop
        self._callbacks.at_next_instruction_of(
            frame, lambda: self._stops.stop_at(ParkedThread(ident, frame), "breakpoint")
        )

    def post_mortem(self, exception: BaseException, frame: FrameType, *, as_uncaught: bool) -> bool:
        """Stop in a frame of the calling thread as soon as it continues, and show where an exception came from.

        With `as_uncaught`, only if the client wants to stop at it when it is uncaught. Return whether it stops.
        """
        trail = traceback_of(exception)
        if not (current_engine.is_debugged() and self._monitor.active and trail):
            return False
        ident = _thread.get_ident()
        mode = self._exceptions.on_report(exception, trail[0][0]) if as_uncaught else UNCAUGHT
        if not mode or self._stops.states.of(ident) == STOPPED:
            return False

        def stop() -> None:
            parked = ParkedThread(ident, frame, exception=exception, break_mode=mode, trail=trail)
            self._stops.stop_at(parked, "exception", **details.summary(exception))

        self._callbacks.at_next_instruction_of(frame, stop)
        return True

    def traced_threads_changed(self) -> None:
        """Record that the calling thread is one that nothing stops, or is one no more."""
        with self._lock:
            if not self._stops.states.must_park(_thread.get_ident()):
                self._stops.states.exempt({self._threads.link, *self._threads.look_for_marks()})
