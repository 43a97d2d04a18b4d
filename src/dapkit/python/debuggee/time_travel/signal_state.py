"""Signals as the interpreter found them at its start: which are ignored, and which are blocked.

The process that starts a program decides it: a shell ignores SIGINT for `command &`, and `asyncio.run` then sets no
handler.
"""

import _signal  # type: ignore[import-not-found]  # the numbers themselves: `signal` has enumerations for them

from ..connection.framing import Json


def describe() -> Json:
    """Return the signals that are ignored, and those that the main thread blocks."""
    return {
        "ignored": [number for number in _changeable() if _signal.getsignal(number) == _signal.SIG_IGN],
        "blocked": sorted(map(int, _signal.pthread_sigmask(_signal.SIG_BLOCK, ()))),
    }


def make_again(state: Json) -> None:
    """Let the interpreter have signals as it had them, where that is known."""
    ignored, blocked = state.get("ignored"), state.get("blocked")
    if not isinstance(ignored, list) or not isinstance(blocked, list):
        return
    for number in _changeable():
        is_ignored = _signal.getsignal(number) == _signal.SIG_IGN
        if number in ignored and not is_ignored:
            _signal.signal(number, _signal.SIG_IGN)
        elif is_ignored and number not in ignored:
            _signal.signal(number, _signal.default_int_handler if number == _signal.SIGINT else _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, blocked)


def _changeable() -> list[int]:
    return sorted(int(number) for number in _signal.valid_signals() if number not in (_signal.SIGKILL, _signal.SIGSTOP))
