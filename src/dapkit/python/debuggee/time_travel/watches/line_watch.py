"""When a line of a function has begun last: in one of its calls, or in any."""

from types import FrameType

from ...connection.framing import Json
from ..replay_backend import backend


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
