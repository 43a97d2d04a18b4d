"""The start of a thread of the debugger, such that the program notices as little of it as can be.

It takes no signal: a program that has blocked one, to wait for it, would be ended by a thread that has not. And no
profiler or tracer of the program's is called there. Its frames are hidden by `hidden_frame`, while it waits.
"""

import _thread
import sys
from collections.abc import Callable

from ..interpreter import native
from ..interpreter.gc_tracking import untrack
from ..interpreter.hidden_frames import hidden_frame
from ..system import start_without_signals


def start_thread(live: Callable[[], None]) -> Callable[[float], None] | None:
    """Run `live` in a thread of the debugger.

    Return the function that joins it, which takes a limit in seconds; Python 3.12 has no such function.
    """

    @hidden_frame
    def begin() -> None:
        native.hide_from_tools()
        live()

    if sys.version_info >= (3, 13):
        handle = untrack(_thread._ThreadHandle())
        start_without_signals(lambda: _thread.start_joinable_thread(begin, handle=handle, daemon=True))
        return untrack(handle.join)
    start_without_signals(lambda: _thread.start_new_thread(begin, ()))
    return None
