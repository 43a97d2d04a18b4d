"""Which code the clock counts the lines of: the program's own, from its first start on; and when frames began them.

What steps back or looks at values has to know of each start. An event that was switched off is switched on again for
all tools at once, which nobody minds in a process that is only executed up to its goal.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ...interpreter.hidden_frames import unseen
from .state import state

_MONITORING = sys.monitoring
_EVENTS: Final = _MONITORING.events
_ROOM: Final = 1000
"""Calls that it takes to report something near the recursion limit."""
_ONE_LINER: Final = 2
"""A function on one line reports it only while its start is watched, from CPython 3.13 on."""


class _Step:
    """When a frame has begun its latest line and its first; 0 for none, and `has_begun` if that was seen."""

    __slots__ = ("code", "first", "has_begun", "last")

    def __init__(self, code: CodeType, *, has_begun: bool) -> None:
        self.code = code
        self.last = self.first = 0
        self.has_begun = has_begun


class CountedCode:
    """The code whose lines are counted."""

    def __init__(
        self,
        tool: int,
        counts: Callable[[CodeType], int],
        set_local_events: Callable[[int, CodeType, int], object],
    ) -> None:
        """Take the tool that counts, and what says whether lines are counted."""
        self._tool = tool
        self._counts = counts
        self._set_local_events = set_local_events
        self._codes: dict[int, tuple[CodeType, int]] = {}  # and what is watched in it
        self._steps: dict[int, _Step] | None = None  # by the identity of frames: to hold them would change the program
        self._leave: Callable[[], object] | None = None

    @unseen
    def on_start(self, code: CodeType, _offset: int) -> object:
        """Count the lines of code that starts, if it is the program's own."""
        known = self._codes.get(id(code))
        if known is None:
            how = self._counts(code)
            if not how:
                return _MONITORING.DISABLE
            watched = _EVENTS.LINE | (_EVENTS.PY_START if how == _ONE_LINER else 0)
            known = self._codes[id(code)] = code, watched
            self._watch(code, watched)
        if self._steps is not None:
            self._steps[id(sys._getframe(1))] = _Step(code, has_begun=True)
            return None
        return None if known[1] & _EVENTS.PY_START else _MONITORING.DISABLE

    @unseen
    def on_return(self, _code: CodeType, _offset: int, _value: object) -> None:
        """Report that code of the program returns."""
        if self._leave is not None:
            self._leave()

    def _watch(self, code: CodeType, events: int) -> None:
        more = 0 if self._leave is None else _EVENTS.PY_RETURN
        self._set_local_events(self._tool, code, events | more)

    def is_counted(self, code: CodeType) -> bool:
        """Say whether the lines of some code are counted."""
        return id(code) in self._codes

    def track(self, leave: Callable[[], object] | None) -> None:
        """Note from here on when frames begin their lines; call `leave` where they return."""
        self._steps, self._leave = {}, leave
        if leave is not None:
            _MONITORING.register_callback(self._tool, _EVENTS.PY_RETURN, self.on_return)
            for code, watched in list(self._codes.values()):
                self._watch(code, watched)
        _MONITORING.restart_events()

    def watch_recursion(self, look: Callable[[int], None]) -> None:
        """Call `look` with the limit of recursion wherever an error of that is raised from here on."""
        get_limit, set_limit = sys.getrecursionlimit, sys.setrecursionlimit

        @unseen
        def on_raise(_code: CodeType, _offset: int, exception: BaseException) -> None:
            if type(exception) is RecursionError and state.is_inside:
                limit = get_limit()
                set_limit(limit + _ROOM)  # before anything in Python is called
                look(limit)
                set_limit(limit)

        _MONITORING.register_callback(self._tool, _EVENTS.RAISE, on_raise)
        _MONITORING.set_events(self._tool, _EVENTS.PY_START | _EVENTS.PY_RESUME | _EVENTS.RAISE)

    def forget(self) -> None:
        """Track nothing."""
        self._steps = None

    def stop(self) -> None:
        """Count no lines any more: the history is over."""
        _MONITORING.set_events(self._tool, 0)
        for code, _ in list(self._codes.values()):
            self._set_local_events(self._tool, code, 0)

    def nearest(self, frame: FrameType) -> FrameType:
        """Return the newest frame of the program's own code on a stack; the newest of all if there is none."""
        found: FrameType | None = frame
        while found is not None and id(found.f_code) not in self._codes:
            found = found.f_back
        return found or frame

    def note(self, frame: FrameType, code: CodeType, clock: int) -> None:
        """Take note that a frame begins a line."""
        if self._steps is None:
            return
        step = self._steps.get(id(frame))
        if step is None or step.code is not code:
            step = self._steps[id(frame)] = _Step(code, has_begun=False)
        step.last = clock
        if step.has_begun and not step.first:
            step.first = clock

    def last(self, frame: FrameType) -> int:
        """Return when a frame has begun its latest line: -1 if before it was tracked, 0 if none yet."""
        step = self._step(frame)
        return -1 if step is None else step.last

    def first(self, frame: FrameType) -> int:
        """Return when a frame has begun its first line: -1 if before it was tracked, 0 if none yet."""
        step = self._step(frame)
        return -1 if step is None or not step.has_begun else step.first

    def _step(self, frame: FrameType) -> _Step | None:
        step = None if self._steps is None else self._steps.get(id(frame))
        return step if step is not None and step.code is frame.f_code else None
