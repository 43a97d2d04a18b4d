"""Names of signals, and the signal actions of a started process: the defaults, whatever dapkit itself ignores.

A signal that a process ignores is ignored by its children, too. A shell ignores SIGINT and SIGQUIT for background
processes, and `nohup` ignores SIGHUP: an editor that was started so would start programs that cannot be interrupted.
`subprocess` restores only the signals that Python ignores, and code that it can run in the child before the program is
not safe beside threads; so a launcher does it.
"""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("signal_launcher.py")


def ignored_signals() -> set[int]:
    """Return the signals that we ignore, and our children would."""
    return {number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN}


def with_default_signals(argv: Sequence[str]) -> list[str]:
    """Return a command for `subprocess` that becomes `argv` with no signal ignored."""
    restored = {signal.SIGPIPE, signal.SIGXFSZ}  # Python ignores them, and `subprocess` gives its children the default
    if ignored_signals() <= restored:
        return list(argv)
    return [sys.executable, "-I", "-S", str(_LAUNCHER), *argv]


def signal_name(number: int) -> str:
    """Return the usual name of a signal; one without a name is named by its number."""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
