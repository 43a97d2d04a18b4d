"""Frames that stand for something else than their code: for a template that they render.

Readers recognise such frames; there are no readers unless the client has asked for them. All who show
a frame, or read its variables, ask `virtual_frame_of`.
"""

from collections.abc import Callable
from types import FrameType
from typing import Protocol


class FrameRun(Protocol):
    """Frames that one frame runs, one after the other, and between which a step goes: `around` is that frame."""

    around: FrameType

    def __init__(self, around: FrameType) -> None:
        self.around = around

    def admits(self, frame: FrameType, *, into: bool) -> bool:
        """Return whether a step ends in a frame that `around` has run, which may be a step `into` the callee."""


class FrameView(Protocol):
    """The view of a frame; a class for each kind is derived from this.

    Attributes:
        frame: the frame itself.
        filename: as a code object would have it.
        line: in that file.
        is_place: whether a step may end where the frame is now.
        is_machinery: whether the frame only prepares code that others run, and belongs to a library.

    """

    frame: FrameType
    filename: str
    line: int
    is_place: bool
    is_machinery: bool

    def __init__(self, frame: FrameType, filename: str, line: int) -> None:
        self.frame = frame
        self.filename = filename
        self.line = line
        self.is_place = False
        self.is_machinery = False

    @property
    def title(self) -> str:
        """The name of the frame."""

    def names(self) -> dict[str, object]:
        """Return the variables, as they are now."""

    def global_names(self) -> dict[str, object]:
        """Return the variables beyond the frame's own, and under `__builtins__` Python's."""

    def text(self) -> str | None:
        """Return the text that it is of, if no file has it."""
        return None

    def run(self) -> FrameRun | None:
        """Return the code that runs the following frames, if each frame is only one piece."""
        return None

    def write(self, name: str, value: object) -> None:
        """Give a variable a new value.

        Raises:
            RequestRefused: if it has no place to be kept in.

        """


type Reader = Callable[[FrameType, int], FrameView | None]
"""Recognises a frame, which is at a line of its code."""

_readers: list[Reader] = []


def set_recognizers(readers: list[Reader]) -> None:
    """Recognise frames by these, and no others."""
    _readers[:] = readers


def virtual_frame_of(frame: FrameType, line: int = 0) -> FrameView | None:
    """Return the view of a frame, at a line of its code or at its present one; None for nearly all: they have none."""
    for reader in _readers:
        view = reader(frame, line or frame.f_lineno or frame.f_code.co_firstlineno)
        if view is not None:
            return view
    return None
