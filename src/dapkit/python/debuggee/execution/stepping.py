"""Steps: the next stop of a thread, watched with events of few code objects.

A step watches one frame, its target, through LINE, PY_RETURN and PY_YIELD of that frame's code only, so functions that
it steps over run at full speed:

    LINE in the target            the step has arrived
    the target returns or yields  the step has arrived in the caller, if that frame is shown;
                                  else the nearest older shown frame becomes the target
    the target is unwound         the same older frame becomes the target: the handler is in it or above it
    a call below the target       with stepIn, the called frame becomes the target
    the target was a text that    the next text becomes the target, such as a statement of a notebook's cell;
    a library runs                until then what runs them is (`cells`)

An await suspends the target without leaving it: the step ends where the coroutine continues. The end of the
outermost coroutine of an asyncio task leads to the coroutine that awaits the task, not to the event loop.
Several frames may share a code object (recursion, threads), so frames are compared.

Steps smaller than a line also watch INSTRUCTION in the code of the target: those by instruction end
at the next one; those by statement at the beginnings of the statements of one line, if it holds several.
A step into a chosen call runs to the instruction that calls, and goes into calls only from there
until the call is over. `results` notes the results of the functions that a step goes over.
"""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ..bytecode.calls import StepCall
from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.frame_views import FrameRun, virtual_frame_of
from ..interpreter.log import LOG, code_name, write
from ..interpreter.safe_types import simple_name
from ..interpreter.thread_checks import under_lock
from ..options import EngineOptions
from ..sources.files import LIBRARY, OURS, PROGRAM, Sources, is_function
from ..threads import tasks
from . import monitor as events
from .monitor import Monitor
from .results import Result, Results
from .states import ThreadStates

# Texts that a library runs one after the other: statements of a cell, inputs of a console, examples of a doctest.
#
# Each of them is a code object of its own, started by the same frames of the library. So where a step leaves one
# of them, it continues in the next: one of the same file name, or one that the same frame runs.


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


type StepKind = str
OVER: Final = "next"
INTO: Final = "stepIn"
OUT: Final = "stepOut"

STATEMENT: Final = "statement"
LINE: Final = "line"
INSTRUCTION: Final = "instruction"
UNITS: Final = (STATEMENT, LINE, INSTRUCTION)

_COROUTINE: Final = 0x80 | 0x100  # CO_COROUTINE | CO_ITERABLE_COROUTINE
_ASYNC_GENERATOR: Final = 0x200


class Step:
    """A step of one thread that has not ended.

    `unit` is the granularity; `offsets` are the offsets of statements to end at, `leaving` is the offset at which the
    step begins: an event there is not yet progress; `before_line` says that even its LINE event may come. `line` is its
    first line in the view of its target (`views`): there it does not end. With `cell` the target runs texts, and the
    step waits for the next of them, or for the end of the target.
    """

    __slots__ = (
        "before_line",
        "call",
        "cell",
        "details",
        "kind",
        "leaving",
        "line",
        "offsets",
        "reason",
        "results",
        "target",
        "unit",
    )

    def __init__(
        self, kind: StepKind, target: FrameType | None, reason: str, unit: str = LINE, details: Json | None = None
    ) -> None:
        self.kind = kind
        self.target = target
        self.reason = reason
        self.unit = unit
        self.details = details or {}
        self.offsets: frozenset[int] = frozenset()
        self.leaving = -1
        self.line = 0
        self.before_line = False
        self.call: StepCall | None = None
        self.results: Results | None = None
        self.cell: FrameRun | None = None

    @property
    def enters(self) -> bool:
        """Whether code that starts matters to it."""
        return self.kind == INTO or self.cell is not None

    @property
    def events(self) -> int:
        """The events to turn on in the code of the target."""
        if self.cell is not None:
            return events.EVENTS.PY_RETURN | events.EVENTS.PY_YIELD
        watched = events.STEP | events.SITE
        if self.unit == INSTRUCTION or self.offsets or self.call is not None:
            watched |= events.EVENTS.INSTRUCTION
        if self.results is not None:
            watched |= events.EVENTS.CALL
        return watched


class Stepping:
    """The steps under way.

    Invariant: the code of each step's target is watched, for that thread as owner, and so is the returning of the code
    in `called`; PY_UNWIND and the starts of code are watched while there is any step.
    """

    def __init__(self, monitor: Monitor, sources: Sources, options: EngineOptions, states: ThreadStates) -> None:
        self._monitor = monitor
        self._sources = sources
        self._options = options
        self._states = states
        self.called: set[int] = set()
        """Identities of their code objects."""
        self.steps: dict[int, Step] = {}
        """By identity of the thread."""
        self.entering = False
        """Whether code that starts matters to any step."""

    @under_lock
    def start(
        self,
        ident: int,
        kind: StepKind,
        frame: FrameType,
        *,
        leaving: bool = False,
        before_line: bool = False,
        unit: str = LINE,
        offsets: frozenset[int] = frozenset(),
        call: StepCall | None = None,
    ) -> None:
        """Begin a step from a frame; `leaving` and `before_line` are the values of `ParkedThread`."""
        target = self.nearest(frame.f_back) if leaving else frame
        if target is None:
            return  # nothing is left of this thread to stop in
        if leaving and kind == OUT:
            kind = OVER
        step = Step(kind, target, "step", unit)
        aimed = self._aim(step)
        if not leaving and not aimed:
            step.offsets, step.call, step.leaving = offsets, call, frame.f_lasti
            step.before_line = before_line
        self._set(ident, step)

    @under_lock
    def start_at_entry(self, ident: int) -> None:
        """Stop at the first line of the program's own code."""
        self._set(ident, Step(INTO, None, "entry"))

    @property
    def waits_for_entry(self) -> bool:
        """Whether no line of the program's own code has been reached yet at which to stop."""
        return any(step.reason == "entry" for step in list(self.steps.values()))

    @under_lock
    def stop_in(self, ident: int, frame: FrameType, reason: str, details: Json) -> None:
        """Stop at the first line of a frame that is just beginning."""
        self.end(ident)
        self._set(ident, Step(OVER, frame, reason, details=details))

    def due_in(self, ident: int, frame: FrameType) -> list[object]:
        """Return the numbers of the breakpoints for which a frame is about to stop at its first line."""
        step = self.steps.get(ident)
        numbers = step.details.get("hitBreakpointIds") if step is not None and step.target is frame else None
        return numbers if isinstance(numbers, list) else []

    def _set(self, ident: int, step: Step) -> None:
        is_over = step.kind == OVER and step.call is None and step.cell is None
        if self._options.show_return_value and is_over and step.reason == "step":
            step.results = Results()
        self.steps[ident] = step
        self._states.move(ident, "step")
        if LOG:
            where = code_name(step.target.f_code) if step.target is not None else "the program"
            write("step", f"thread {ident}: {step.kind} by {step.unit} in {where}, for {step.reason}")
        if step.target is not None:
            self._monitor.want(step.target.f_code, f"step {ident}", step.events, afresh=True)
        self._monitor.also("step", events.EVENTS.PY_UNWIND | events.DISCOVERY)
        if step.enters:
            self.entering = True
            self._monitor.discover("step")

    @under_lock
    def cancel(self, stopped: int = 0) -> None:
        """Drop all steps: a thread has stopped.

        Events that are on everywhere stay on, since the next step needs them again.

        A stop that another thread is about to make, which is not a step, is kept.
        """
        for ident, step in list(self.steps.items()):
            if ident == stopped or not stopped or step.reason == "step":
                self.end(ident)

    @under_lock
    def end(self, ident: int) -> None:
        """Drop the step of one thread."""
        step = self.steps.pop(ident, None)
        if step is not None:
            self._states.move(ident, "step ended")
        if step is not None and step.target is not None:
            self._monitor.want(step.target.f_code, f"step {ident}", 0)
        if step is not None and step.results is not None:
            self._watch_no_calls(ident, step.results)
        self.entering = any(other.enters for other in self.steps.values())

    @under_lock
    def threads_resumed(self) -> None:
        """Record that threads continue, perhaps some whose step has not ended, or begins now."""
        for ident in self.steps:
            self._states.move(ident, "step")

    @under_lock
    def watch_nothing_everywhere(self) -> None:
        """Watch unwinding and the starts of code no more, if no step needs them: the program runs freely now."""
        if not self.steps:
            self._monitor.also("step", 0)

    def watches(self, code: object) -> bool:
        """Return whether lines of a code object matter to any step."""
        return any(step.target is not None and step.target.f_code is code for step in self.steps.values())

    def watches_at(self, code: object, offset: int) -> bool:
        """Return whether an instruction of a code object matters to any step."""
        return any(
            step.unit == INSTRUCTION or step.call is not None or offset in step.offsets
            for step in self.steps.values()
            if step.target is not None and step.target.f_code is code
        )

    def arrives(self, ident: int, frame: FrameType) -> bool:
        """Return whether a new line of a frame is where the step ends."""
        step = self.steps.get(ident)
        if step is None or step.target is not frame or step.kind == OUT or step.cell is not None:
            return False
        before_line, step.before_line = step.before_line, False
        if before_line and frame.f_lasti == step.leaving:
            return False
        view = virtual_frame_of(frame)
        if view is not None:
            return view.is_place and view.line != step.line
        # A call that was chosen may begin on a later line than the one where it was.
        return step.call is None or step.call.begun or frame.f_lasti > step.call.offset

    @under_lock
    def arrives_at(self, ident: int, frame: FrameType, offset: int) -> bool:
        """Return whether an instruction of a frame is where the step ends."""
        step = self.steps.get(ident)
        if step is None or step.target is not frame or step.kind == OUT or step.cell is not None:
            return False
        leaving, step.leaving = step.leaving, -1
        if step.call is not None:
            self._watch_call(step, step.call, offset)
        if offset == leaving:
            return False
        return step.unit == INSTRUCTION or offset in step.offsets

    def _watch_call(self, step: Step, call: StepCall, offset: int) -> None:
        if not call.begun and offset == call.offset:
            call.begun = True
            step.kind = INTO
            self.entering = True
            self._monitor.discover("step")
        elif call.begun and offset != call.offset and offset not in call.after:
            step.kind, step.call = OVER, None
            self.entering = any(other.enters for other in self.steps.values())

    @under_lock
    def call(self, ident: int, frame: FrameType, function: object) -> bool:
        """Record that a frame calls something; return whether calls in its code still matter to any step."""
        matters = False
        for owner, step in self.steps.items():
            results = step.results
            if results is None or not results.calls or step.target is None or step.target.f_code is not frame.f_code:
                continue
            results.calls -= 1
            matters = True
            if owner == ident and step.target is frame:
                code = results.call(function, self._shows)
                if code is not None:
                    self.called.add(id(code))
                    self._monitor.want(code, f"call {ident}", events.EVENTS.PY_RETURN)
        return matters

    @under_lock
    def note_result(self, frame: FrameType, value: object) -> None:
        """Record that a frame returns whose code is in `called`."""
        for ident, step in self.steps.items():
            results = step.results
            if results is not None and id(frame.f_code) in results.codes:
                is_over = results.leave(frame, value, stepped=step.target)
                if is_over:
                    self._watch_no_calls(ident, results)

    def results_in(self, ident: int, frame: FrameType) -> list[Result]:
        """Return the results of a frame's calls that a thread's step has noted so far."""
        step = self.steps.get(ident)
        return step.results.found if step is not None and step.results is not None and step.target is frame else []

    def _watch_no_calls(self, ident: int, results: Results) -> None:
        for code in results.codes.values():
            self._monitor.want(code, f"call {ident}", 0)
        results.codes.clear()
        self.called = {code for step in self.steps.values() if step.results is not None for code in step.results.codes}

    @under_lock
    def leave(self, ident: int, frame: FrameType, value: object, *, yielding: bool) -> FrameType | None:
        """Record that a frame returns or yields; return the frame to stop in, if that ends the step."""
        step = self.steps.get(ident)
        if step is None or step.target is not frame:
            return None
        if yielding and (_awaits(frame, value) or virtual_frame_of(frame) is not None):
            return None  # a template hands over its text so far
        awaiter = self._awaiter(frame)
        caller = frame.f_back
        if awaiter is None and step.cell is None and caller is not None and self.may_show(caller):
            return caller
        cell = cell_run(frame, self._sources, self.may_show) if awaiter is None and step.kind != OUT else None
        if cell is not None:
            self._await_cell(ident, step, cell)
        else:
            self._retarget(ident, step, awaiter or caller)
        return None

    def _await_cell(self, ident: int, step: Step, cell: FrameRun) -> None:
        self.end(ident)
        following = Step(OVER if step.call is not None else step.kind, cell.around, step.reason, step.unit)
        following.cell = cell
        self._set(ident, following)

    @under_lock
    def unwind(self, ident: int, frame: FrameType) -> None:
        """Record that an exception leaves a frame."""
        step = self.steps.get(ident)
        if step is not None and step.target is frame:
            self._retarget(ident, step, self._awaiter(frame) or frame.f_back)

    def _awaiter(self, frame: FrameType) -> FrameType | None:
        """Return the frame that awaits the task whose outermost frame this is, if there is one to stop in."""
        if not frame.f_code.co_flags & _COROUTINE:
            return None
        for task in tasks.current_tasks():
            if tasks.outermost_frame(task) is frame:
                waiting = tasks.awaiters(task)
                frames = tasks.suspended_frames(waiting[0]) if waiting else []
                return next((older for older in frames if self.may_show(older)), None)
        return None

    def _retarget(self, ident: int, step: Step, older: FrameType | None) -> None:
        self.end(ident)
        target = self.nearest(older)
        if target is not None:
            kind = OVER if step.kind == OUT or step.call is not None else step.kind
            following = Step(kind, target, step.reason, step.unit)
            self._aim(following)
            self._set(ident, following)

    @staticmethod
    def _aim(step: Step) -> bool:
        """Let a step follow the view of its target, if it has one: by lines, or from frame to frame."""
        view = virtual_frame_of(step.target) if step.target is not None else None
        if view is None:
            return False
        step.line, step.unit = view.line, LINE
        run = view.run()
        if run is not None:
            step.target = run.around
            step.cell = run if step.kind != OUT else None
        return True

    @under_lock
    def enter(self, ident: int, frame: FrameType) -> None:
        """Record that a frame starts or continues after a yield."""
        step = self.steps.get(ident)
        if step is None or not self.may_show(frame) or not _below(frame, step.target):
            return
        if step.kind != INTO if step.cell is None else not step.cell.admits(frame, into=step.kind == INTO):
            return
        if step.reason == "entry" and self._sources.kind_of(frame) != PROGRAM:
            return  # also where all code is shown: `-m pytest` begins with the first file of the user's own
        self.end(ident)
        self._set(ident, Step(OVER, frame, step.reason, step.unit))

    def may_show(self, frame: FrameType) -> bool:
        """Return whether a step may end in a frame."""
        return self._shows_kind(self._sources.kind_of(frame)) and not self._sources.hides(frame)

    def _shows(self, code: CodeType) -> bool:
        return self._shows_kind(self._sources.kind(code.co_filename))

    def _shows_kind(self, kind: int) -> bool:
        return kind == PROGRAM or (kind == LIBRARY and not self._options.just_my_code)

    def nearest(self, frame: FrameType | None) -> FrameType | None:
        """Return the newest frame, from this one on, in which a step may end."""
        while frame is not None and not self.may_show(frame):
            if self._sources.kind(frame.f_code.co_filename) == OURS:
                return None
            frame = frame.f_back
        return frame


def _awaits(frame: FrameType, value: object) -> bool:
    """Return whether a yield is the suspension of an await, which the program does not see as one."""
    flags = frame.f_code.co_flags
    if flags & _ASYNC_GENERATOR:
        return simple_name(type(value)) != "async_generator_wrapped_value"
    return bool(flags & _COROUTINE)


def _below(frame: FrameType, older: FrameType | None) -> bool:
    """Return whether a frame was called, directly or not, from an older one; None is below all."""
    if older is None:
        return True
    caller = frame.f_back
    while caller is not None:
        if caller is older:
            return True
        caller = caller.f_back
    return False
