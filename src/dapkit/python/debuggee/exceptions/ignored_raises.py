"""Raises that need no look: what was found to be of no interest once is let pass at once from then on.

A program may raise and catch a hundred thousand exceptions in a second. Whether one is of interest
is decided in `exceptions`; where that can never change, for a type at an instruction, it is noted here.
"""

import _thread
from collections.abc import Callable
from types import CodeType

from .. import limits

type OnRaise = Callable[[CodeType, int, BaseException], object]


class IgnoredRaises:
    """Code object, instruction and type of exceptions to let pass.

    Invariant: what is in `_recent` is in `_all` too, and the code objects and types of both are in `_kept`,
    so that their ids stay their own. All three are changed under `_changing`: a thread that found something
    before `clear` adds nothing after it.
    """

    def __init__(self) -> None:
        self.era = 0
        """Counts the calls of `clear`."""
        self._all: set[tuple[int, int, int]] = set()  # a metaclass may hash a type in its own way
        self._recent: dict[int, tuple[CodeType, type]] = {}  # by instruction: half the price of the set
        self._kept: list[tuple[CodeType, type]] = []
        self._changing = _thread.allocate_lock()

    def add(self, code: CodeType, offset: int, kind: type, *, era: int) -> None:
        """Let exceptions of a type pass at an instruction, if that was found in the present era."""
        if len(self._all) >= limits.IGNORED_RAISES:
            self.clear()
            return
        with self._changing:
            if era == self.era:
                self._all.add((id(code), offset, id(kind)))
                self._kept.append((code, kind))

    def clear(self) -> None:
        """Look at everything again."""
        with self._changing:
            self.era += 1
            self._recent.clear()
            self._all.clear()
            self._kept.clear()

    def before(self, thorough: OnRaise) -> OnRaise:
        """Make the callback that lets pass what is to pass, and calls `thorough` for all else."""
        lately = self._recent.get
        everything = self._all

        def on_raise(code: CodeType, offset: int, exception: BaseException) -> None:
            found = lately(offset)
            if found is not None and found[0] is code and found[1] is type(exception):
                return
            if (id(code), offset, id(type(exception))) in everything:
                self._note(code, offset, type(exception))
            else:
                thorough(code, offset, exception)

        return on_raise

    def _note(self, code: CodeType, offset: int, kind: type) -> None:
        with self._changing:
            if (id(code), offset, id(kind)) in self._all:
                self._recent[offset] = code, kind
