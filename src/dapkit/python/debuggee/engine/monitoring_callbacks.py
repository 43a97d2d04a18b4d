"""The callbacks of sys.monitoring events: where the parts of the engine meet.

A callback must never let an internal error into the program, and must let exceptions through that a signal handler of
the program raised while the thread was in it. The LINE callback is chosen by need, since lines are the main cost: the
only breakpoint's own callback, a look-up among several, or the full one while a thread is stepped or stopped.
"""

import _thread
import sys
from collections.abc import Callable
from types import CodeType, FrameType

from ..breakpoints.table import BreakpointTable
from ..bytecode.texts import ProgramTexts
from ..connection.link import Link
from ..exceptions import details
from ..exceptions.table import RAISED, ExceptionBreakpointTable
from ..execution import monitor as events
from ..execution.argument_recovery import ArgumentRecovery
from ..execution.arguments import KnownArguments
from ..execution.call_traces import CallTraces
from ..execution.loads import Loads
from ..execution.monitor import EVENTS, Monitor
from ..execution.parked_thread import ParkedThread
from ..execution.results import Result
from ..execution.signals import may_come_again
from ..execution.stepping import Stepping
from ..execution.stops import Stops
from ..interpreter import hidden_frames, native
from ..interpreter.errors import TimeIsUp
from ..interpreter.log import LOG, code_name, write
from ..interpreter.thread_checks import let_go, under_lock
from ..options import EngineOptions
from ..program.breakpoint_calls import BreakpointCalls
from ..program.interpreters import OtherInterpreters
from ..sources.fileless_code import CompiledText
from ..sources.files import OURS, PROGRAM, Sources, starts_on_its_only_line
from ..templates import django, django_errors, jinja
from ..threads.table import ThreadTable

DISABLE = events.DISABLE
_getframe = sys._getframe
_THREAD_STARTS = ("_bootstrap", "_bootstrap_inner")
_ONE_LINERS_NEED_START = sys.version_info >= (3, 13)


class MonitoringCallbacks:
    """The callbacks, bound to the parts that they serve."""

    def __init__(
        self,
        link: Link,
        monitor: Monitor,
        *,
        sources: Sources,
        threads: ThreadTable,
        stops: Stops,
        stepping: Stepping,
        exceptions: ExceptionBreakpointTable,
        lock: _thread.RLock,
        texts: ProgramTexts,
        options: EngineOptions,
    ) -> None:
        self._link = link
        self._monitor = monitor
        self._sources = sources
        self._threads = threads
        self._stops = stops
        self._states = stops.states
        self._stepping = stepping
        self._exceptions = exceptions
        self._lock = lock
        self._loads = Loads(monitor, self._on_loading)
        self.traces = CallTraces(link, sources, texts, stepping)
        self._interpreters = OtherInterpreters(link)
        self._soon: dict[FrameType, Callable[[], None]] = {}
        self.breakpoint_calls = BreakpointCalls()
        self._options = options
        self.breakpoints = BreakpointTable(
            link,
            monitor,
            sources=sources,
            texts=texts,
            stops=stops,
            stepping=stepping,
            lock=lock,
            safely=self._safely,
            changed=self.breakpoints_changed,
            reads=lambda kind: kind in options.templates,
        )
        self.arguments = KnownArguments(monitor, ArgumentRecovery(texts, sources).recovered)
        self._line = self.shielded(self._on_line)
        self._instruction = self.shielded(self._on_instruction)
        self._unwind = self.shielded(self._on_unwind, in_ours=None)
        cache = exceptions.known
        self._leave_program = cache.on_unwind(self.shielded(self._on_unwind, in_ours=None, depth=cache.depth))

    def install(self) -> None:
        """Register with the monitor, and start looking at code."""
        cache = self._exceptions.known
        on_start = native.interruptible(self._on_start, self._comes_again)
        self._monitor.register(
            {
                EVENTS.PY_START: on_start,
                EVENTS.PY_RESUME: on_start,
                EVENTS.PY_RETURN: self.shielded(self._on_return),
                EVENTS.PY_YIELD: self.shielded(self._on_yield),
                EVENTS.CALL: self.shielded(self._on_call),
                EVENTS.JUMP: self.shielded(self._on_jump, raises_later=True),
                EVENTS.RAISE: cache.on_raise(self.shielded(self._on_raise, in_ours=None, depth=cache.depth)),
                EVENTS.RERAISE: cache.on_reraise(self.shielded(self._on_reraise, in_ours=None, depth=cache.depth)),
                EVENTS.PY_THROW: cache.on_throw(self.shielded(self._on_throw, in_ours=None, depth=cache.depth)),
            }
        )
        self._monitor.set_thorough({EVENTS.LINE: self._line, EVENTS.INSTRUCTION: self._instruction})
        self.choose()
        self._loads.begin()
        if self._options.templates:
            self._monitor.also("templates", events.DISCOVERY)

    @under_lock
    def choose(self) -> None:
        """Register the cheapest callbacks of LINE and INSTRUCTION that do the work needed now."""
        if not self._monitor.active:
            return
        sites = self.breakpoints.sources
        busy = self._states.arresting or bool(self._stepping.steps) or bool(self._soon)
        self._monitor.register_one(EVENTS.LINE, self._line if busy else sites.lines.cheapest)
        self._monitor.register_one(
            EVENTS.PY_UNWIND, self._unwind if self._stepping.steps or self._soon else self._leave_program
        )
        self._monitor.register_one(EVENTS.INSTRUCTION, self._instruction if busy else sites.inline.cheapest)

    @under_lock
    def breakpoints_changed(self) -> None:
        """Do no more than the breakpoints need now."""
        self.arguments.forget_calls(self.breakpoints.sources.holds)
        self.choose()

    @under_lock
    def thread_stopped(self, ident: int) -> None:
        """Record that a stop begins, because of this thread."""
        if self._stops.each_alone:
            self._stepping.end(ident)
        else:
            self._stepping.cancel(ident)
        parked = self._stops.parked.get(ident)
        if parked is not None and parked.trail is None:
            self.arguments.stop(parked.shown, in_breakpoint=self.breakpoints.sources.holds(parked.shown.f_code))
        self.choose()

    @under_lock
    def threads_resumed(self) -> None:
        """Record that some thread, or all, may continue."""
        self._stepping.threads_resumed()
        self.choose()

    # Events while something is stepped or stopped

    def _on_line(self, frame: FrameType, code: CodeType, line: int) -> object:
        ident = _thread.get_ident()
        if self._states.must_park(ident) and self._join(ident, frame, at_line=True):
            return None
        outcome = self.breakpoints.sources.lines.dispatch(code, line, 3)
        if outcome is True:
            return None
        if self._stepping.arrives(ident, frame):
            self._arrive(ident, frame, at_line=True)
            return None
        return self._unless_needed(outcome, stepped=self._stepping.watches(code) or frame in self._soon)

    def _on_instruction(self, frame: FrameType, code: CodeType, offset: int) -> object:
        if frame in self._soon:
            self._do_soon(frame)
        ident = _thread.get_ident()
        if self._states.must_park(ident) and self._join(ident, frame):
            return None
        outcome = self.breakpoints.sources.inline.dispatch(code, offset, 3)
        if outcome is True:
            return None
        if ident in self._stepping.steps:
            with self._lock:
                arrived = self._stepping.arrives_at(ident, frame, offset)
            if arrived:
                self._arrive(ident, frame)
                return None
        awaited = bool(self._soon) and any(waiting.f_code is code for waiting in self._soon)  # another frame of it is
        return self._unless_needed(outcome, stepped=awaited or self._stepping.watches_at(code, offset))

    def _unless_needed(self, outcome: object, *, stepped: bool) -> object:
        """Return DISABLE for events that no part needs."""
        return DISABLE if outcome is DISABLE and not stepped and not self._states.arresting else None

    def _join(self, ident: int, frame: FrameType, *, leaving: bool = False, at_line: bool = False) -> bool:
        """Park with the others; return whether the client then let just this thread continue.

        Not in the engine's own code, which the program's threads run outside of callbacks, as at a fork: no callback
        may serve then.
        """
        if self._sources.kind(frame.f_code.co_filename) == OURS:
            return False
        parked = ParkedThread(ident, frame, leaving=leaving, at_line=at_line)
        self._stops.join(parked)
        return parked.resumed_alone

    def park_before_fork(self, frame: FrameType) -> None:
        """Park the calling thread, which is about to fork in a frame, if it must stop."""
        ident = _thread.get_ident()
        try:
            if self._states.must_park(ident):
                self._join(ident, frame)
        except BaseException as error:  # forking code calls nothing that could raise
            self.at_next_instruction_of(frame, _raising(error))

    def _arrive(
        self, ident: int, frame: FrameType, returned: list[Result] | None = None, *, at_line: bool = False
    ) -> None:
        step = self._stepping.steps[ident]
        if returned is None:
            returned = self._stepping.results_in(ident, frame)
        with self._lock:
            self._stepping.end(ident)
        following = self.traces.goes_on(ident, frame, returned) if step.reason == "step" else None
        if following is not None:
            with self._lock:
                self._stepping.start(ident, following, frame)
                self.choose()
            return
        self._stops.stop_at(ParkedThread(ident, frame, at_line=at_line, returned=returned), step.reason, **step.details)

    def _on_call(self, frame: FrameType, _code: CodeType, _offset: int, function: object, _first: object) -> object:
        with self._lock:
            return None if self._stepping.call(_thread.get_ident(), frame, function) else DISABLE

    def _on_jump(self, frame: FrameType, _code: CodeType, _from: int, _to: int) -> None:
        ident = _thread.get_ident()
        if self._states.must_park(ident):
            self._join(ident, frame)

    def _on_return(self, frame: FrameType, code: CodeType, _offset: int, value: object) -> None:
        if id(code) in self._stepping.called:
            with self._lock:
                self._stepping.note_result(frame, value)
        self._on_leave(frame, value, yielding=False)
        if self.arguments.kept:
            with self._lock:
                self.arguments.leave(frame)
        if id(code) in self._loads.threads:
            self._threads.ended(_thread.get_ident())

    def _on_yield(self, frame: FrameType, _code: CodeType, _offset: int, value: object) -> None:
        self._on_leave(frame, value, yielding=True)

    def _on_leave(self, frame: FrameType, value: object, *, yielding: bool) -> None:
        ident = _thread.get_ident()
        if self._states.must_park(ident) and self._join(ident, frame, leaving=True):
            return
        step = self._stepping.steps.get(ident)
        if step is not None and step.target is frame:
            with self._lock:
                returned = self._stepping.leave(ident, frame, value, yielding=yielding)
                self.choose()
            if returned is not None:
                self._arrive(ident, returned, [] if yielding else [(frame.f_code.co_qualname, value)])

    def at_next_instruction_of(self, frame: FrameType, action: Callable[[], None]) -> None:
        """Do some work once, as soon as a frame continues, or ends by an exception."""
        with self._lock:
            self._soon[frame] = action
            self._monitor.also("soon", EVENTS.PY_UNWIND)
            self._monitor.want(frame.f_code, "soon", EVENTS.INSTRUCTION, afresh=True)
            self.choose()

    def _do_soon(self, frame: FrameType) -> None:
        with self._lock:
            action = self._soon.pop(frame)
            if not any(other.f_code is frame.f_code for other in self._soon):
                self._monitor.want(frame.f_code, "soon", 0)
            if not self._soon:
                self._monitor.also("soon", 0)
            self.choose()
        action()

    # Code that starts

    def _on_start(self, code: CodeType, offset: int) -> object:
        # Not shielded by a wrapper: every function of the program comes here once.
        epoch = self._monitor.epoch
        try:
            outcome = self._look_at(_getframe(1), code, offset)
        except BaseException as error:
            self._let_go_of_locks(code)
            self._show_or_raise(error, f"on_start in {code_name(code)}")
            return None
        if LOG and self._sources.kind(code.co_filename) != OURS:
            write("look", f"{code_name(code)}: {'not again' if outcome is DISABLE else 'at every start'}")
        # Other threads run during calls: none follows.
        return None if outcome is DISABLE and self._monitor.epoch != epoch else outcome

    def _look_at(self, frame: FrameType, code: CodeType, offset: int) -> object:  # noqa: C901, PLR0911, PLR0912 - one return per case
        ident = _thread.get_ident()
        if ident == self._threads.link:
            return DISABLE if self._sources.kind(code.co_filename) == OURS else None
        if not self._threads.knows(ident) and code.co_name not in _THREAD_STARTS:
            self._threads.number(ident)  # a thread that was not made by `threading`
        if self._monitor.meets_raises:
            with self._lock:
                self._monitor.bind_new_code(code)
        if self._states.must_park(ident) and self._join(ident, frame):
            return None
        if code.co_name == "<module>":
            self._note_loading(code)
            self._note_template(frame)
        watched = self.arguments.watched.get(id(code))
        if watched is not None and offset == watched[1]:  # not where a generator goes on
            with self._lock:
                self.arguments.begin(frame)
        if self._bind_breakpoints(
            frame, code, offset, is_met=watched is not None and self.breakpoints.sources.holds(code)
        ):
            return None
        if self._loads.runs(code):
            with self._lock:
                self._loads.look(frame)
            return None
        if id(code) in self._loads.threads:
            self._threads.began(ident)
            return None
        self._interpreters.look(frame, code)
        if self._stepping.entering:
            with self._lock:
                self._stepping.enter(ident, frame)
            if self._sources.kind(code.co_filename) != OURS and self._stepping.may_show(frame):
                return None  # another thread may come first
        if self._states.stopped or self._stops.holding or watched is not None:
            return None
        if _ONE_LINERS_NEED_START and self._monitor.watches(code) and starts_on_its_only_line(code):
            return None
        return DISABLE

    def _bind_breakpoints(self, frame: FrameType, code: CodeType, offset: int, *, is_met: bool) -> bool:
        """Bind breakpoints to code that starts; return whether one wants to know of every start."""
        if "django" in self._options.templates and django.is_renderer(code):
            with self._lock:
                self.breakpoints.sources.bind_template_renderer(code)
                self.choose()
        keys = () if is_met else self.breakpoints.sources.wants(code)
        if keys:
            with self._lock:
                for key in keys:
                    self.breakpoints.sources.bind_new_code(key, code, frame.f_globals)
                self.choose()
        functions = self.breakpoints.functions
        if not functions.asked:
            return False
        start = functions.starts.get(id(code))
        if start is None:
            with self._lock:
                functions.bind_new_code(code, frame.f_globals)
            start = functions.starts.get(id(code))
            if start is None:
                return False
        start(code, offset, 4)
        return True

    def _on_loading(self, code: CodeType, frame: FrameType) -> None:
        self._note_loading(code)
        if self.breakpoint_calls.are_taken_by(code) and frame.f_back is not None:
            self.at_next_instruction_of(frame.f_back, self.breakpoint_calls.take)

    def _note_loading(self, code: CodeType) -> None:
        if self._sources.kind(code.co_filename) == PROGRAM:
            key = self._sources.key(code.co_filename)
            if key is not None:
                self._sources.stamps.note(key)

    def _note_template(self, frame: FrameType) -> None:
        text = jinja.text_in_memory(frame) if "jinja" in self._options.templates else None
        if text is not None:
            with self._lock:
                self._sources.unfiled.note_compiled(CompiledText(frame.f_code, *text))

    # Exceptions

    def _on_raise(self, frame: FrameType, code: CodeType, offset: int, exception: BaseException) -> object:
        if self._exceptions.is_seen_later(code):
            return DISABLE
        self._stop_at_exception(frame, offset, exception, again=False)
        cache = self._exceptions.known
        if events.HAS_LOCAL_EXCEPTION_EVENTS and cache.is_busy():
            with self._lock:  # another thread may be about to stop at an exception
                if not cache.reported:
                    self._exceptions.watch_raises(by_code=True)
        return None

    def _on_throw(self, _frame: FrameType, code: CodeType, _offset: int, _exception: BaseException) -> None:
        with self._lock:
            self._monitor.bind_new_code(code)  # which has not started or resumed since RAISE is watched where it is met

    def _on_reraise(self, frame: FrameType, _code: CodeType, offset: int, exception: BaseException) -> None:
        self._stop_at_exception(frame, offset, exception, again=True)

    def _stop_at_exception(
        self, frame: FrameType, offset: int, exception: BaseException, *, again: bool, leaving: bool = False
    ) -> None:
        ident = _thread.get_ident()
        if self._states.evaluates(ident):
            return  # it will be the answer
        if "jinja" in self._options.templates:
            if jinja.stands_in(frame):
                return
            again = again or jinja.raises_again(frame)
        if "django" in self._options.templates and not again and django_errors.raises_again(frame):
            again = self._exceptions.has_stopped_for(ident, exception)
        mode = self._exceptions.on_raise(ident, frame, offset, exception, again=again)
        if mode:
            with self._lock:
                if self._exceptions.known.raises_are_local:
                    self._exceptions.watch_raises(by_code=False)
            reported, trail = self._exceptions.shown(mode, exception, frame)
            parked = ParkedThread(ident, reported, leaving=leaving, exception=exception, break_mode=mode, trail=trail)
            self._stops.stop_at(parked, "exception", **details.summary(exception))

    def _on_unwind(self, frame: FrameType, _code: CodeType, offset: int, exception: BaseException) -> None:
        ident = _thread.get_ident()
        if ident in self._stepping.steps:
            with self._lock:
                self._stepping.unwind(ident, frame)
                self.choose()
        if frame in self._soon:
            self._do_soon(frame)
        if self._states.evaluates(ident):
            return  # it will be the answer
        if self._exceptions.is_unseen(frame, offset, exception):
            self._stop_at_exception(frame, offset, exception, again=True, leaving=True)
        mode = self._exceptions.on_unwind(ident, frame, exception)
        if mode:
            reported, trail = self._exceptions.shown(mode, exception, frame)
            parked = ParkedThread(ident, reported, leaving=True, exception=exception, break_mode=mode, trail=trail)
            self._stops.stop_at(parked, "exception", **details.summary(exception))
        elif self.traces.is_left_by_exception(ident, frame):
            parked = ParkedThread(ident, frame, leaving=True, exception=exception, break_mode=RAISED)
            self._stops.stop_at(parked, "exception", **details.summary(exception))

    # Shields

    def shielded(
        self, handle: Callable[..., object], *, in_ours: object = DISABLE, depth: int = 1, raises_later: bool = False
    ) -> Callable[..., object]:
        """Make a callback that passes the frame of the event, and keeps our errors out of the program.

        Events in code of this package, which the link's thread causes, end with `in_ours`: DISABLE,
        but for events that cannot be disabled. `depth` is the depth of the event's frame, seen from the callback.
        An exception raised in the event of a jump misses the handlers around it, and is raised just after that.
        """
        name = getattr(handle, "__name__", "callback").lstrip("_")
        monitor = self._monitor

        def callback(code: CodeType, *details: object) -> object:
            try:
                if _thread.get_ident() == self._threads.link:
                    return in_ours if self._sources.kind(code.co_filename) == OURS else None
                if in_ours is None and id(code) in hidden_frames.CODES:
                    return None
                epoch = monitor.epoch
                outcome = handle(_getframe(depth), code, *details)
                # Other threads run during calls: none follows.
                return None if outcome is DISABLE and monitor.epoch != epoch else outcome
            except (SystemExit, KeyboardInterrupt, TimeIsUp) as error:
                self._let_go_of_locks(code)
                if isinstance(error, TimeIsUp) and not self._is_for_evaluation(error):
                    self._show_or_raise(error, f"{name} in {code_name(code)}")
                    return None
                if not raises_later:
                    raise
                self.at_next_instruction_of(_getframe(1), _raising(error))
                return None
            except BaseException as error:
                self._show_or_raise(error, f"{name} in {code_name(code)}")
                return None

        return native.interruptible(callback, self._comes_again)

    def _is_for_evaluation(self, error: BaseException) -> bool:
        """Return whether an error ends an evaluation that takes too long: the callback was called in its thread."""
        return isinstance(error, TimeIsUp) and self._states.evaluates(_thread.get_ident())

    def _let_go_of_locks(self, code: CodeType) -> None:
        """Release the objects of the calling thread after an exception ended a callback for the program's code.

        From 3.14 on one that comes from outside, by a signal or `terminateThreads`, may be raised when a lock was
        taken, and before the block of its `with` has begun.
        """
        if self._sources.kind(code.co_filename) != OURS:
            let_go(self._lock)
            self._link.let_go()

    def _comes_again(self, error: BaseException) -> bool:
        """Return whether an error of a signal is to be raised by the program itself, outside of the callback."""
        ident = _thread.get_ident()
        return ident == self._threads.main and not self._states.evaluates(ident) and may_come_again(error)

    def _safely(self, action: Callable[[], object]) -> object:
        try:
            return action()
        except BaseException as error:
            self._show_or_raise(error, "a breakpoint that was hit")
            return True

    def _show_or_raise(self, error: BaseException, during: str) -> None:
        """Report an internal error.

        Raise an exception that came from a signal handler of the program, or that ends the thread.
        """
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        ours = traceback is None or self._sources.kind(traceback.tb_frame.f_code.co_filename) == OURS
        if not ours or isinstance(error, KeyboardInterrupt | SystemExit) or self._is_for_evaluation(error):
            try:
                raise error
            finally:
                del error, traceback  # which have this frame on them: none of them would end
        if isinstance(error, RecursionError):
            return  # the program is about to have one of its own; there is no room to stop, or even to report
        self._link.errors.show(error, f"{during}, thread {_thread.get_ident()}")


def _raising(error: BaseException) -> Callable[[], None]:
    holder = [error]

    def action() -> None:
        raise holder.pop().with_traceback(None)  # kept, it would hold itself by the frame on its traceback

    return action
