"""Interrupting code of the program that takes too long.

An exception can be raised in any thread at its next instruction. The main thread can also be woken from
native code that waits (a sleep, a lock, a read), by a signal: Python runs the handlers of signals there. It has one
only while work is done for the client.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _thread
from types import FrameType
from typing import Final

from .. import loader
from ..interpreter import native
from ..interpreter.errors import TimeIsUp
from ..system import UNUSED_HANDLER, WAKING_SIGNAL, wake_main_thread

loader.prepare("interpreter.c_api")

_SIGNAL: Final = WAKING_SIGNAL
"""Where a program uses it, it is left alone."""

_main = 0  # identity of the main thread, while it has the handler installed
_wanted = 0  # the thread that is to be woken, until it was
_is_sent = False  # a signal of ours is on its way, wanted still or not


def prepare() -> bool:
    """Make waking possible if the calling thread is the main one; return whether `undo` is to follow."""
    global _main  # noqa: PLW0603 - there is one main thread
    if _main or _signal.getsignal(_SIGNAL) is not UNUSED_HANDLER:
        return False
    try:
        _signal.signal(_SIGNAL, _on_signal)
    except ValueError:
        return False  # it is not the main one
    _main = _thread.get_ident()
    return True


def undo() -> None:
    """Leave the signal as it was; one that is still on its way is dropped."""
    global _main, _wanted, _is_sent  # noqa: PLW0603 - the same
    _main = _wanted = 0
    if _signal.getsignal(_SIGNAL) is _on_signal:
        _signal.signal(_SIGNAL, _signal.SIG_IGN)
        _signal.signal(_SIGNAL, UNUSED_HANDLER)
    _is_sent = False


def interrupt(ident: int, exception: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next instruction, or withdraw it."""
    global _wanted  # noqa: PLW0603 - of the main thread, of which there is one
    if exception is None:
        _wanted = 0
    if native.raise_in_thread(ident, exception):
        return
    try:
        from ..interpreter.c_api import raise_in_thread  # of libffi, which keeps a descriptor open
    except ImportError:
        return  # Python was built without libffi: there is no way
    raise_in_thread(ident, exception)


def wake(ident: int) -> None:
    """Raise TimeIsUp in the main thread even if it waits in native code. No other thread can be woken."""
    global _wanted, _is_sent
    if ident == _main:
        _wanted, _is_sent = ident, True
        wake_main_thread(ident)


def _on_signal(signal_number: int, frame: FrameType | None) -> None:
    global _wanted, _is_sent  # noqa: PLW0603 - the same
    is_ours, _is_sent = _is_sent, False
    if _wanted == _thread.get_ident():
        _wanted = 0
        raise TimeIsUp
    if not is_ours and callable(UNUSED_HANDLER):  # Ctrl+C on Windows
        UNUSED_HANDLER(signal_number, frame)
