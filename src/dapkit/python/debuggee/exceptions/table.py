"""Stops at exceptions: which breakpoints are set, and whether a raise is one to stop at.

    raised         at the raise, once, in the first frame of the program's own code that sees it;
                   without justMyCode, in the first frame that is shown
    uncaught       at the raise, if nothing on the stack will catch it (`handlers`); where that
                   cannot be known, when it leaves the last frame, with the frames of its traceback
    userUnhandled  at the raise, if it will leave the program's own code, for a library's or for nothing;
                   the newest frame of that code is shown on top. Not at `control_flow`

An exception on its way stops the program once, whichever of these it meets; `raise error` sends it on its
way anew, a bare `raise` does not. None stops at StopIteration and its kind, nor at a SystemExit whose exit code
is to pass (`exits`); `uncaught` and `userUnhandled` not at KeyboardInterrupt, nor where nothing that is shown is
on the exception's way. Which exceptions a breakpoint means is decided in `conditions`.
"""

import itertools
import sys
from collections.abc import Callable, Iterable
from opcode import opname
from types import CodeType, FrameType
from typing import Final, NamedTuple

from ..connection.framing import Json
from ..execution import monitor as events
from ..execution.monitor import Monitor
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import is_a, traceback_of
from ..sources.files import OURS, Sources
from ..sources.own_code_rules import ExceptionRule
from ..threads.greenlets import frames_of_parents
from .catch_cache import AGAIN, CATCHES, ENDS, FRESH, PASSES, PASSING, UNSURE, CatchCache, origin_of
from .conditions import ExceptionCondition, Report, wanted_by_condition, wanted_by_path
from .control_flow import ends_greenlet, is_control_flow, makes_traceback
from .details import trail_of
from .filters import RAISED_FILTER, UNCAUGHT_FILTER, USER_UNHANDLED_FILTER, ExitCodes
from .handlers import NO, catches, is_import_of_c_code, is_swallowed_below, swallows_from_below
from .raise_events import is_seen_later

type Mode = str
"""A break mode of the protocol."""
NEVER: Final = "never"
RAISED: Final = "always"
UNCAUGHT: Final = "unhandled"
USER_UNHANDLED: Final = "userUnhandled"

_MODES: Final = {RAISED_FILTER: RAISED, UNCAUGHT_FILTER: UNCAUGHT, USER_UNHANDLED_FILTER: USER_UNHANDLED}

_BOTH: Final = (UNCAUGHT, USER_UNHANDLED)
"""Modes that mean an exception which nothing will catch."""
_FIRST_FRAMES: Final = {
    "Thread._bootstrap_inner": "threading",
    "BaseProcess._bootstrap": "multiprocessing.process",
}
"""Functions that print the exceptions of the program's code that they call, with the names of their modules."""
_QUIET = (StopIteration, StopAsyncIteration, GeneratorExit)
_NO_ERRORS = (*_QUIET, KeyboardInterrupt)
"""Never errors, wherever they end up."""

type Asked = list[tuple[Mode, ExceptionCondition]]


def read(filters: object, filter_options: object, exception_options: object) -> tuple[Asked, list[Json]]:
    """Read the arguments of `setExceptionBreakpoints`: the breakpoints, and the response about each.

    Raises:
        RequestRefused: if one is not a breakpoint at all; one whose condition is wrong gets an answer that says so.

    """
    breakpoints: Asked = []
    answers: list[Json] = []
    for name in _objects(filters, "filters", str):
        breakpoints.append((_mode_of(name), ExceptionCondition([])))
        answers.append({"verified": True})
    for option in _objects(filter_options, "filterOptions", dict):
        _add(breakpoints, answers, _mode_of(option.get("filterId")), wanted_by_condition, option.get("condition"))
    for option in _objects(exception_options, "exceptionOptions", dict):
        mode = option.get("breakMode")
        if mode not in (NEVER, *_MODES.values()):
            raise RequestRefused(
                f"breakMode is {mode!r:.200}, expected {NEVER}, {RAISED}, {UNCAUGHT} or {USER_UNHANDLED}"
            )
        _add(breakpoints, answers, str(mode), wanted_by_path, option.get("path"))
    return breakpoints, answers


def _objects[T](value: object, name: str, kind: type[T]) -> list[T]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        what = "texts" if kind is str else "objects"
        raise RequestRefused(f"{name} is {value!r:.200}, expected a list of {what}")
    return value


def _mode_of(name: object) -> Mode:
    mode = _MODES.get(name) if isinstance(name, str) else None
    if mode is None:
        raise RequestRefused(f"exception filter {name!r:.200} is unknown; there are {', '.join(sorted(_MODES))}")
    return mode


def _add(
    breakpoints: Asked, answers: list[Json], mode: Mode, make: Callable[[object], ExceptionCondition], value: object
) -> None:
    try:
        breakpoints.append((mode, make(value)))
    except RequestRefused as refusal:
        answers.append({"verified": False, "message": str(refusal), "reason": "failed"})
    else:
        answers.append({"verified": True})


class _Stopped(NamedTuple):
    """An exception that the program was stopped for where it was raised, perhaps still on its way.

    Attributes:
        identity: of the exception, which is not kept alive.
        older: identities of the frames around the one where it was.

    """

    identity: int
    older: frozenset[int]


class _Unhandled(NamedTuple):
    """An exception that the program was stopped for as unhandled, on its way.

    Attributes:
        identity: of the exception, which is not kept alive.
        older: identities of the frames that it will leave.
        is_final: whether nothing at all will catch it; else it stops again if it is raised again.

    """

    identity: int
    older: frozenset[int]
    is_final: bool


class ExceptionBreakpointTable:
    """The exception breakpoints.

    Invariant: RAISE, RERAISE and PY_UNWIND are watched exactly while a breakpoint that needs them is set; but RAISE by
    code object, from CPython 3.15 on, once the program has raised many exceptions and was stopped at none (`known`).
    """

    def __init__(
        self, monitor: Monitor, sources: Sources, report: Report, *, shows: Callable[[FrameType], bool]
    ) -> None:
        """Take the function that decides whether the client wants to see a frame."""
        self._shows = shows
        self.rules: list[ExceptionRule] = []
        self.exit_codes = ExitCodes()
        self._monitor = monitor
        self._sources = sources
        self._report = report
        self._said: set[str] = set()
        self._asked: dict[Mode, list[ExceptionCondition]] = {}
        self.known = CatchCache()
        """Raises that need no look: not asked for, or known to be caught."""
        self._stopped: dict[int, tuple[_Stopped, ...]] = {}
        """By thread: the exceptions on their way that it was stopped for, the latest.

        Several: while one is on its way, a handler may raise others and catch them.
        """
        self._unhandled: dict[int, _Unhandled] = {}
        """By thread: the uncaught exception for which it was last stopped."""

    def set(self, breakpoints: Asked) -> None:
        """Replace the exception breakpoints; the empty list stops at no exception."""
        self._asked = {}
        for mode, condition in breakpoints:
            self._asked.setdefault(mode, []).append(condition)
        modes = self._asked.keys() - {NEVER}
        events_wanted = events.EVENTS.RAISE if modes else 0
        if UNCAUGHT in modes or USER_UNHANDLED in modes:
            events_wanted |= events.EVENTS.RERAISE | events.EVENTS.PY_UNWIND
        self.known.clear(deep=modes == {UNCAUGHT})
        self._monitor.also("exceptions", events_wanted)
        self._monitor.meet_no_more()

    def watch_raises(self, *, by_code: bool) -> None:
        """Watch RAISE in the code objects where it is of use, or everywhere.

        By code object only while no exception is remembered, since that is forgotten at the next RAISE.
        """
        self.known.watch_raises(by_code=by_code)
        if by_code:
            self._monitor.watch_raises_where_met()
            self._monitor.also("exceptions", events.EVENTS.RERAISE | events.EVENTS.PY_UNWIND)
        else:
            self._monitor.also("exceptions", events.EVENTS.RAISE | events.EVENTS.RERAISE | events.EVENTS.PY_UNWIND)
            self._monitor.meet_no_more()

    def is_seen_later(self, code: CodeType) -> bool:
        """Return whether RAISE is not watched in a code object from now on, as later events show its exceptions."""
        if not self.known.raises_are_local:
            return False
        seen_later = is_seen_later(code)
        self.known.note_raises(code, seen_later=seen_later)
        return seen_later

    def is_unseen(self, frame: FrameType, offset: int, exception: BaseException) -> bool:
        """Return whether an exception leaves a frame in which no event may have shown it, nor where it came from."""
        if not self.known.looks_late or origin_of(exception, frame) == PASSING:
            return False
        name, argument = opname[frame.f_code.co_code[offset]], frame.f_code.co_code[offset + 1]
        return not (name == "RERAISE" or (name == "RAISE_VARARGS" and not argument))

    def _wants(self, mode: Mode, exception: BaseException, frame: FrameType) -> bool:
        """Return whether a breakpoint of this mode means an exception that is about to stop the program."""
        conditions = self._asked
        if any(condition.takes(exception, frame, self._complain) for condition in conditions.get(NEVER, ())):
            return False
        return any(condition.takes(exception, frame, self._complain) for condition in conditions.get(mode, ()))

    def _may_want(self, mode: Mode, exception: BaseException) -> bool:
        """Say, by type alone, whether a breakpoint of this mode may mean an exception."""
        return any(condition.takes_type(exception) for condition in self._asked.get(mode, ()))

    def _complain(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._report(text)

    def on_raise(self, ident: int, frame: FrameType, offset: int, exception: BaseException, *, again: bool) -> Mode:
        """Return the break mode to stop with at a RAISE or RERAISE event, or an empty text."""
        if self._sources.kind(frame.f_code.co_filename) == OURS:
            return ""
        if makes_traceback(frame.f_code):
            self._note_stopped(ident, frame, exception)
            return ""
        origin = AGAIN if again else origin_of(exception, frame)
        passing = origin == PASSING
        if not again and not passing:
            self._begins(ident, frame, offset, exception, origin=origin)
        if self.has_stopped_for(ident, exception) or self.exit_codes.pass_over(exception):
            return ""  # nothing is noted of an exit code: other exceptions of its type may have others
        generation = self.known.generation
        may_stop = not is_a(exception, *_QUIET) and self._may_want(RAISED, exception)
        raised = may_stop and not again
        if may_stop:
            generation = -1  # then nothing passes unnoticed
        mode = ""
        if not passing and not is_a(exception, *_NO_ERRORS):
            mode = self._fresh(ident, frame, offset, exception, generation=generation)
        elif not passing:
            self.known.note(frame.f_code, offset, type(exception), CATCHES, generation=generation)
        if not mode and raised and self._shows(frame) and self._wants(RAISED, exception, frame):
            mode = RAISED
        if mode:
            self._note_stopped(ident, frame, exception)
        else:
            self._settle()
        return mode

    def _note_stopped(self, ident: int, frame: FrameType, exception: BaseException) -> None:
        """Record that an exception has stopped the program, or must not: it stops nothing on its way."""
        before = self._stopped.get(ident, ())
        self._stopped[ident] = (*before, _Stopped(id(exception), _older(frame)))[-limits.STOPPED_EXCEPTIONS :]
        self._settle()

    def _passes(self, ident: int, frame: FrameType, exception: BaseException) -> bool:
        """Return whether an exception that was reported comes on its way where its traceback does not say so.

        From 3.14 on the frame of a generator or coroutine that has ended does not say which frame ran it. And the
        end of a `with` throws an exception into a generator that makes its context.
        """
        if _ends_context(frame) or _ends_context(frame.f_back):
            return self.has_stopped_for(ident, exception)
        return any(each.identity == id(exception) and id(frame) in each.older for each in self._stopped.get(ident, ()))

    def _begins(self, ident: int, frame: FrameType, offset: int, exception: BaseException, *, origin: int) -> None:
        """Record that an exception is raised anew. A fresh one may have the identity of one that has gone.

        In a frame that the reported one has to leave it is that one, on its way, unless the frame itself raises it:
        imports take frames off a traceback.
        """
        raises = opname[frame.f_code.co_code[offset]] == "RAISE_VARARGS"
        if origin == AGAIN and not raises and self._passes(ident, frame, exception):
            return
        before = self._stopped.get(ident, ())
        self._stopped[ident] = tuple(each for each in before if each.identity != id(exception))
        last = self._unhandled.get(ident)
        if last is None or last.identity != id(exception) or (id(frame) in last.older and not raises):
            return
        if origin == FRESH or not last.is_final:
            del self._unhandled[ident]

    def _reported_in(self, ident: int) -> tuple[int, ...]:
        last = self._unhandled.get(ident)
        stopped = (each.identity for each in self._stopped.get(ident, ()))
        return *stopped, last.identity if last is not None else 0

    def has_stopped_for(self, ident: int, exception: BaseException) -> bool:
        """Return whether an exception on its way has stopped the program in a thread."""
        return id(exception) in self._reported_in(ident)

    def _settle(self) -> None:
        now = {each.identity for each in itertools.chain(*self._stopped.values())}
        now |= {last.identity for last in self._unhandled.values()}
        self.known.reported |= now
        self.known.reported &= now

    def _fresh(self, ident: int, frame: FrameType, offset: int, exception: BaseException, *, generation: int) -> Mode:
        """Decide about a raise that begins the way of an exception, for the breakpoints that look at handlers."""
        user = self._may_want(USER_UNHANDLED, exception)
        if not user and not self._may_want(UNCAUGHT, exception):
            self.known.note(frame.f_code, offset, type(exception), CATCHES, generation=generation)
            return ""
        fitting = self._unhandled_modes(frame, offset, exception, user=user, generation=generation)
        mode = self._wanted_of(fitting, exception, frame)
        if mode:
            self._unhandled[ident] = _Unhandled(id(exception), _older(frame), UNCAUGHT in fitting)
        return mode

    def _wanted_of(self, fitting: Iterable[Mode], exception: BaseException, frame: FrameType) -> Mode:
        """Return the first mode of those that fit which a breakpoint asks for."""
        for mode in fitting:
            if mode == USER_UNHANDLED and is_control_flow(exception, self.rules):
                continue
            if mode == UNCAUGHT and ends_greenlet(exception):
                continue
            if self._wants(mode, exception, frame):
                return mode
        return ""

    def _unhandled_modes(
        self, frame: FrameType, offset: int, exception: BaseException, *, user: bool, generation: int
    ) -> tuple[Mode, ...]:
        """Look down the stack for a handler: the modes that fit."""
        current: FrameType | None = frame
        parents = frames_of_parents()
        in_program = False
        while current is not None and not self._ends_thread(current):
            shows = self._shows(current)
            if user and in_program and not shows and not self._sources.hides(current):
                return (USER_UNHANDLED,)
            in_program = in_program or shows
            at = offset if current is frame else current.f_lasti
            if current is not frame:
                unknown = self.known.unknown_from(current, at, exception)
                if unknown is None:
                    return ()
                if unknown is not current:  # there may be a hundred thousand frames between
                    current = unknown
                    continue
            is_caught = self._is_caught_in(current, at, exception, generation=generation)
            if is_caught or (current is not frame and swallows_from_below(current.f_code, exception)):
                self.known.note_caught(exception, current)
                return ()
            current = current.f_back or next(parents, None)
        if current is not None:
            self.known.note(current.f_code, current.f_lasti, type(exception), ENDS, generation=generation)
        return _BOTH if in_program else ()

    def _is_caught_in(self, frame: FrameType, offset: int, exception: BaseException, *, generation: int) -> bool:
        """Return whether a frame, or C code that called it, catches an exception or may do so; note the outcome."""
        code = frame.f_code
        verdict, names = catches(frame, exception, offset)
        is_caught = verdict != NO or is_swallowed_below(code, exception)
        outcome = CATCHES if is_caught else PASSES
        if not is_caught and is_import_of_c_code(frame, exception):
            is_caught, outcome = True, UNSURE  # it depends on the frame below
        if names is None:
            outcome, names = UNSURE, ()
        swallows = swallows_from_below(code, exception)
        self.known.note(code, offset, type(exception), outcome, generation=generation, names=names, swallows=swallows)
        return is_caught

    def on_unwind(self, ident: int, frame: FrameType, exception: BaseException) -> Mode:
        """Return the break mode to stop with when an exception leaves a frame, or an empty text."""
        if UNCAUGHT not in self._asked and USER_UNHANDLED not in self._asked:
            return ""
        caller = frame.f_back or next(frames_of_parents(), None)
        if caller is not None and not self._ends_thread(caller):
            self.known.note_ordinary(caller.f_code, generation=self.known.generation)
            return ""
        reported = self.has_stopped_for(ident, exception)
        self._stopped.pop(ident, None)
        self._unhandled.pop(ident, None)
        self._settle()
        if reported or is_a(exception, *_NO_ERRORS) or self._sources.kind(frame.f_code.co_filename) == OURS:
            return ""
        if caller is None and is_swallowed_below(frame.f_code, exception):
            return ""  # C code called it, as at the end of a thread, and reports an exception that it does not swallow
        if self.exit_codes.pass_over(exception) or not any(self._shows(at) for at, _ in traceback_of(exception)):
            return ""
        return self._wanted_of(_BOTH, exception, frame)

    def on_report(self, exception: BaseException, frame: FrameType) -> Mode:
        """Return the break mode for an exception that the program reports as if it were uncaught, or an empty text."""
        return "" if self.exit_codes.pass_over(exception) else self._wanted_of(_BOTH, exception, frame)

    def shown(
        self, mode: Mode, exception: BaseException, frame: FrameType
    ) -> tuple[FrameType, list[tuple[FrameType, int]] | None]:
        """Return the frame to stop in, and the frames to show instead, if there are any: as in `ParkedThread`."""
        if mode == RAISED:
            return frame, None
        trail = trail_of(exception, frame)
        if mode != USER_UNHANDLED:
            return frame, trail
        for at, (passed, _) in enumerate(trail):
            if self._shows(passed):
                return frame, trail[at:]
        older: FrameType | None = frame
        while older is not None and not self._shows(older):
            older = older.f_back
        return (frame, trail) if older is None else (older, None)

    def _ends_thread(self, frame: FrameType) -> bool:
        """Return whether a frame is the first one of a thread or of a process of `multiprocessing`.

        An exception that arrives there is printed, and is uncaught.
        """
        code = frame.f_code
        if self._sources.kind(code.co_filename) == OURS:
            return True
        module = _FIRST_FRAMES.get(code.co_qualname)
        return module is not None and code.co_filename == getattr(sys.modules.get(module), "__file__", None)


def _ends_context(frame: FrameType | None) -> bool:
    """Return whether a frame is at the end of a `with` whose context a generator makes."""
    if frame is None or frame.f_code.co_name not in ("__exit__", "__aexit__"):
        return False
    return frame.f_code.co_filename == getattr(sys.modules.get("contextlib"), "__file__", None)


def _older(frame: FrameType) -> frozenset[int]:
    """Return the identities of the frames that called a frame."""
    identities: list[int] = []
    older = frame.f_back
    while older is not None:
        identities.append(id(older))
        older = older.f_back
    return frozenset(identities)
