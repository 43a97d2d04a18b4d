"""The tool of sys.monitoring that counts the lines of the program, for its clock."""

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Final

from ..sources.files import OURS, PROGRAM, Sources, starts_on_its_only_line
from .replay_backend import backend

_MONITORING = sys.monitoring
_EVENTS: Final = _MONITORING.events

TOOL: Final = _MONITORING.OPTIMIZER_ID
"""The highest number: it is called before the others, and knows the clock when they ask."""


def claim() -> None:
    """Take the tool for the clock.

    Raises:
        ValueError: another tool has it.

    """
    _MONITORING.use_tool_id(TOOL, "dapkit's clock")


def counted(sources: Sources, *, everything: bool) -> Callable[[CodeType], int]:
    """Return the function that says whether the lines of code are counted: 0, 1, or 2 if it has only one.

    The code begins in the frame that calls it, or is executed in an older one. A text that a library executes is the
    library's, as for a named tuple.
    """

    def counts(code: CodeType) -> int:
        kind = sources.kind(code.co_filename)
        if kind == PROGRAM and code.co_filename.startswith("<"):
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code is not code:
                frame = frame.f_back
            kind = kind if frame is None else sources.kind_of(frame)
        if kind != PROGRAM and (kind == OURS or not everything):
            return 0
        return 2 if starts_on_its_only_line(code) else 1

    return counts


def count(on_line: Callable[..., object] | None = None, on_start: Callable[..., object] | None = None) -> None:
    """Begin to count the lines of code that starts; by callbacks of `backend`, other ones if they are given."""
    started = on_start or backend.on_start
    for event, callback in (
        (_EVENTS.LINE, on_line or backend.on_line),
        (_EVENTS.PY_START, started),
        (_EVENTS.PY_RESUME, started),
    ):
        _MONITORING.register_callback(TOOL, event, callback)
    events = _EVENTS.PY_START | _EVENTS.PY_RESUME
    if backend.even_out_throws(_suspended.__code__):
        _MONITORING.register_callback(TOOL, _EVENTS.PY_THROW, backend.on_throw)
        events |= _EVENTS.PY_THROW
    _MONITORING.set_events(TOOL, events)


def _suspended() -> Iterator[None]:
    yield
