"""The history of a program without the C extension: its clock, what is due at a line, and how a replay ends.

live --copy--> waits --order--> replay, up to its goal: `arrive`; then on to where the live program stands, its end
"""

import _thread
import os
import sys
from collections.abc import Callable
from time import monotonic_ns
from types import CodeType, FrameType
from typing import Final, NoReturn

from ...interpreter.hidden_frames import unseen
from .clock import LiveClock, PastClock
from .copies import Copies
from .counted import CountedCode
from .garbage import COLLECT, Garbage
from .log import Log, Note
from .state import OFF, state

_NEAR_LIMIT: Final = 20
"""Calls that are left there, those of the debugger included."""
_NEVER: Final = 1 << 62
_SLOWER: Final = 20
"""So many times as long as a copy takes, there is none."""
NEAR: Final = 2000
"""Lines before its goal, where a replay leaves a copy of itself,"""
DISTANT: Final = 20_000
"""if it has come from so far."""

type Arrive = Callable[[str, int, int], object]


class PlainHistory:
    """The history of one program, in it and in each process that is executed again."""

    def __init__(self, copies: tuple[str, str], interval: int, tool: int, arrive: Arrive, code: CountedCode) -> None:
        """Take where copies connect to and with which token, and nanoseconds between two of them."""
        self.log = Log()
        self.code = code
        self.garbage = Garbage()
        self.clock: LiveClock | PastClock = LiveClock(tool, self._collect_live, self._look_live)
        self.copies = Copies(*copies, self.log, self.now)
        self._tool = tool
        self._interval = interval
        self._arrive_in_python = arrive
        self._last = 0
        self._has_arrived = self._has_stood = False
        self._leaves_copy_at = 0
        self._wanted = _NEVER  # where the past is looked at next
        self._look: Callable[[], object] | None = None

    def now(self) -> int:
        """Return the time."""
        return self.clock.now()

    # The live program

    def wake(self) -> float:
        """Have a copy made at the next line if it is time; return in how many seconds to call this again."""
        rest = self._last + self._interval - monotonic_ns()
        if rest <= 0 and isinstance(self.clock, LiveClock):
            self.clock.look_soon()
            rest = self._interval
        return rest / 1e9

    def stand(self) -> int:
        """Take note that the program stops: what was done at the stop is in no earlier copy."""
        clock = self.now()
        if isinstance(self.clock, LiveClock):
            self.log.stop_at(clock)
            if self.log.is_lost and state.mode is not OFF:
                self.end("os.close")
            self._has_stood = True
        return clock

    @unseen
    def go_on_from_stop(self, code: CodeType) -> bool:
        """Copy the program where it stood, if it did; say whether this is what is executed again from there."""
        if not self._has_stood or state.is_past or state.mode is OFF:
            return False
        self._has_stood = False
        return self._look_live(code)

    @unseen
    def _collect_live(self) -> None:
        if self.garbage.is_due():
            generation = self.garbage.next_generation()
            self.log.note((self.now(), COLLECT, 0, generation))
            self.garbage.collect(generation)

    @unseen
    def _look_live(self, code: CodeType) -> bool:
        begun = monotonic_ns()
        state.is_inside = False
        made = self.copies.make()
        state.is_inside = True
        if made == 1:
            self._begin_replay()
            self._note_line(code)
        elif made == 0:
            self._last = monotonic_ns()
            self._interval = max(self._interval, _SLOWER * (self._last - begun))
        return made == 1

    @unseen
    def end(self, why: str) -> None:
        """End the history before the live program does what it cannot have: it runs on as without time travel."""
        if state.is_past:
            self.reach_end()
        frame = self.code.nearest(sys._getframe(1))
        clock = self.now()
        state.ended = f"{why} at {frame.f_code.co_filename}:{frame.f_lineno} (clock {clock})"
        state.mode = OFF
        self.clock.hold()
        self.log.stop_at(clock)
        self.code.stop()
        self.garbage.give_back()

    def begin(self) -> None:
        """Take note that the program begins, in this thread."""
        state.main = _thread.get_ident()

    def close(self) -> None:
        """Take note that the program has ended."""
        if state.is_past:
            self.reach_end()
        self.log.stop_at(self.now())
        self.clock.hold()
        self.garbage.give_back()

    # A process of the past

    @unseen
    def _begin_replay(self) -> None:
        self._has_arrived = False
        self._leaves_copy_at = 0
        self.clock = PastClock(self.now(), self._look_in_past)
        sys.monitoring.register_callback(self._tool, sys.monitoring.events.LINE, self.clock.on_line)
        self.code.watch_recursion(self._look_at_depth)
        self.code.forget()
        goal, kind = self.copies.goal, self.copies.kind
        if kind in ("scan", "watch"):
            self._wanted = goal
            self._arrive()
        elif self.now() >= goal:
            self._arrive()
        else:
            if kind in ("steps", "frame"):
                self.code.track(None)
                self._look = None
            if goal - self.now() > DISTANT:
                self._leaves_copy_at = goal - NEAR
            self._wanted = self._leaves_copy_at or goal
        self._aim()

    def _aim(self) -> None:
        """Look at each line where they are tracked, else where something is due."""
        assert isinstance(self.clock, PastClock)  # noqa: S101 - says so to mypy
        is_tracked = self._look is not None or (self.copies.kind in ("steps", "frame") and not self._has_arrived)
        collection = self._next_collection()
        next_look = self._wanted if collection is None else min(self._wanted, collection + 1)
        self.clock.aim(0 if is_tracked else next_look)

    def _next_collection(self) -> int | None:
        """Return after which line garbage is to be collected, if nothing else comes before."""
        noted = self.log.peek()
        return noted[0] if noted is not None and noted[1] == COLLECT else None

    def took_note(self) -> None:
        """Take note that the next note is another one."""
        if self._next_collection() is not None:
            self._aim()

    @unseen
    def _collect_in_past(self) -> None:
        """Collect what the live program has collected before this line began."""
        assert isinstance(self.clock, PastClock)  # noqa: S101 - says so to mypy
        while self._next_collection() == self.now() - 1:
            self.clock.put(self.now() - 1)
            noted = self.log.take()
            self._aim()
            self.garbage.collect(int(str(noted[3] if noted else 0)))
            self.clock.put(self.now() + 1)

    @unseen
    def _look_in_past(self, code: CodeType) -> None:
        if not state.is_inside:
            return
        self._collect_in_past()
        clock = self.now()
        if clock >= self._wanted:
            if clock < self.copies.goal:
                self._leave_copy()
            else:
                self._wanted = _NEVER
                if self._has_arrived and self.copies.kind not in ("scan", "watch"):
                    self.reach_end()
                self._arrive()
                self._aim()
        self._note_line(code)

    @unseen
    def _look_at_depth(self, limit: int) -> None:
        """End this process where there was no room to count a line, which the live program had begun.

        What counts lines is a call more than the program has made, so it comes to the recursion limit before.
        """
        frame: FrameType | None = sys._getframe(1)
        depth = 0
        while frame is not None:
            frame, depth = frame.f_back, depth + 1
        if depth > limit - _NEAR_LIMIT and state.is_of_program:
            self.diverge("RecursionError", (0, "nothing", 0, None))

    @unseen
    def _leave_copy(self) -> None:
        self._leaves_copy_at = 0
        self._wanted = self.copies.goal
        self._aim()
        state.is_inside = False
        made = self.copies.make()
        state.is_inside = True
        if made == 1:
            self._begin_replay()

    @unseen
    def _note_line(self, code: CodeType) -> None:
        self.code.note(sys._getframe(1), code, self.now())
        if self._look is not None:
            _aside(self._look)

    @unseen
    def _arrive(self) -> None:
        kind = self.copies.kind
        if not self._has_arrived and kind not in ("steps", "frame", "watch"):
            self.copies.say(f"arrived {self.now()}")
        self._has_arrived = True
        self._call_arrive(kind)

    @unseen
    def _call_arrive(self, how: str) -> None:
        self.clock.hold()
        state.is_inside = False
        try:
            self._arrive_in_python(how, self.copies.control, self.copies.limit)
        finally:
            state.is_inside = True
            self.clock.go_on()

    def go_on_to_end(self, end: int) -> None:
        """Go on, from the goal, to where the live program stands, or to a clock before that; 0 for none."""
        last = self.log.last_stop()
        self.copies.goal = self._wanted = min(end or last, last)
        self._aim()

    def look_at_lines(self, look: Callable[[], object], leave: Callable[[], object]) -> None:
        """Call these at each line of the program, and where its functions return."""

        @unseen
        def leave_aside() -> None:
            _aside(leave)

        self._look = look
        self.code.track(leave_aside)
        self._aim()

    @unseen
    def reach_end(self) -> NoReturn:
        """End this process: nothing more was noted."""
        self._end_here("end", "-", "-", 0)

    @unseen
    def diverge(self, call: str, noted: Note) -> NoReturn:
        """End this process: the program has called something else than it had."""
        self._end_here("diverged", call, noted[1], noted[0])

    @unseen
    def _end_here(self, how: str, call: str, noted: str, when: int) -> NoReturn:
        frame = sys._getframe(1)
        line = f"{how} {self.now()} {call} {noted} {when} {frame.f_code.co_filename}:{frame.f_lineno}"
        if self._has_arrived:
            self._call_arrive(line)
        else:
            self.copies.say(line)
        os._exit(0)


@unseen
def _aside(function: Callable[[], object]) -> None:
    state.is_inside = False
    try:
        function()
    finally:
        state.is_inside = True
