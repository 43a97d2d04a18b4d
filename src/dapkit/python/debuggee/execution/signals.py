"""Ctrl-C that arrives while the program's main thread is in a callback of the debugger.

Python runs the handlers of signals as it begins a function, our callbacks as well. An exception raised there leaves
through the event, which can be in another frame than where the program would have noticed: `yield from`, for example,
notices no signals. So where it was the default handler that raised, C makes the signal pending again, and the callback
returns.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`

from .parked_thread import ParkedThread

_getsignal = _signal.getsignal
_RAISES_LATE = ParkedThread.raise_late.__code__


def may_come_again(error: BaseException) -> bool:
    """Return whether an error was raised by the default handler of Ctrl-C, and not while the thread was stopped."""
    if type(error) is not KeyboardInterrupt or _getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return False
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code is _RAISES_LATE:
            return False
        traceback = traceback.tb_next
    return True
