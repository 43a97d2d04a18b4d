"""What functions were called with: needed to restart them, and known without watching every call.

A parameter that its function never assigns to is what it was. The others are kept from a stop at which
nothing was assigned yet: at the beginning of a function that was stepped into, or has a breakpoint there.
"""

from collections.abc import Callable
from types import CodeType, FrameType

from .monitor import EVENTS, Monitor
from .sources import is_function, resume_offset
from .standard import standard

_KEPT = 8
"""Frames whose arguments are kept."""
_EXTENDED = "EXTENDED_ARG"
_STORES = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF", "STORE_FAST_MAYBE_NULL", "LOAD_FAST_AND_CLEAR")
_DOUBLE_STORES = ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
"""Of two variables at once, since 3.13; their numbers have four bits each."""


class Arguments:
    """Arguments of frames that may be restarted.

    Invariant: a frame is kept only until it returns, and its code is watched for that. Changed under the engine's lock.
    """

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._assigned: dict[int, tuple[CodeType, list[str]]] = {}  # by id: a code object's own hash is slow
        self.kept: list[tuple[FrameType, dict[str, object]]] = []

    def note(self, frame: FrameType) -> None:
        """Keep the arguments of a frame that has just begun, if it may lose them."""
        code = frame.f_code
        if not is_function(code) or frame.f_lasti > _end_of_first_line(code) or not self.assigned(code):
            return
        if any(seen is frame for seen, _ in self.kept):
            return
        for old, _ in self.kept[: max(0, len(self.kept) + 1 - _KEPT)]:
            self.leave(old)
        names = frame.f_locals
        self.kept.append((frame, {name: names[name] for name in self.assigned(code) if name in names}))
        self._monitor.want(code, "arguments", EVENTS.PY_RETURN)

    def leave(self, frame: FrameType) -> None:
        """Forget a frame: it has returned."""
        self.kept = [pair for pair in self.kept if pair[0] is not frame]
        if not any(seen.f_code is frame.f_code for seen, _ in self.kept):
            self._monitor.want(frame.f_code, "arguments", 0)

    def known(self, frame: FrameType) -> dict[str, object] | None:
        """Return what is to be restored when a frame is restarted, None if that is not known."""
        if not self.assigned(frame.f_code):
            return {}
        return next((values for seen, values in self.kept if seen is frame), None)

    def assigned(self, code: CodeType) -> list[str]:
        """Return the parameters that a function assigns to."""
        known = self._assigned.get(id(code))
        if known is None:
            known = self._assigned[id(code)] = (code, _assigned(code))
        return known[1]


def _end_of_first_line(code: CodeType) -> int:
    """Return the offset of the last instruction that is executed before the second line."""
    resume = resume_offset(code)
    return next((end - 2 for _, end, line in code.co_lines() if line and end > resume + 2), 0)


def _assigned(code: CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    parameters = code.co_varnames[:count]
    if not parameters:
        return []
    numbers: dict[str, int] = standard("opcode").opmap
    stores = {numbers[name] for name in _STORES if name in numbers}
    doubles = {numbers[name] for name in _DOUBLE_STORES if name in numbers}
    extended = numbers[_EXTENDED]
    found: set[str] = set()
    name_of: Callable[[int], str] = getattr(code, "_varname_from_oparg")  # noqa: B009 - not in the typed library
    high = 0
    data = code.co_code
    for opcode, low in zip(data[::2], data[1::2], strict=True):
        argument = high | low
        high = argument << 8 if opcode == extended else 0
        if opcode in stores:
            found.add(name_of(argument))
        elif opcode in doubles:
            found.add(name_of(argument >> 4))
            found.add(name_of(argument & 15))
    return [name for name in parameters if name in found]
