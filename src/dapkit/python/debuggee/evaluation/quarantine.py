"""Calls of the program's own `__repr__`s and properties, which it did not ask for.

Output of such code is dropped, and it cannot end the process: a user who opened a variable intended neither. Only the
calling thread is affected; others may run at the same time.
"""

import _thread
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from ..interpreter.errors import TimeIsUp
from ..system import SYSTEM_MODULE


class ExitRefused(BaseException):
    """A value that is only looked at tried to end the process."""


_EXITS: Final = ("_exit", "abort")


class _Silent:
    """A stream that drops the output of one thread."""

    def __init__(self, stream: Any, ident: int) -> None:  # noqa: ANN401 - whatever the program put there
        self._stream = stream
        self._ident = ident

    def write(self, text: str) -> int:
        """Write, unless it is that thread."""
        if _thread.get_ident() == self._ident:
            return len(text)
        count: int = self._stream.write(text)
        return count

    def writelines(self, lines: list[str]) -> None:
        """Write several."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def quarantined[T](function: Callable[[], T]) -> T:
    """Call a function without output and without an end of the process; it must bear its own interruptions.

    Raises:
        ExitRefused: it tried to end the process.

    """
    ident = _thread.get_ident()
    streams = sys.stdout, sys.stderr
    silent = tuple(None if stream is None else _Silent(stream, ident) for stream in streams)
    modules = [sys.modules[name] for name in ("os", SYSTEM_MODULE) if name in sys.modules]
    exits = [(module, name, vars(module)[name]) for module in modules for name in _EXITS if name in vars(module)]
    sys.stdout, sys.stderr = silent
    for module, name, real in exits:
        vars(module)[name] = _refusing(name, real, ident)

    def restore() -> None:
        for module, name, real in exits:
            vars(module)[name] = real
        # The program may have put something else there meanwhile; that stays.
        if sys.stdout is silent[0]:
            sys.stdout = streams[0]
        if sys.stderr is silent[1]:
            sys.stderr = streams[1]

    try:
        return function()
    finally:
        _for_certain(restore)


def _for_certain(action: Callable[[], None]) -> None:
    """Do something even if the deadline of an evaluation passes meanwhile that this is a part of; it passes again."""
    while True:
        try:
            action()
        except TimeIsUp:
            continue
        return


def _refusing(name: str, real: Callable[..., object], ident: int) -> Callable[..., object]:
    process = os.getpid()

    def refuse(*arguments: object) -> object:
        if _thread.get_ident() == ident and os.getpid() == process:  # and not the child of a fork that it made
            raise ExitRefused(f"os.{name} was called")
        return real(*arguments)

    return refuse
