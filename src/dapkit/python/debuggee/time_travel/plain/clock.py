"""The clock: how many lines of the program's own code were begun, counted as cheaply as Python can do it.

In the live program nothing but a counter in C is called at each line: the misses of a cache that keeps nothing. Now and
then, by the link's thread, it is replaced for one line by a function that looks whether a copy is due. In the past a
function in Python counts, since it has to stop at a certain line.
"""

import _operator
import sys
from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .state import OFF, state

_MONITORING = sys.monitoring
_LINE: Final = _MONITORING.events.LINE

type OnLine = Callable[[CodeType, int], object]


def _misses(_hits: int, misses: int, *_sizes: object) -> int:
    return misses


def _counter() -> Any:  # noqa: ANN401 - of a type in C without a name
    return _lru_cache_wrapper(_operator.is_, 0, False, _misses)  # noqa: FBT003 - positional only


class LiveClock:
    """The clock of the live program; `look` is called at a line once `look_soon` was."""

    def __init__(self, tool: int, before: Callable[[], object], look: Callable[[CodeType], object]) -> None:
        """Take the tool that it counts by; `before` is called when the line that is looked at has not begun yet."""
        self._tool = tool
        self._before = before
        self._look = look
        self._count: Any = _counter()
        self._begin = 0
        self._held: int | None = None

    def now(self) -> int:
        """Return the time."""
        return self._begin + self._count.cache_info() if self._held is None else self._held

    def hold(self) -> None:
        """Stand still: lines are executed for the debugger, not by the program."""
        self._held = self.now()

    def go_on(self) -> None:
        """Go on from where it stood."""
        if self._held is not None:
            self._begin = self._held - self._count.cache_info()
            self._held = None

    def look_soon(self) -> None:
        """Have the program looked at, at its next line; any thread may ask for it."""
        if state.mode is not OFF:
            _MONITORING.register_callback(self._tool, _LINE, self.on_line)

    @unseen
    def on_line(self, code: CodeType, line: int) -> None:
        """Count a line, and look; only count from the next on."""
        is_due = state.is_inside and self._held is None
        if is_due:
            _MONITORING.register_callback(self._tool, _LINE, self._count)
            self._before()
        self._count(code, line)
        if is_due:
            self._look(code)


def counting(
    begin: int, due: Callable[[CodeType], object]
) -> tuple[OnLine, Callable[[], int], Callable[[int], None], Callable[[int], None]]:
    """Return a clock of the past: what counts lines, the time, what sets it, and what aims it.

    `due` is called at each line from the one on that it is aimed at.
    """
    ticks = begin
    target = 0

    @unseen
    def on_line(code: CodeType, _line: int) -> None:
        nonlocal ticks
        ticks += 1
        if ticks >= target:
            due(code)

    def now() -> int:
        return ticks

    def put(to: int) -> None:
        nonlocal ticks
        ticks = to

    def aim(at: int) -> None:
        nonlocal target
        target = at

    return on_line, now, put, aim


class PastClock:
    """The clock of a process of the past."""

    def __init__(self, begin: int, due: Callable[[CodeType], object]) -> None:
        """Begin at the time of a copy."""
        self.on_line, self._now, self.put, self.aim = counting(begin, due)
        self._held: int | None = None

    def now(self) -> int:
        """Return the time."""
        return self._now() if self._held is None else self._held

    def hold(self) -> None:
        """Stand still: lines are executed for the debugger, not by the program."""
        self._held = self._now()

    def go_on(self) -> None:
        """Go on from where it stood."""
        if self._held is not None:
            self.put(self._held)
            self._held = None
