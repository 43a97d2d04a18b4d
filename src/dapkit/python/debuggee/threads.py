"""Threads of the program: small stable numbers for them, their names, their coming and going.

The link's own thread is never among them. Names are read from `threading` where the
program has imported it; this module never imports it, since whoever does so first
becomes its main thread.
"""

import _thread
import sys
from types import FrameType

from .errors import RequestRefused
from .wire import Json

MAIN = 1


class Threads:
    """The program's threads by number.

    Invariant: a number is never given twice; the main thread has number 1. `main` and `link` are
    identities of the operating system, as `threading.get_ident` gives them.
    """

    def __init__(self, main: int) -> None:
        self.main = main
        self.link = 0
        self._numbers = {main: MAIN}
        self._last = MAIN

    def number(self, ident: int) -> int:
        """Return the number of a thread, a new one for a new thread."""
        try:
            return self._numbers[ident]
        except KeyError:
            self._last += 1
            return self._numbers.setdefault(ident, self._last)

    def ident(self, number: object) -> int:
        """Return the identity of a thread that lives.

        Raises:
            RequestRefused: if there is none of this number.

        """
        frames = self.frames()
        for ident, known in self._numbers.items():
            if known == number and ident in frames:
                return ident
        raise RequestRefused(f"there is no thread {number!r}; there are {sorted(map(self.number, frames))}")

    def forget(self, ident: int) -> None:
        """Take note that a thread ended: the system may give its identity to another."""
        if ident != self.main:
            self._numbers.pop(ident, None)

    def frames(self) -> dict[int, FrameType]:
        """Return the newest frame of every thread of the program, by identity."""
        frames = sys._current_frames()
        frames.pop(self.link, None)
        return frames

    def alone(self) -> bool:
        """Say whether the program has only one thread."""
        # _count includes the link's thread, and threads that have no frame yet.
        return _thread._count() <= 1 and len(self.frames()) <= 1

    def listing(self) -> list[Json]:
        """Return the body of the `threads` response."""
        frames = self.frames()
        for gone in [ident for ident in self._numbers if ident not in frames]:
            self.forget(gone)
        numbered = sorted((self.number(ident), ident) for ident in frames)
        return [{"id": number, "name": self.name(ident)} for number, ident in numbered]

    def name(self, ident: int) -> str:
        """Return the name that `threading` knows, or one made of the number."""
        threading = sys.modules.get("threading")
        known = getattr(threading, "_active", {}).get(ident)
        if known is not None:
            name = getattr(known, "__dict__", {}).get("_name")  # `name` may be overridden by the program
            if isinstance(name, str):
                return name
        return "MainThread" if ident == self.main else f"Thread {self.number(ident)}"
