"""The stacks of threads, stopped or running, as `stackTrace` shows them.

Frames of this package are never shown: they lie at the bottom of the main thread, and on
top of one that is just being stopped.
"""

from collections.abc import Callable
from types import FrameType

from .references import References
from .sources import LIBRARY, OURS, Sources
from .stops import Parked
from .wire import Json


class Frame:
    """A frame that a client has a number for, in a thread that is stopped."""

    def __init__(self, frame: FrameType, line: int, ident: int) -> None:
        self.frame = frame
        self.line = line
        self.ident = ident


class Stacks:
    """Makes the bodies of `stackTrace`.

    Invariant: within one stop, a frame has the same number in every answer.
    """

    def __init__(self, sources: Sources, references: References) -> None:
        self._sources = sources
        self._references = references
        self._numbers: dict[tuple[int, int], int] = {}
        self._stop = -1
        self.details: Callable[[FrameType], Json] = lambda _: {}
        """More fields of a frame, about the instruction that it is at."""

    def walk(self, newest: FrameType | None) -> list[tuple[FrameType, int]]:
        """Return the program's frames of a stack with their lines, from the newest."""
        found: list[tuple[FrameType, int]] = []
        while newest is not None:
            if self._sources.kind(newest.f_code.co_filename) != OURS:
                found.append((newest, newest.f_lineno or newest.f_code.co_firstlineno))
            newest = newest.f_back
        while found and found[-1][0].f_code.co_filename == "<frozen runpy>":
            del found[-1]
        return found

    def of_parked(self, parked: Parked) -> list[tuple[FrameType, int]]:
        """Return the frames to show of a thread that stands still."""
        if parked.trail is not None:
            return parked.trail + self.walk(parked.trail[-1][0].f_back if parked.trail else parked.shown)
        return self.walk(parked.shown)

    def page(self, frames: list[tuple[FrameType, int]], ident: int, start: int, levels: int, *, stopped: bool) -> Json:
        """Return the body of `stackTrace`; 0 levels are all."""
        if self._stop != self._references.stop:
            self._stop = self._references.stop
            self._numbers = {}
        chosen = frames[start : start + levels] if levels else frames[start:]
        shown = [
            self._describe(frame, line, self._number(frame, line, ident) if stopped else self._references.passing())
            for frame, line in chosen
        ]
        return {"stackFrames": shown, "totalFrames": len(frames)}

    def _number(self, frame: FrameType, line: int, ident: int) -> int:
        number = self._numbers.get((id(frame), line))
        if number is None:
            number = self._numbers[(id(frame), line)] = self._references.add(Frame(frame, line, ident))
        return number

    def _describe(self, frame: FrameType, line: int, number: int) -> Json:
        code = frame.f_code
        described: Json = {
            "id": number,
            "name": code.co_qualname,
            "line": line,
            "column": 1,
            "source": self.source(code.co_filename),
        }
        described |= self.details(frame)
        if self._sources.kind(code.co_filename) == LIBRARY:
            described["presentationHint"] = "subtle"
        return described

    def source(self, filename: str) -> Json:
        """Return the Source of a code object's file name."""
        path = self._sources.path(filename)
        if path is None:
            return {"name": filename, "presentationHint": "deemphasize"}
        return {"name": path.rpartition("/")[2], "path": path}
