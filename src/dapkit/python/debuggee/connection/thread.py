"""The start of a thread of the debugger, such that the program notices as little of it as can be.

It takes no signal: a program that has blocked one, to wait for it, would be ended by a thread that has not. And no
profiler or tracer of the program's is called there. Its frames are hidden by `hidden_frame`, while it waits.
"""

import _thread
from collections.abc import Callable

from ..interpreter import native
from ..interpreter.hidden_frames import hidden_frame
from ..system import start_without_signals


def start_thread(live: Callable[[], None]) -> None:
    """Run `live` in a thread of the debugger."""

    @hidden_frame
    def begin() -> None:
        native.hide_from_tools()
        live()

    start_without_signals(lambda: _thread.start_new_thread(begin, ()))
