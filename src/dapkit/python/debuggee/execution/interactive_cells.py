"""Texts that a library runs one after the other: statements of a cell, inputs of a console, examples of a doctest.

Each of them is a code object of its own, started by the same frames of the library. So where a step leaves one
of them, it continues in the next: one of the same file name, or one that the same frame runs.
"""

from collections.abc import Callable
from types import FrameType

from ..interpreter import limits
from ..interpreter.frame_views import FrameRun
from ..sources.files import OURS, Sources, is_function


class CellRun(FrameRun):
    """A text that was left, the frame that ran it, and the outermost of the library's frames that may run the next."""

    def __init__(self, filename: str, caller: FrameType, around: FrameType) -> None:
        super().__init__(around)
        self.filename = filename
        self.caller = caller

    def admits(self, frame: FrameType, *, into: bool) -> bool:
        """Take a frame that runs the next text; and with `into` whatever starts."""
        code = frame.f_code
        return into or (not is_function(code) and (code.co_filename == self.filename or frame.f_back is self.caller))


def cell_run(frame: FrameType, sources: Sources, shows: Callable[[FrameType], bool]) -> CellRun | None:
    """Return the frame that may follow a finished frame, None if it does not run a text for a library.

    The import system runs modules, which nothing follows.
    """
    code, caller = frame.f_code, frame.f_back
    if is_function(code) or caller is None or caller.f_code.co_filename.startswith("<frozen "):
        return None
    around: FrameType | None = None
    older: FrameType | None = caller
    for _ in range(limits.CELL_CALLERS):
        if older is None or shows(older) or sources.kind(older.f_code.co_filename) == OURS:
            break
        around, older = older, older.f_back
    return None if around is None else CellRun(code.co_filename, caller, around)
