"""Asking a program to end: an interrupt first, SIGTERM if that cannot reach it.

An interrupt (SIGINT) is handled between two steps of the main thread, so a main thread that sits in
native code does not hear of it. Whether it has heard is seen by a monitoring tool of its own, for a
second at most: any event in the main thread means that it goes on in Python.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _thread
import os
import sys

from .. import limits
from ..connection.link import Link
from ..errors import RequestRefused
from ..marks import in_link_thread

_MONITORING = sys.monitoring
_EVENTS = _MONITORING.events
_ANYTHING = _EVENTS.LINE | _EVENTS.PY_START | _EVENTS.PY_RESUME | _EVENTS.PY_RETURN | _EVENTS.JUMP | _EVENTS.RAISE
_SINGLE = [1 << bit for bit in range(_ANYTHING.bit_length()) if _ANYTHING >> bit & 1]
_FREE_TOOLS = (4, 5)
"""Tools that nothing takes."""


def need_listener() -> None:
    """Refuse to ask a program that does not listen.

    Raises:
        RequestRefused: it ignores both signals.

    """
    if not _takes_interrupts() and _ignores_term():
        raise RequestRefused("the program ignores interrupts (SIGINT) and SIGTERM; ask again, and it is killed")


@in_link_thread
def ask(main: int, link: Link) -> None:
    """Ask the program to end."""
    if not _takes_interrupts():
        os.kill(os.getpid(), _signal.SIGTERM)
        return
    watch = _Watch(main)
    link.after(limits.INTERRUPT_SECONDS, watch.end)
    _signal.pthread_kill(main, _signal.SIGINT)


def _takes_interrupts() -> bool:
    return callable(_signal.getsignal(_signal.SIGINT))  # neither ignored, nor the system's, nor native code's


def _ignores_term() -> bool:
    return bool(_signal.getsignal(_signal.SIGTERM) == _signal.SIG_IGN)


class _Watch:
    """Whether the main thread goes on in Python."""

    def __init__(self, main: int) -> None:
        self._main = main
        self._tool = _claimed()
        self._moved = self._tool is None  # then it is not known
        if self._tool is not None:
            for event in _SINGLE:
                _MONITORING.register_callback(self._tool, event, self._happened)
            _MONITORING.set_events(self._tool, _ANYTHING)

    def _happened(self, *_details: object) -> None:
        if _thread.get_ident() == self._main and self._tool is not None:
            self._moved = True
            _MONITORING.set_events(self._tool, 0)

    def end(self) -> None:
        """Send SIGTERM if nothing was seen."""
        if self._tool is not None:
            _MONITORING.set_events(self._tool, 0)
            for event in _SINGLE:
                _MONITORING.register_callback(self._tool, event, None)
            _MONITORING.free_tool_id(self._tool)
        if not self._moved and not _ignores_term():
            os.kill(os.getpid(), _signal.SIGTERM)


def _claimed() -> int | None:
    for tool in _FREE_TOOLS:
        try:
            _MONITORING.use_tool_id(tool, "dapkit: terminate")
        except ValueError:
            continue
        return tool
    return None
