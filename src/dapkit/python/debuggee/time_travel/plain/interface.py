"""What the debuggee asks of time travel, as `_travel.pyi` has it, without that C extension."""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ...connection import current_engine
from ...engine.engine import Engine
from ...interpreter.chain import chain_of
from . import outside, passages
from .counted import CountedCode
from .history import PlainHistory
from .passages import guarded, only_live
from .state import OFF, state


class PlainBoundary:
    """Stands for the module `_travel`: functions of the same names.

    Attributes:
        on_line: the callback for lines with which the clock begins.
        on_start: the callback for code that starts.

    """

    guarded = staticmethod(guarded)
    only_live = staticmethod(only_live)
    _history: PlainHistory
    on_line: Callable[[CodeType, int], object]
    on_start: Callable[[CodeType, int], object]

    def begin(  # noqa: PLR0917 - as in C
        self,
        socket: str,
        token: str,
        interval: int,
        _ends_with_threads: bool,  # it always does
        _may_branch: bool,  # it cannot
        tool: int,
        arrive: Callable[[str, int, int], object],
        counts: Callable[[CodeType], int],
        set_local_events: Callable[[int, CodeType, int], object],
        /,
    ) -> None:
        """Prepare the history of the program that is about to begin."""
        code = CountedCode(tool, counts, set_local_events)
        history = self._history = PlainHistory((socket, token), interval, tool, arrive, code)
        outside.replace(history)
        self.on_line, self.on_start = history.clock.on_line, code.on_start
        engine = current_engine.engine
        assert isinstance(engine, Engine)  # noqa: S101 - says so to mypy
        link = engine.link

        def wake() -> None:
            if not state.ended:
                link.after(history.wake(), wake)

        link.soon(wake)

    def inside(self, function: Callable[[], None], /) -> Callable[[], None]:
        """Have the program run to its end."""
        return passages.inside(function, begins=self._history.begin, ends=self._history.close)

    def aside[**P, T](self, function: Callable[P, T], /) -> "Callable[P, T | None]":
        """Have a function called as the debugger's."""
        return passages.aside(function, lambda: self._history)

    def look_at_lines(self, look: Callable[[], object], leave: Callable[[], object], /) -> None:
        """Call these at each line of the program, and where its functions return."""
        self._history.look_at_lines(look, leave)

    def object_at(self, _address: int, _kind: int, /) -> object:
        """Return nothing: objects of the past do not lie where they did."""
        return None

    def even_out_throws(self, _suspended: CodeType, /) -> bool:
        """Say that what is thrown into a function is not looked at: only C can."""
        return False

    def time_of_program(self) -> int:
        """Return nothing: there are no recordings."""
        return 0

    def clock(self) -> int:
        """Return the time."""
        return self._history.now()

    def stand(self) -> int:
        """Take note that the program stops; return the time."""
        return self._history.stand()

    def disturbed(self) -> None:
        """Take no note of it: where objects lie is not reproduced."""

    def count_copies(self) -> int:
        """Return how many copies the live program has had made."""
        return self._history.copies.count

    def count_written(self) -> int:
        """Return how many bytes the program has written to its standard output and errors."""
        return state.written

    def is_copy(self) -> bool:
        """Say whether this process is one of the past."""
        return state.is_past

    def is_over(self) -> bool:
        """Say whether the history of the live program has ended before it."""
        return state.mode is OFF

    def why_over(self) -> str:
        """Return what has ended it, and where; empty if it was the end of the program."""
        return state.ended

    def go_on_to_end(self, end: int, /) -> None:
        """Go on, from the goal, to where the live program stands, or to a clock before that; 0 for none."""
        self._history.go_on_to_end(end)

    def why_no_branch(self) -> str:
        """Return why the program cannot go on from its past."""
        return "without the C extension for time travel its descriptors cannot be had again"

    def first_tick(self, frame: FrameType, /) -> int:
        """Return when a frame has begun its first line: -1 if before that was noted, 0 if none yet."""
        return self._history.code.first(frame)

    def identity(self, frame: FrameType, /) -> int:
        """Return how deep a frame is on its stack: there is nothing else by which it is known in a copy."""
        return len(chain_of(frame))

    def frame_of(self, innermost: FrameType, identity: int, /) -> FrameType | None:
        """Return the frame of a stack that has an identity."""
        chain = chain_of(innermost)
        return chain[len(chain) - identity] if 0 < identity <= len(chain) else None

    def is_of_program(self, frame: FrameType, /) -> bool:
        """Say whether the lines of a frame are counted."""
        return self._history.code.is_counted(frame.f_code)

    def first_tick_of(self, identity: int, innermost: FrameType, /) -> int:
        """Return the same as `first_tick`, of a frame of a stack."""
        frame = self.frame_of(innermost, identity)
        return -1 if frame is None else self.first_tick(frame)

    def last_tick_of(self, identity: int, innermost: FrameType, /) -> int:
        """Return the same as `last_tick`, of a frame of a stack."""
        frame = self.frame_of(innermost, identity)
        return -1 if frame is None else self.last_tick(frame)

    def last_tick(self, frame: FrameType, /) -> int:
        """Return when a frame has begun its latest line: -1 if before that was noted, 0 if none yet."""
        return self._history.code.last(frame)


boundary: Final = PlainBoundary()
