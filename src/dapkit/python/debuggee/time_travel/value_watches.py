"""When a value has changed last, when a line of a function has begun last, and the last write to watched data.

An expression is evaluated at each line of the program's own code, in one frame, and its values are compared by their
marks. The data of a data breakpoint is found by an expression, not by its address: work at each line gives later
objects other addresses.
"""

import _thread
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from ..breakpoints.conditions import BreakpointCondition
from ..bytecode.bindings import binding_offsets, names_on_line
from ..connection.framing import Json
from ..values.text import render
from .replay_backend import backend
from .value_marks import Mark, doubt_about, mark_of, plain_mark, without_identity
from .value_steps import OBJECT, steps_of

_CHARS: Final = 200


class _Place(NamedTuple):
    """A line that is executed.

    Attributes:
        clock: when it began; 0 if that was before this process began to watch.
        frame: identity of its frame where the clock is 0.
        is_left: whether its function has returned to a library since, which no code of the program has called.

    """

    code: CodeType
    line: int
    clock: int
    frame: int = 0
    is_left: bool = False


def _place_of(frame: FrameType | None) -> _Place | None:
    """Return the line that is executed in a frame, or in the nearest caller that is code of the program in a file.

    Code without a file, such as a namedtuple has, is not the user's, unless there is no other code.
    """
    without_file = None
    while frame is not None:
        if backend.is_of_program(frame):
            if _has_file(frame.f_code):
                break
            without_file = without_file or frame
        frame = frame.f_back
    frame = frame or without_file
    if frame is None:
        return None
    clock = max(backend.last_tick(frame), 0)
    return _Place(frame.f_code, frame.f_lineno, clock, 0 if clock else backend.identity(frame))


def _has_file(code: CodeType) -> bool:
    """Return whether code is from a file, and not as of `<string>`."""
    return not code.co_filename.startswith("<")


class _Absent:
    """The value of an expression without a value: its frame, or a name in it, does not exist."""


_ABSENT: Final = _Absent()


class ValueWatch:
    """The value of an expression in a module, in one call of a function, or in an object.

    `place` is the response of `dapkit/placeOfExpression`.
    """

    def __init__(self, expression: str, place: Json) -> None:
        self._code = compile(expression.strip(), "<dapkit: why>", "eval", dont_inherit=True)
        self._module = place.get("module")
        described: dict[str, Any] = place
        is_of_object = "object" in place and "frame" not in place
        self._object: tuple[int, int] | None = (described["object"], described["type"]) if is_of_object else None
        call = place.get("frame")
        self._frame = call if isinstance(call, int) else 0
        self._began: int | None = None  # when the call began, if it is in one
        self._function = (place.get("path"), place.get("line"))
        steps = steps_of(expression)
        variable = str(place["name"]) if place.get("cell") else ""  # in whose cell it is
        self._name = variable if variable and len(steps) == 2 else expression.strip()
        self._names_used = {str(key) for kind, key in steps if kind in ("name", "attribute", "key")} | {variable}
        self._reads_outer = bool(place.get("outer"))
        self._place: _Place | None = None  # the line that is executed
        self._places: dict[int, _Place] = {}  # by thread: the one that it executes
        self._thread = 0  # the one that executes `_place`
        self._mark: Mark | None = None
        self._text: str | None = None
        self._change: Json | None = None
        self._changed_in = 0  # identity of the frame, where it is not known when the line began
        self._now = 0  # the clock of the line that was begun last, before the value is looked at
        self._changed_after = 0  # the same, where it has changed
        self._doubt = ""  # why the line that has changed it is not known
        self._is_new = False  # the call has just begun

    def begin(self, frames: Mapping[int, FrameType]) -> None:
        """Take the lines that the threads execute where the watch begins; `frames` are the newest ones, by thread."""
        for ident, frame in frames.items():
            if (place := _place_of(frame)) is not None:
                self._places[ident] = place

    def report(self, frame: FrameType, clock: int) -> Json:
        """Describe the last change: the line that made it, the value before and after.

        And whether there was no change. `frame` is the identity of its frame if it is not known when the line began.
        """
        self.line(frame, clock)
        return {
            "change": self._change,
            "frame": self._changed_in,
            "after": self._changed_after,
            "doubt": self._doubt,
            "absent": self._text is None,
        }

    def line(self, frame: FrameType, clock: int) -> None:
        """Compare the value with its earlier one, where a line begins."""
        self._now = clock - 1
        self._look(frame)
        self._stand(_Place(frame.f_code, frame.f_lineno, clock) if _has_file(frame.f_code) else _place_of(frame))

    def leave(self, leaving: FrameType) -> None:
        """Compare where a function is left, by its end or for a while; its caller's line is executed then."""
        self._now = backend.clock()
        self._look(leaving)
        self._stand(_place_of(leaving.f_back))

    def resume(self, frame: FrameType) -> None:
        """Compare where a generator or coroutine continues, in the middle of a line."""
        self._now = backend.clock()
        self._look(frame)
        self._stand(_place_of(frame))

    def _stand(self, place: _Place | None) -> None:
        """Take a line as the one that is executed; where no code of the program is, the last one is left."""
        ident = _thread.get_ident()
        if place is None and ident in self._places:
            code, line, clock, call, _ = self._places[ident]
            place = _Place(code, line, clock, call, is_left=True)
        if place is not None:
            self._thread = ident
            self._place = self._places[ident] = place

    def _changed_at(self) -> _Place | None:
        """Return the line that has changed the value: the last one that was executed.

        Where another thread executed that, this one has continued in the middle of a line, and may have changed it
        since. The line of the two decides which binds the name, or else which has the names of the expression.
        """
        self._doubt = ""
        own, other = self._places.get(_thread.get_ident()), self._place
        if own is None or other is None or self._thread == _thread.get_ident():
            return other
        own_binds, other_binds = (bool(binding_offsets(at.code, self._name, at.line)) for at in (own, other))
        if own_binds != other_binds:
            return own if own_binds else other
        own_names, other_names = (
            not self._names_used.isdisjoint(names_on_line(at.code, at.line)) for at in (own, other)
        )
        if own_names != other_names:
            return own if own_names else other
        lines = " or ".join(f"{at.code.co_filename}:{at.line}" for at in (own, other))
        self._doubt = f"two threads ran before the change was seen, at {lines}"
        return other

    def _look(self, frame: FrameType) -> None:
        if self._module is None and self._object is None and not self._is_in_call(frame):
            return
        value = self._value(frame)
        mark = mark_of(value)
        is_new, self._is_new = self._is_new, False
        if mark == self._mark:
            return
        again = mark_of(self._value(frame))
        if again != mark and self._mark is not None and without_identity(mark) == without_identity(self._mark):
            self._mark = mark  # each evaluation makes an object, and these are alike
            return
        text = None if value is _ABSENT else render(value, None, _CHARS)
        place = self._changed_at()
        if place is not None and place.is_left:
            self._doubt = self._doubt or self._about_library(frame, place, is_new=is_new)
        if is_new and self._reads_outer:
            self._doubt = "it reads variables of an enclosing call, and was so when this call began"
        if without_identity(again) != without_identity(mark):
            self._doubt = "each evaluation has another value"
        if place is not None:
            code, line, clock, self._changed_in, _ = place
            self._changed_after = self._now
            self._change = {
                "clock": clock or None,
                "path": code.co_filename,
                "function": code.co_qualname,
                "line": line,
                "old": self._text,
                "new": text,
                "doubt": doubt_about(value) or None,
            }
        self._mark, self._text = mark, text

    def _about_library(self, frame: FrameType, last: _Place, *, is_new: bool) -> str:
        """Return why the line is not known where a library that the program has not called has made the value so."""
        call = self._call(frame)
        if is_new and call is not None and call.f_back is not None:
            caller = call.f_back
            where = f"{caller.f_code.co_filename}:{caller.f_lineno}"
            return f"{call.f_code.co_qualname} was called with it by a library, at {where}"
        return f"a library has changed it, after {last.code.co_filename}:{last.line} had returned to it"

    def _is_in_call(self, frame: FrameType) -> bool:
        """Return whether the call is on the stack: a coroutine may be suspended.

        The value of an earlier one is forgotten.
        """
        call = self._call(frame)
        if call is None:
            return False
        began = backend.first_tick(call)
        if began != self._began:
            self._began, self._change, self._changed_in = began, None, 0
            self._is_new = began >= 0
            value = self._value(frame) if began < 0 else _ABSENT
            self._mark, self._text = mark_of(value), None if value is _ABSENT else render(value, None, _CHARS)
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
        if self._object is not None:
            value = backend.object_at(*self._object)
            return None if value is None else ({}, {OBJECT: value})
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

    def leave(self, leaving: FrameType) -> None:
        """Take no note of where functions return to."""

    def resume(self, frame: FrameType) -> None:
        """Take no note of where generators continue."""

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

    def line(self, frame: FrameType, clock: int) -> None:
        """Compare the data with the earlier one, where a line begins; the stop is there, whatever the code is from."""
        self._look(frame)
        self._place = _Place(frame.f_code, frame.f_lineno, clock)

    def _stand(self, place: _Place | None) -> None:
        """Take a line as the one that is executed, if it is known when it began: that is where the stop is."""
        if place is not None and place.clock:
            self._place = place

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
            self._change = {"clock": self._place.clock}

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
