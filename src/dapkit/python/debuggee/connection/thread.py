"""The start of a thread of the debugger, such that the program notices as little of it as can be.

It takes no signal: a program that has blocked one, to wait for it, would be ended by a thread that has not. And no
profiler or tracer of the program's is called there. Its frames are hidden by `hidden_frame`, while it waits.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _thread
from collections.abc import Callable
from typing import Final

from ..interpreter import native
from ..interpreter.hidden_frames import hidden_frame

_FAULTS: Final = {_signal.SIGSEGV, _signal.SIGBUS, _signal.SIGFPE, _signal.SIGILL, _signal.SIGABRT}
"""A signal that a thread causes itself, and that `faulthandler` reports."""


def start_thread(live: Callable[[], None]) -> None:
    """Run `live` in a thread of the debugger."""

    @hidden_frame
    def begin() -> None:
        native.hide_from_tools()
        live()

    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
    try:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals() - _FAULTS)  # may raise once it is done
        _thread.start_new_thread(begin, ())  # inherits the blocked signals
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
