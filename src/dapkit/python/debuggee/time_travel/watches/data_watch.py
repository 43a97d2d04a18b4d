"""The last write to the data of a data breakpoint that its condition and hit condition would have stopped at.

It is found by an expression, not by its address: work at each line gives later objects other addresses.
"""

from collections.abc import Mapping
from types import FrameType
from typing import Any, Final

from ...breakpoints.conditions import BreakpointCondition
from ...connection.framing import Json
from ..replay_backend import backend
from .value_watch import ValueWatch, plain_mark

_NOWHERE: Final = object()
"""Stands for the value where there is nothing that could have one."""
_UNSET: Final = object()
"""Stands for the value of an attribute, item or variable that is not there yet, in something that is."""


class DataWatch(ValueWatch):
    """The value of an expression; `holder` is the expression of its container, None for a variable of a call."""

    def __init__(self, place_named: Json, place: Json, test: Json) -> None:
        super().__init__(str(place_named["expression"]), place)
        condition, hits = test.get("condition"), test.get("hitCondition")
        self._test = BreakpointCondition(
            condition if isinstance(condition, str) else None, hits if isinstance(hits, str) else None, None
        )
        holder = place_named.get("holder")
        self._holder = compile(holder, "<dapkit: data>", "eval") if isinstance(holder, str) else None
        self._seen: object = _NOWHERE

    def _look(self, frame: FrameType) -> None:
        call = self._call(frame)
        if self._frame and call is None:
            return  # it may be suspended
        began = 0 if call is None else backend.first_tick(call)
        if began != self._began:
            self._change, self._seen = None, _NOWHERE  # a value of an earlier call is another variable
            self._began = began
        before, self._seen = self._seen, self._data(frame)
        if plain_mark(before) == plain_mark(self._seen) or self._place is None:
            return
        if before is not _NOWHERE and self._seen is not _NOWHERE and self._stops(frame, before, self._seen):
            self._change = {"clock": self._place[2]}

    def _data(self, frame: FrameType) -> object:
        names = self._names(frame)
        if names is None:
            return _NOWHERE
        try:
            value: object = eval(self._code, *names)
        except Exception:
            return _UNSET if self._has_holder(names) else _NOWHERE
        return value

    def _has_holder(self, names: tuple[dict[str, Any], Mapping[str, Any]]) -> bool:
        if self._holder is None:
            return bool(self._frame)
        try:
            eval(self._holder, *names)
        except Exception:
            return False
        return True

    def _stops(self, frame: FrameType, old: object, new: object) -> bool:
        test = self._test
        if test.expression is not None:
            try:
                if not test.expression.value(frame, {"old": old, "new": new}):
                    return False
            except Exception:
                return False
        return test.hits is None or bool(eval(test.hits_expression, {"_d_hits": test.next_hit()}))
