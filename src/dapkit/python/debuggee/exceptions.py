"""Stops at exceptions: which filters are set, whether a raise is one to stop at, and what it was.

    raised         at the raise, once, in the first frame of the program's own code that sees it
    uncaught       at the raise, if nothing on the stack will catch it (`catching`); where that
                   cannot be told, when it leaves the last frame, with the frames of its traceback
    userUnhandled  at the raise, if it will leave the program's own code for a library's

`raised` does not stop at StopIteration and its kind, `uncaught` not at SystemExit and KeyboardInterrupt.
"""

import sys
from types import FrameType

from . import catching, limits
from . import monitor as events
from .errors import RequestRefused
from .jobs import Guard
from .monitor import Monitor
from .sources import LIBRARY, OURS, PROGRAM, Sources
from .values import class_name, error_text, is_a, own_text, stored, type_name
from .wire import Json

FILTERS: list[Json] = [
    {"filter": "raised", "label": "Raised Exceptions", "default": False,
     "description": "Stop wherever an exception is raised."},
    {"filter": "uncaught", "label": "Uncaught Exceptions", "default": True,
     "description": "Stop where an exception is raised that nothing will catch."},
    {"filter": "userUnhandled", "label": "User Unhandled Exceptions", "default": False,
     "description": "Stop where an exception is raised that will leave the program's own code for a library's."},
]  # fmt: skip

_QUIET = (StopIteration, StopAsyncIteration, GeneratorExit)
_ORDERLY = (*_QUIET, SystemExit, KeyboardInterrupt)
_CACHE_SIZE = 4_096


class Exceptions:
    """The exception breakpoints.

    Invariant: RAISE, RERAISE and PY_UNWIND are watched exactly while a filter that needs them is set.
    """

    def __init__(self, monitor: Monitor, sources: Sources) -> None:
        self._monitor = monitor
        self._sources = sources
        self._filters: frozenset[str] = frozenset()
        self.caught_at_once: set[tuple[int, int, type]] = set()
        """Code object, instruction and type of what the raising frame itself catches; empty under `raised`."""
        self._kept: list[object] = []  # the code objects of the line above, so that ids stay their own
        self._told: dict[int, BaseException] = {}
        """By thread: the exception it was last stopped for as uncaught."""

    def set(self, filters: list[str]) -> None:
        """Set the filters; the empty list stops at no exception.

        Raises:
            RequestRefused: if one is unknown.

        """
        known = {str(one["filter"]) for one in FILTERS}
        for one in filters:
            if one not in known:
                raise RequestRefused(f"exception filter {one!r} is unknown; there are {', '.join(sorted(known))}")
        self._filters = frozenset(filters)
        self.caught_at_once.clear()
        self._kept.clear()
        wanted = events.EVENTS.RAISE if filters else 0
        if "uncaught" in filters or "userUnhandled" in filters:
            wanted |= events.EVENTS.RERAISE | events.EVENTS.PY_UNWIND
        self._monitor.also("exceptions", wanted)

    def on_raise(self, ident: int, frame: FrameType, offset: int, exception: BaseException, *, again: bool) -> str:
        """Return the break mode to stop with at a RAISE or RERAISE event, or an empty text."""
        filters = self._filters
        if self._sources.kind(frame.f_code.co_filename) == OURS:
            return ""
        traceback = stored(exception, "__traceback__")
        inner = traceback.tb_next.tb_frame if traceback is not None and traceback.tb_next is not None else None
        passing = not again and inner is not None and inner is not frame and inner.f_back is frame
        if "raised" in filters and not again and not is_a(exception, *_QUIET) and self._is_program(frame):
            from_program = passing and inner is not None and self._is_program(inner)
            if not from_program:
                return "always"
        if passing or is_a(exception, *_ORDERLY) or self._told.get(ident) is exception:
            return ""
        return self._unhandled(ident, frame, offset, exception)

    def _unhandled(self, ident: int, frame: FrameType, offset: int, exception: BaseException) -> str:
        """Look down the stack for a handler."""
        verdict = catching.NO
        current: FrameType | None = frame
        in_program = False
        mode = "userUnhandled" if "userUnhandled" in self._filters else ""
        while current is not None and not self._ends_thread(current):
            kind = self._sources.kind(current.f_code.co_filename)
            if in_program and kind == LIBRARY and mode and verdict == catching.NO:
                self._told[ident] = exception
                return mode
            in_program = in_program or kind == PROGRAM
            found = catching.catches(current, exception, offset if current is frame else current.f_lasti)
            if found == catching.YES and verdict == catching.NO:
                if current is frame:
                    self._remember(frame, offset, exception)
                return ""
            if found != catching.NO or catching.swallowed_below(current, exception):
                verdict = catching.MAYBE
                if not mode and found == catching.MAYBE:
                    return ""
            current = current.f_back
        if verdict == catching.NO and "uncaught" in self._filters:
            self._told[ident] = exception
            return "unhandled"
        return ""

    def _remember(self, frame: FrameType, offset: int, exception: BaseException) -> None:
        if "raised" in self._filters:
            return
        if len(self.caught_at_once) >= _CACHE_SIZE:
            self.caught_at_once.clear()
            self._kept.clear()
        self.caught_at_once.add((id(frame.f_code), offset, type(exception)))
        self._kept.append(frame.f_code)

    def on_unwind(self, ident: int, frame: FrameType, exception: BaseException) -> str:
        """Return the break mode to stop with when an exception leaves a frame, or an empty text."""
        if "uncaught" not in self._filters:
            return ""
        caller = frame.f_back
        if caller is not None and not self._ends_thread(caller):
            return ""
        told = self._told.pop(ident, None)
        if told is exception or is_a(exception, *_ORDERLY):
            return ""
        return "unhandled" if self._sources.kind(frame.f_code.co_filename) != OURS else ""

    def _ends_thread(self, frame: FrameType) -> bool:
        """Say whether a frame is what a thread starts with: what arrives there is uncaught."""
        code = frame.f_code
        if self._sources.kind(code.co_filename) == OURS:
            return True
        return code.co_name == "_bootstrap_inner" and code.co_filename == getattr(
            sys.modules.get("threading"), "__file__", None
        )

    def _is_program(self, frame: FrameType) -> bool:
        return self._sources.kind(frame.f_code.co_filename) == PROGRAM


def traceback_of(exception: BaseException) -> list[tuple[FrameType, int]]:
    """Return the frames of an exception's traceback, from the newest; some of them have ended."""
    found: list[tuple[FrameType, int]] = []
    traceback = stored(exception, "__traceback__")
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lineno or 0))
        traceback = traceback.tb_next
    return found[::-1]


def summary(exception: BaseException) -> Json:
    """Return `description` and `text` of a stopped event, without running the program's code."""
    kind, said = type_name(exception), error_text(exception)
    return {"description": f"{kind}: {said}"[: limits.MESSAGE_CHARS] if said else kind, "text": kind}


def information(
    exception: BaseException, break_mode: str, frames: list[tuple[FrameType, int]], guard: Guard | None
) -> Json:
    """Return the body of `exceptionInfo`."""
    details = _details(exception, guard, limits.EXCEPTION_DEPTH)
    details["stackTrace"] = "".join(
        f'  File "{frame.f_code.co_filename}", line {line}, in {frame.f_code.co_qualname}\n'
        for frame, line in reversed(frames)
    )
    return {
        "exceptionId": type_name(exception),
        "description": details["message"],
        "breakMode": break_mode,
        "details": details,
    }


def _details(exception: BaseException, guard: Guard | None, depth: int) -> Json:
    message = own_text(str, exception, guard)
    notes = stored(exception, "__dict__").get("__notes__")
    if type(notes) is list:
        message = "\n".join([message, *(note for note in notes if isinstance(note, str))])
    details: Json = {
        "message": message[: limits.MESSAGE_CHARS],
        "typeName": type.__dict__["__name__"].__get__(type(exception)),
        "fullTypeName": class_name(type(exception)),
        "stackTrace": "".join(
            f'  File "{frame.f_code.co_filename}", line {line}, in {frame.f_code.co_qualname}\n'
            for frame, line in reversed(traceback_of(exception))
        ),
    }
    inner: list[BaseException] = []
    if is_a(exception, BaseExceptionGroup):
        inner += stored(exception, "exceptions")[: limits.EXCEPTION_DEPTH]
    cause, context = stored(exception, "__cause__"), stored(exception, "__context__")
    if cause is not None:
        inner.append(cause)
    elif context is not None and not stored(exception, "__suppress_context__"):
        inner.append(context)
    if inner and depth:
        details["innerException"] = [_details(one, guard, depth - 1) for one in inner]
    return details
