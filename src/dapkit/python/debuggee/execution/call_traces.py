"""Traces of calls: a thread steps through a call by itself, and notes its lines and their variables.

A step that arrives in a traced call does not stop the program: the line is noted, and the next step begins at once. The
program stops where the call is over, and for any other reason than a step. Lines beyond the limit are not noted: the
thread then runs to the end of the call at full speed.
"""

from types import FrameType

from ..bytecode.texts import ProgramTexts
from ..connection.framing import Json
from ..connection.link import Link
from ..evaluation.guard import EvaluationGuard
from ..evaluation.supervised import supervised
from ..interpreter import limits
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import forget_classes, plain_text
from ..sources.files import PROGRAM, Sources
from ..values.one_line import in_line, variables_in_lines
from .results import UNKNOWN, Result
from .stepping import INTO, OUT, OVER, StepKind, Stepping


class CallTrace:
    """A call that is traced: `depth` levels of calls below it are followed, and `most` lines noted."""

    __slots__ = ("_level", "_values", "depth", "frame", "is_cut", "lines", "most")

    def __init__(self, frame: FrameType, *, depth: int, most: int) -> None:
        untrack(self)
        self.frame: FrameType | None = frame
        """None once it is over."""
        self.depth = depth
        self.most = most
        self.lines: list[Json] = []
        self.is_cut = False
        """Whether there were more lines than are noted."""
        self._level = 0
        self._values: dict[int, dict[object, Json]] = {}  # by level

    def changed(self, level: int, variables: list[Json]) -> list[Json]:
        """Return the variables that are other than at the line before of the same call."""
        before = self._values.get(level, {}) if level <= self._level else {}
        self._level = level
        self._values[level] = {row["name"]: row for row in variables}
        return [row for row in variables if before.get(row["name"]) != row]


class CallTraces:
    """The traces of calls, of which a thread has one at most."""

    def __init__(self, link: Link, sources: Sources, texts: ProgramTexts, stepping: Stepping) -> None:
        self._link = link
        self._sources = sources
        self._texts = texts
        self._stepping = stepping
        self._traces: dict[int, CallTrace] = {}

    def begin(self, ident: int, frame: FrameType, guard: EvaluationGuard, *, depth: int, most: int) -> Json:
        """Trace the call of a frame with the next step of its thread, the calling one; return its first line."""
        trace = self._traces[ident] = CallTrace(frame, depth=depth, most=most)
        return self._line(trace, frame, guard, level=0, returned=[])

    def end(self, ident: int) -> CallTrace | None:
        """End the trace of a thread and return it."""
        return self._traces.pop(ident, None)

    def goes_on(self, ident: int, frame: FrameType, returned: list[Result]) -> StepKind | None:
        """Note that a step has arrived in a frame; return the next step, or None where the thread is to stop."""
        trace = self._traces.get(ident)
        if trace is None or trace.frame is None:
            return None
        level = self._level(trace.frame, frame)
        if level is None:
            trace.frame = None
            return None
        if level > trace.depth or self._sources.kind_of(frame) != PROGRAM:
            return OUT
        if len(trace.lines) + 1 >= trace.most:
            trace.is_cut = True
            return OUT

        def note(guard: EvaluationGuard) -> None:
            trace.lines.append(self._line(trace, frame, guard, level=level, returned=returned))

        supervised(self._link, limits.PAGE_SECONDS, note)
        return INTO if level < trace.depth else OVER

    def _level(self, traced: FrameType, frame: FrameType) -> int | None:
        """Count the calls from the traced one to a frame; None if it is not below it."""
        level = 0
        older: FrameType | None = frame
        while older is not None:
            if older is traced:
                return level
            level += self._stepping.may_show(older)
            older = older.f_back
        return None

    def is_left_by_exception(self, ident: int, frame: FrameType) -> bool:
        """Whether it is a traced call that an exception leaves: the call is over then, and its thread is to stop."""
        trace = self._traces.get(ident)
        if trace is None or trace.frame is not frame:
            return False
        trace.frame = None
        return True

    def _line(
        self, trace: CallTrace, frame: FrameType, guard: EvaluationGuard, *, level: int, returned: list[Result]
    ) -> Json:
        """Describe where a frame stands, with the variables that have changed since the line before."""
        forget_classes()
        view = virtual_frame_of(frame)
        code = frame.f_code
        line, name = (frame.f_lineno or 0, code.co_qualname) if view is None else (view.line, view.title)
        path = code.co_filename if view is None else view.filename
        text = self._texts.of_code(code) if view is None else self._texts.of_name(path)
        results = [(plain_text(name), value) for name, value in returned if value is not UNKNOWN]
        return {
            "level": level,
            "line": line,
            "function": name,
            "path": path,
            "text": "" if text is None else text.line(line)[: limits.SOURCE_LINE_CHARS],
            "variables": trace.changed(level, variables_in_lines(frame, guard)),
            "returned": [{"name": name, **in_line(value, guard)} for name, value in results],
        }
