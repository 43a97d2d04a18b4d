"""Asking a program to end: an interrupt first, SIGTERM if that cannot reach it.

An interrupt (SIGINT) is handled between two steps of the main thread, so a main thread that sits in
native code does not hear of it. Whether it has heard is seen by a monitoring tool of its own, for a
second at most: any event in the main thread means that it continues in Python.

An interrupt that comes just before the main thread begins to wait does not end that wait: the
interpreter looks for signals before it calls the system, and the system sees none later. So it is
sent again to a thread that has slept all the while. One interrupt is handled all the same, since
the interpreter only notes that there was one.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _thread
import os
import sys

from ..connection.link import Link
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import in_link_thread
from ..system import IS_LINUX, interrupt_main_thread

_MONITORING = sys.monitoring
_EVENTS = _MONITORING.events
_ANYTHING = _EVENTS.LINE | _EVENTS.PY_START | _EVENTS.PY_RESUME | _EVENTS.PY_RETURN | _EVENTS.JUMP | _EVENTS.RAISE
_SINGLE = [1 << bit for bit in range(_ANYTHING.bit_length()) if _ANYTHING >> bit & 1]
_TOOLS = (5, 4, 3)
"""The numbers to take one of: two of them may be the engine's (`execution.monitor`)."""


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
    _Watch(main, link).interrupt()


def _takes_interrupts() -> bool:
    return callable(_signal.getsignal(_signal.SIGINT))  # neither ignored, nor the system's, nor native code's


def _ignores_term() -> bool:
    return bool(_signal.getsignal(_signal.SIGTERM) == _signal.SIG_IGN)


class _Watch:
    """Whether the main thread continues in Python."""

    def __init__(self, main: int, link: Link) -> None:
        self._main = main
        self._link = link
        self._looks = 0
        self._slept: bytes | None = None
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

    def interrupt(self) -> None:
        """Send the interrupt, and look later whether it was noticed."""
        interrupt_main_thread(self._main)
        self._look_later()

    def _look_later(self) -> None:
        self._link.after(limits.INTERRUPT_SECONDS / limits.INTERRUPT_LOOKS, self._look)

    def _look(self) -> None:
        self._looks += 1
        if self._moved or self._looks == limits.INTERRUPT_LOOKS:
            self._end()
            return
        before, self._slept = self._slept, _sleep_of_main_thread()
        if self._slept is not None and self._slept == before:
            self.interrupt()
        else:
            self._look_later()

    def _end(self) -> None:
        """Send SIGTERM if nothing was seen."""
        if self._tool is not None:
            _MONITORING.set_events(self._tool, 0)
            for event in _SINGLE:
                _MONITORING.register_callback(self._tool, event, None)
            _MONITORING.free_tool_id(self._tool)
        if not self._moved and not _ignores_term():
            os.kill(os.getpid(), _signal.SIGTERM)


def _sleep_of_main_thread() -> bytes | None:
    """Return a value that stays the same as long as the main thread sleeps undisturbed; None if it does not sleep.

    None also where the system does not tell.
    """
    if not IS_LINUX:
        return None
    try:
        status = os.open(f"/proc/self/task/{os.getpid()}/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # there is no /proc, or no descriptor is left
        return None
    try:
        lines = os.read(status, limits.STATUS_BYTES).split(b"\n")
    finally:
        os.close(status)
    if b"State:\tS (sleeping)" not in lines:
        return None
    return b"".join(line for line in lines if b"ctxt_switches" in line)


def _claimed() -> int | None:
    for tool in _TOOLS:
        try:
            _MONITORING.use_tool_id(tool, "dapkit: terminate")
        except ValueError:
            continue
        return tool
    return None
