"""Values that no watcher can see, compared at every line of the program's own code.

Slots, list items and bytes; without the native part, entries of dicts too. Besides LINE, a value is looked at when
a frame is left, so that the stop is in the frame that wrote, and where a loop jumps back within one line.
"""

import _thread
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ..execution.monitor import EVENTS
from ..interpreter import native
from ..interpreter.thread_frames import all_frames
from ..sources.files import PROGRAM, Sources
from .name_offsets import is_return, loops_on_one_line
from .targets import WRITE, Bytes, DataAccess, Pollable, WatchTarget
from .tool import WatchTool

_OWNER: Final = "polls"
_EVENTS: Final = EVENTS.LINE | EVENTS.PY_RETURN | EVENTS.PY_YIELD

type Look = Callable[..., object]
"""A callback of LINE, JUMP, PY_RETURN and PY_YIELD: calls `changed(code, where, changes)` if there are any."""
type Change = tuple[int, object, object]


class PolledValues:
    """The polled places.

    Invariant: `look` compares exactly the places of `_watches`, with their values at its last call.
    """

    def __init__(
        self, tool: WatchTool, sources: Sources, changed: Callable[[FrameType, int, list[DataAccess]], object]
    ) -> None:
        self._tool = tool
        self._sources = sources
        self._changed = changed
        self._watches: list[tuple[WatchTarget, Pollable]] = []
        self._asked: dict[int, list[Change]] = {}  # where changes go while a thread is in `look_now`
        self._codes: dict[int, CodeType] = {}
        self._kept: list[object] = []
        self.look: Look | None = None

    def set(self, targets: list[tuple[WatchTarget, Pollable]]) -> None:
        """Compare these places."""
        self._watches = targets
        self._compare()
        self.keep()
        if not targets:
            for code in self._codes.values():
                self._tool.want(code, _OWNER, 0)
            self._codes.clear()
            return
        for frame in all_frames():
            self.bind_new_code(frame.f_code)

    def _compare(self) -> None:
        if not self._watches:
            self.look = None
        elif native.CAN_POLL:
            self.look = native.poll(tuple(place.polled() for _, place in self._watches), self._take)
        else:
            self.look = _poll([place for _, place in self._watches], self._take)

    def keep(self) -> None:
        """Remember the present values, for `refresh`."""
        self._kept = [place.read() for _, place in self._watches]

    def refresh(self) -> bool:
        """Accept the changes since `keep` as known; return whether `look` is another one now."""
        old_values, self._kept = self._kept, []
        changed = any(
            _differ(before, place.read(), place) for before, (_, place) in zip(old_values, self._watches, strict=False)
        )
        if changed:
            self._compare()
        return changed

    def bind_new_code(self, code: CodeType) -> None:
        """Compare at the lines of a code object from now on, if it is the program's own."""
        if self.look is None or id(code) in self._codes or self._sources.kind(code.co_filename) != PROGRAM:
            return
        self._codes[id(code)] = code
        self._tool.want(code, _OWNER, _EVENTS | (EVENTS.JUMP if loops_on_one_line(code) else 0))

    def look_now(self, code: CodeType, where: int) -> list[DataAccess]:
        """Return the changes since the last look."""
        if self.look is None:
            return []
        ident = _thread.get_ident()
        self._asked[ident] = []
        self.look(code, where)
        return self._accesses(self._asked.pop(ident))

    def _take(self, code: CodeType, where: int, changes: list[Change]) -> None:
        callback = self._asked.get(_thread.get_ident())
        if callback is not None:
            callback += changes
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is not None:
            self._changed(frame, where, self._accesses(changes))

    def _accesses(self, changes: list[Change]) -> list[DataAccess]:
        watches = self._watches
        accesses: list[DataAccess] = []
        for index, old, new in changes:
            if index < len(watches):  # the places may just have been replaced by fewer
                target, place = watches[index]
                if isinstance(place, Bytes):
                    old, new = place.shown(old), place.shown(new)  # noqa: PLW2901 - their meaning
                accesses.append(DataAccess(target, place, WRITE, old, new))
        return accesses


def leaves(frame: FrameType, where: int) -> bool:
    """Return whether a callback with the argument `where` is at an instruction that leaves the frame.

    LINE has a line there, PY_RETURN and PY_YIELD an offset; where the frame is decides which it is.
    """
    return where == frame.f_lasti and is_return(frame.f_code, where)


def _differ(before: object, now: object, place: Pollable) -> bool:
    return now is not before and not (type(place) is Bytes and type(now) is bytes and now == before)


def _poll(places: list[Pollable], changed: Callable[[CodeType, int, list[Change]], None]) -> Look:
    """Do the work of `native.poll` in Python."""
    values = [place.read() for place in places]

    def look(code: CodeType, where: int, *_: object) -> None:
        changes: list[Change] = []
        for index, place in enumerate(places):
            now, before = place.read(), values[index]
            if _differ(before, now, place):
                values[index] = now
                changes.append((index, before, now))
        if changes:
            changed(code, where, changes)

    return look
