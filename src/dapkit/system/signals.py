"""The signals that all systems have something for."""

import signal
import sys

if sys.platform == "win32":
    KILL = signal.SIGTERM
    ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGBREAK)
    CRASHES = frozenset[int]()
else:
    KILL = signal.SIGKILL
    """Ends a process that cannot object."""
    ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    """Signals by which a process is told to end."""
    CRASHES = frozenset[int]({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL})
    """Signals that end a process for an error in native code."""

KILLED_CODE = -9
"""The exit code of a process of which no more is known than that it was killed."""
