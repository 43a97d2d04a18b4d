"""When a line of a function has begun last: in one of its calls, or in any."""

from types import FrameType

from ..chain import chain_of
from ..connection.wire import Json
from .boundary import boundary


class LineWatch:
    """A line of a function, in the call at a depth of the stack; 0 for any. `place` is from `dapkit/placeOfTarget`."""

    def __init__(self, place: Json) -> None:
        self._function = place["path"], place["first"]
        depth = place["depth"]
        self._line = place["line"]
        self._depth = depth if isinstance(depth, int) else 0
        self._last = 0
        self._call = 0  # when the call began in which that was; -1 if nobody saw it begin

    def line(self, frame: FrameType, clock: int) -> None:
        """Take note of a line that begins."""
        code = frame.f_code
        if frame.f_lineno != self._line or (code.co_filename, code.co_firstlineno) != self._function:
            return
        if self._depth and len(chain_of(frame)) != self._depth:
            return
        self._last, self._call = clock, boundary.first_tick(frame)

    def leave(self, caller: FrameType | None, clock: int) -> None:
        """Take no note of where functions return to."""

    def report(self, frame: FrameType, clock: int) -> Json:  # noqa: ARG002 - all watches are asked so
        """Say when it was, in the call that is there now; and whether there is no use in looking farther back."""
        if not self._depth:
            return {"change": {"clock": self._last} if self._last else None}
        chain = chain_of(frame)
        began = boundary.first_tick(chain[len(chain) - self._depth]) if self._depth <= len(chain) else 0
        is_same = bool(self._last) and began == self._call
        return {"change": {"clock": self._last} if is_same else None, "absent": began >= 0}
