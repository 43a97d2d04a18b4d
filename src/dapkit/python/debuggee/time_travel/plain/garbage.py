"""Collections of garbage: they run finalizers of the program, so the past has to have them where the live program had.

The interpreter begins one by how many objects were made, of which the debugger makes some. Here they are made where a
line is about to begin, now and then, and noted.
"""

import gc
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .state import OFF, state

COLLECT: Final = "collect"
"""The name that notes of them have."""
_YOUNG, _ALL = 1, 2
_SLOWER: Final = 20
"""So many times as long as a collection of everything takes, there is no other."""
_SECONDS: Final = 1.0
"""Nor within these."""


class Garbage:
    """What the program has asked of its collector, and when everything was collected last."""

    def __init__(self) -> None:
        """Take over from the interpreter."""
        self._is_on = gc.isenabled()
        self._not_before = 0.0
        gc.disable()

    def is_due(self) -> bool:
        """Say whether the program has left its collector on."""
        return self._is_on and gc.get_threshold()[0] > 0

    def next_generation(self) -> int:
        """Return what the live program is to collect now."""
        return _ALL if monotonic() >= self._not_before else _YOUNG

    @unseen
    def collect(self, generation: int) -> None:
        """Collect, as part of the program."""
        begin = monotonic()
        sys.call_tracing(gc.collect, (generation,))
        if generation == _ALL:
            end = monotonic()
            self._not_before = end + max(_SECONDS, _SLOWER * (end - begin))

    def give_back(self) -> None:
        """Let the interpreter do it again, if the program wants that."""
        if self._is_on:
            gc.enable()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return what stands for functions of `gc`."""

        @unseen
        def enable(real: Callable[[], None], /) -> None:
            self._is_on = True
            if state.mode is OFF:
                real()

        @unseen
        def disable(real: Callable[[], None], /) -> None:
            self._is_on = False
            if state.mode is OFF:
                real()

        @unseen
        def isenabled(real: Callable[[], bool], /) -> bool:
            return real() if state.mode is OFF else self._is_on

        return {"enable": enable, "disable": disable, "isenabled": isenabled}
