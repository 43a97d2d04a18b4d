"""Callbacks near the recursion limit, which count the same calls as the program.

With the C extension they have room of their own. Without it, or if that is used up, too, they fail: nothing of that
gets into the program, and it is noted where it was.
"""

from collections.abc import Callable
from typing import Final

from . import limits, native
from .hidden_frames import hidden_frame
from .native import SKIPPED_EVENTS

__all__ = ["MOST_MISSED", "SKIPPED_EVENTS", "check_headroom", "handles_overflow", "with_headroom"]

MOST_MISSED: Final = limits.MISSED_EVENTS


def handles_overflow[T: Callable[..., object]](callback: T) -> T:
    """Mark a callback that notes a missed event by itself, calling no function of the debugger.

    A wrapper doubles its costs.
    """
    if not native.AVAILABLE:
        callback.__dict__["handles_overflow"] = True
    return callback


def with_headroom(callback: Callable[..., object]) -> Callable[..., object]:
    """Return a callback of an event that never fails for want of room."""
    if native.AVAILABLE:
        return native.with_headroom(callback)
    if getattr(callback, "handles_overflow", False):
        return callback

    @hidden_frame  # the frame of the event stays the first one that is seen below
    def noting(*details: object) -> object:
        try:
            return callback(*details)
        except RecursionError:
            if len(SKIPPED_EVENTS) < MOST_MISSED:
                SKIPPED_EVENTS.append(details[:2])  # type: ignore[arg-type]  # of each event these are code and place
            return None

    return noting


def check_headroom(calls: int = limits.STOP_CALLS) -> None:
    """Raise RecursionError now, rather than half-way through a stop, if the program is about to.

    Raises:
        RecursionError: if fewer calls than these fit on the stack.

    """
    if calls and not native.HAS_ROOM:
        check_headroom(calls - 1)
