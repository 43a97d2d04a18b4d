"""Names of signals, and the signal actions of a started process: the defaults, whatever dapkit itself ignores.

A signal that a process ignores is ignored by its children, too. A shell ignores SIGINT and SIGQUIT for background
processes, and `nohup` ignores SIGHUP: an editor that was started so would start programs that cannot be interrupted.
`subprocess` restores only the signals that Python ignores, and code that it can run in the child before the program is
not safe beside threads; so a launcher does it.
"""

import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from dapkit.system.selection import IS_WINDOWS
from dapkit.system.signals import ENDING

_LAUNCHER = Path(__file__).with_name("signal_launcher.py")


def ignored_signals() -> set[int]:
    """Return the signals that we ignore, and our children would."""
    return {number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN}


def with_default_signals(argv: Sequence[str]) -> list[str]:
    """Return a command for `subprocess` that becomes `argv` with no signal ignored."""
    if IS_WINDOWS:  # where a process has the actions of its own start
        return list(argv)
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


@contextmanager
def signals_to_end() -> "Iterator[AsyncIterator[signal.Signals]]":
    """Yield the signals by which this process is told to end, in their order; a second one has its usual effect again.

    Only in the main thread.
    """
    if not IS_WINDOWS:
        with anyio.open_signal_receiver(*ENDING) as received:
            yield received
        return
    reading, writing = socket.socketpair()
    with reading, writing:
        writing.setblocking(False)  # noqa: FBT003 - its only parameter
        before = [(number, signal.signal(number, lambda *_: None)) for number in ENDING]
        waked = signal.set_wakeup_fd(writing.fileno())
        try:
            yield _numbers_from(reading)
        finally:
            signal.set_wakeup_fd(waked)
            for number, action in before:
                signal.signal(number, action)


async def _numbers_from(reading: socket.socket) -> "AsyncIterator[signal.Signals]":
    while True:
        await anyio.wait_readable(reading)
        for number in reading.recv(64):
            yield signal.Signals(number)
