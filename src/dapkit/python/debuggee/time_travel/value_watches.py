"""When a value has changed last, when a line of a function has begun last, and the last write to watched data.

An expression is evaluated at each line of the program's own code, in one frame. Values are compared without code of the
program: an immutable one by its value, one with items or attributes by the identities of these. So a change of a list's
items counts, and a change inside an item does not. The data of a data breakpoint is found by an expression, not by its
address: work at each line gives later objects other addresses.
"""

import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any, Final

from ..breakpoints.conditions import BreakpointCondition
from ..connection.framing import Json
from ..interpreter.safe_types import stored_dict
from ..values.text import render
from .replay_backend import backend

_MOST_ITEMS: Final = 1000
"""Of which it is looked whether they are the same."""
_CHARS: Final = 200
_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None))


_COLLECTIONS: Final = (list, tuple, set, frozenset, dict)


class _Absent:
    """The value of an expression without a value: its frame, or a name in it, does not exist."""


_ABSENT: Final = _Absent()


class ValueWatch:
    """The value of an expression in a module, or in one call of a function.

    `place` is the response of `dapkit/placeOfExpression`.
    """

    def __init__(self, expression: str, place: Json) -> None:
        self._code = compile(expression.strip(), "<dapkit: why>", "eval", dont_inherit=True)
        self._module = place.get("module")
        call = place.get("frame")
        self._frame = call if isinstance(call, int) else 0
        self._began: int | None = None  # when the call began, if it is in one
        self._function = (place.get("path"), place.get("line"))
        self._place: tuple[CodeType, int, int] | None = None  # the line that is executed, and when it began
        self._mark: object = None
        self._text: str | None = None
        self._change: Json | None = None

    def report(self, frame: FrameType, clock: int) -> Json:
        """Describe the last change: the line that made it, the value before and after.

        And whether there was no change.
        """
        self.line(frame, clock)
        return {"change": self._change, "absent": self._text is None}

    def line(self, frame: FrameType, clock: int) -> None:
        """Compare the value with its earlier one, where a line begins."""
        self._look(frame)
        self._place = frame.f_code, frame.f_lineno, clock

    def leave(self, caller: FrameType | None, clock: int) -> None:
        """Compare where a function returns to a line that began at a clock; no positive one if that is not known."""
        if caller is not None:
            self._look(sys._getframe(2))
            if clock > 0:
                self._place = caller.f_code, caller.f_lineno, clock

    def _look(self, frame: FrameType) -> None:
        if self._module is None and not self._is_in_call(frame):
            return
        value = self._value(frame)
        mark = _mark(value)
        if mark == self._mark:
            return
        text = None if value is _ABSENT else render(value, None, _CHARS)
        if self._place is not None:
            code, line, clock = self._place
            self._change = {
                "clock": clock,
                "path": code.co_filename,
                "function": code.co_qualname,
                "line": line,
                "old": self._text,
                "new": text,
            }
        self._mark, self._text = mark, text

    def _is_in_call(self, frame: FrameType) -> bool:
        """Return whether the call is on the stack: a coroutine may be suspended.

        The value of an earlier one is forgotten.
        """
        call = self._call(frame)
        if call is None:
            return False
        began = backend.first_tick(call)
        if began != self._began:
            self._began, self._change = began, None
            value = self._value(frame) if began < 0 else _ABSENT
            self._mark, self._text = _mark(value), None if value is _ABSENT else render(value, None, _CHARS)
        return True

    def _value(self, frame: FrameType) -> object:
        names = self._names(frame)
        if names is None:
            return _ABSENT
        try:
            return eval(self._code, *names)
        except Exception:
            return _ABSENT

    def _names(self, frame: FrameType) -> tuple[dict[str, Any], Mapping[str, Any]] | None:
        """Return the global and local variables of the place; None if it is not there."""
        if self._module is not None:
            module = sys.modules.get(str(self._module))
            return None if module is None else (vars(module), vars(module))
        call = self._call(frame)
        return None if call is None else (call.f_globals, call.f_locals)

    def _call(self, frame: FrameType) -> FrameType | None:
        """Return the frame of the place, if it is on the stack, and one of its function."""
        frame_of_call = backend.frame_of(frame, self._frame) if self._frame else None
        if frame_of_call is None:
            return None
        return (
            frame_of_call
            if (frame_of_call.f_code.co_filename, frame_of_call.f_code.co_firstlineno) == self._function
            else None
        )


def _mark(value: Any) -> tuple[object, ...]:  # noqa: ANN401 - any value
    kind, inner = type(value), value
    if kind in (*_PLAIN, bytearray):
        return kind, plain_mark(value)
    identity = 0
    if kind is dict:
        inner = [entry for pair in list(value.items())[:_MOST_ITEMS] for entry in pair]
    elif kind not in _COLLECTIONS:
        identity, names = id(value), stored_dict(value)
        inner = list(names.values()) if type(names) is dict else ()
    return kind, identity, len(value) if kind in _COLLECTIONS else 0, tuple(map(plain_mark, list(inner)[:_MOST_ITEMS]))


def plain_mark(value: Any) -> object:  # noqa: ANN401 - any value
    """Return a key by which a value is compared, if it is one of many: itself, if that runs no code of the program."""
    kind = type(value)
    return (kind, bytes(value) if kind is bytearray else repr(value)) if kind in (*_PLAIN, bytearray) else id(value)


class LineWatch:
    """A line of a function, in one call, or in any. `place` is from `dapkit/placeOfTarget`."""

    def __init__(self, place: Json) -> None:
        self._function = place["path"], place["first"]
        call = place["frame"]
        self._line = place["line"]
        self._frame = call if isinstance(call, int) else 0
        self._last = 0
        self._call = 0  # when the call around it began; -1 if its beginning was not seen

    def line(self, frame: FrameType, clock: int) -> None:
        """Record a line that begins."""
        code = frame.f_code
        if frame.f_lineno != self._line or (code.co_filename, code.co_firstlineno) != self._function:
            return
        if self._frame and backend.identity(frame) != self._frame:
            return
        self._last, self._call = clock, backend.first_tick(frame)

    def leave(self, caller: FrameType | None, clock: int) -> None:
        """Take no note of where functions return to."""

    def report(self, frame: FrameType, clock: int) -> Json:  # noqa: ARG002 - all watches are asked so
        """Say when it was, in the call that is there now; and whether there is no use in looking farther back."""
        if not self._frame:
            return {"change": {"clock": self._last} if self._last else None}
        call = backend.frame_of(frame, self._frame)
        began = 0 if call is None else backend.first_tick(call)
        is_same = bool(self._last) and began == self._call
        return {"change": {"clock": self._last} if is_same else None, "absent": began >= 0}


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
