"""Functions that change sides: what the debugger does in the thread of the program, and the program to its end.

None of their frames is seen: the engine looks for the frame of an event where it would be without them.
"""

from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING

from ...interpreter.hidden_frames import unseen
from .state import LIVE, OFF, REPLAY, state

if TYPE_CHECKING:
    from .history import PlainHistory


def aside[**P, T](function: Callable[P, T], history: "Callable[[], PlainHistory]") -> "Callable[P, T | None]":
    """Have a callback called as the debugger's, nothing of which is noted, and whose lines do not count.

    If the program has stopped there, it is copied where it goes on.
    """

    @unseen
    def call_aside(*args: P.args, **kwargs: P.kwargs) -> "T | None":
        if not state.is_of_program:
            return function(*args, **kwargs)
        state.is_inside = False
        history().clock.hold()
        try:
            result = function(*args, **kwargs)
        finally:
            if state.mode is not OFF:
                history().clock.go_on()
            state.is_inside = True
        code = args[0] if args else None
        return None if isinstance(code, CodeType) and history().go_on_from_stop(code) else result

    return call_aside


def only_live[**P, T](function: Callable[P, T]) -> "Callable[P, T | None]":
    """Have a function called in the live program alone, and not where a copy of it is made."""

    @unseen
    def call_live(*args: P.args, **kwargs: P.kwargs) -> "T | None":
        return None if state.is_past or state.is_copying else function(*args, **kwargs)

    return call_live


def guarded[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Have a function called that may change nothing outside: an expression at a moment of the past."""

    @unseen
    def call_guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        state.guarded += 1
        try:
            return function(*args, **kwargs)
        finally:
            state.guarded -= 1

    return call_guarded


def inside(function: Callable[[], None], *, begins: Callable[[], None], ends: Callable[[], None]) -> Callable[[], None]:
    """Have the program run to its end; `begins` is called before, and `ends` after it in whatever process that is."""

    @unseen
    def run_inside() -> None:
        state.mode = LIVE
        begins()
        state.is_inside = True
        try:
            function()
        finally:
            state.is_inside = False
            if state.mode is not OFF:
                ends()
            if state.mode is not REPLAY:
                state.mode = OFF

    return run_inside
