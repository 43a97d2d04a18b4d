"""Checks that the link's thread repeats while a session lasts."""

import _thread

from ..breakpoints.table import BreakpointTable
from ..connection.link import Link
from ..execution.monitor import Monitor
from ..execution.states import ThreadStates
from ..interpreter import limits
from ..sources.auto_reload import Reloader


class PeriodicChecks:
    """The looks of one session; each sees to the next."""

    def __init__(
        self,
        link: Link,
        monitor: Monitor,
        breakpoints: BreakpointTable,
        *,
        states: ThreadStates,
        lock: _thread.RLock,
    ) -> None:
        """Take the engine's parts."""
        self._link = link
        self._monitor = monitor
        self._breakpoints = breakpoints
        self._states = states
        self._lock = lock

    def mend_tool(self) -> None:
        """Take our tool of sys.monitoring again if the program has freed it, and say so."""
        with self._lock:
            notice = self._monitor.mend()
        if notice:
            text = f"The program uses the tool of sys.monitoring that the debugger needs: it {notice}.\n"
            self._link.event("output", {"category": "important", "output": text})

    def check_tool(self) -> None:
        """Say so if the program has taken our tool of sys.monitoring from us, or left our callbacks no room."""
        self.mend_tool()
        if self._monitor.active:
            self._breakpoints.report_missed()
            if not self._link.is_quiet:
                self._link.after(limits.TOOL_SECONDS, self.check_tool)

    def for_saved_files(self, reloading: Reloader) -> None:
        """Take files that were saved into the program."""
        if not self._states.released:
            reloading.look()
            self._link.after(reloading.seconds, lambda: self.for_saved_files(reloading))
