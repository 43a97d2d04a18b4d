"""The signals that all systems have something for."""

import os
import signal
import sys

if sys.platform == "win32":
    KILL = signal.SIGTERM
    ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGBREAK)
    CRASHES = frozenset[int]()
    UNINTERRUPTED_SECONDS = 0.1

    def end_within(seconds: float) -> None:
        """End this process after a time, if it has not ended by then."""
        import threading

        timer = threading.Timer(seconds, os._exit, [1])
        timer.daemon = True
        timer.start()

else:
    KILL = signal.SIGKILL
    """Ends a process that cannot object."""
    ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    """Signals by which a process is told to end."""
    CRASHES = frozenset[int]({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL})
    """Signals that end a process for an error in native code."""
    UNINTERRUPTED_SECONDS = float("inf")
    """How long the main thread may wait at a time: on Windows, Ctrl+C interrupts no wait for a socket or a lock."""

    def end_within(seconds: float) -> None:
        """End this process after a time, if it has not ended by then."""
        signal.alarm(int(seconds))


KILLED_CODE = -9
"""The exit code of a process of which no more is known than that it was killed."""
