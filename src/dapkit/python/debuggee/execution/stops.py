"""Stopping and continuing: which threads stand still, and why.

A thread stops by parking inside a monitoring callback. By default the whole program stops
with it: events are switched on everywhere, so that each other thread parks at its
next line, jump or return; a thread inside native code parks when it comes back, and
counts as stopped until then. While parked, a thread does the work put in its inbox.

With `stopAllThreads: false` a thread stops alone, and the others run at full speed;
references belong to the stop of one thread then.

`states` decides the state of a thread and its next moves; this module carries out the consequences.
"""

import _thread
import sys
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.link import Link
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_pause import gc_pause
from ..interpreter.log import LOG, write
from ..interpreter.recursion_headroom import check_headroom
from ..interpreter.thread_checks import in_link_thread, off_link_thread, under_lock
from ..options import EngineOptions
from ..threads.table import ThreadTable
from ..values.references import ObjectReferences
from .arrest import ThreadArrest
from .gui_events import GuiEvents
from .history_role import HistoryRole
from .monitor import Monitor
from .parked_thread import ParkedThread, VisitEnd
from .states import (
    ARRESTING,
    ENDING,
    EVALUATING,
    FINISHING,
    FORKED,
    RUNNING,
    STEPPING,
    STOPPED,
    SUSPENDED,
    ProgramMove,
    ThreadStates,
)
from .visits import Visits

if TYPE_CHECKING:
    from .stop_listener import StopListener


STANDS_EVENT: Final = "dapkit/stands"
"""Says, before `stopped`, at which clock a program with time travel has stopped."""


class Stops:
    """Parks threads and lets them continue.

    Invariant: `parked` holds the threads that stand, and those that run an expression where they stand;
    references are valid exactly while the program, or their thread, is stopped. Changed under the lock.
    """

    def __init__(
        self,
        link: Link,
        threads: ThreadTable,
        monitor: Monitor,
        *,
        states: ThreadStates,
        references: ObjectReferences,
        options: EngineOptions,
        lock: _thread.RLock,
        listener: "StopListener",
    ) -> None:
        self.states = states
        self._link = link
        self._threads = threads
        self._monitor = monitor
        self._references = references
        self._options = options
        self._lock = lock
        self._listener = listener
        self._parked: dict[int, ParkedThread] = {}
        self._thread = 0  # that the latest stop is about
        self._since = 0.0  # when that began
        self._clocks: dict[int, EvaluationGuard] = {}  # of threads that evaluate something
        self._pausing: set[int] = set()  # threads whose pause was not reported yet
        self._hold = ThreadArrest(monitor, states, threads)
        self._visits = Visits()
        self._gui = GuiEvents(options, threads, link.event)
        self.history: HistoryRole | None = None
        """The role of this process in the history of a program with time travel."""
        self.stopped_alone: frozenset[int] = frozenset()
        """The threads that had stopped alone before all were, since the client left the program suspended."""
        self._only_suspended: set[int] = set()
        self.seen_in_native: set[int] = set()
        """Threads whose stack the client was shown before they came back from native code."""

    @property
    def parked(self) -> Mapping[int, ParkedThread]:
        """The parked threads, by identity."""
        return self._parked

    @property
    def holding(self) -> bool:
        """Whether events are on everywhere, so that other threads park."""
        return self._hold.is_on

    @property
    def each_alone(self) -> bool:
        """Whether a thread that hits something stops alone."""
        return not self._options.stop_all_threads and self.states.phase != SUSPENDED

    @property
    def standing(self) -> int:
        """The thread that the latest stop is about, or another one that is stopped; 0 if none is."""
        if self.states.stopped or (self.states.stands(self._thread) and self._thread not in self._visits.passing):
            return self._thread
        return next((ident for ident in self.states.standing() if ident not in self._visits.passing), 0)

    def since(self) -> float:
        """Return how many seconds ago the present stop began."""
        return monotonic() - self._since

    @in_link_thread
    def need_stop(self, ident: int) -> None:
        """Refuse requests that need a stopped thread.

        Raises:
            RequestRefused: if the thread runs.

        """
        passes = ident in self._visits.passing and not self.states.stopped
        if passes or self.states.of(ident) not in (ARRESTING, STOPPED):
            number = self._threads.number(ident)
            if self.states.evaluates(ident):
                raise RequestRefused(f"thread {number} is evaluating an expression; wait for it, or cancel it")
            raise RequestRefused(f"thread {number} is running; pause it first")

    # Threads that stop

    @off_link_thread
    def stop_at(self, parked: ParkedThread, reason: str, **details: object) -> None:
        """Stop the program because of this thread, and return when the thread is to continue.

        If the program is stopped for another reason already, this one is reported after that.
        """
        if self.history is not None and self.history.passes(parked, reason, details):
            parked.empty()
        else:
            self.show(parked, reason, details)

    @off_link_thread
    def show(self, parked: ParkedThread, reason: str, details: Json) -> None:
        """Stop the program, whatever is looked for and wherever the past begins, and return when it is to continue."""
        check_headroom()
        self._listener.thread_stops()
        gc_pause.pause()
        clock = self._clocks.pop(parked.ident, None)
        seconds = clock.stand_still() if clock is not None else 0.0
        try:
            self._halt(parked, reason, details, inside=clock is not None)
        finally:
            parked.empty()
            gc_pause.resume()
            if clock is not None:
                self._clocks[parked.ident] = clock
                self._reenter(parked.ident)
                clock.go_on(seconds)

    def _halt(self, parked: ParkedThread, reason: str, details: Json, *, inside: bool) -> None:
        """Stop; `inside` an evaluation, that is during another stop of the same thread."""
        reported = False
        while not reported:
            with self._lock:
                if self.states.released or self._threads.is_exempt(parked.ident):
                    return
                reported = inside or not self.states.must_park(parked.ident)
                if LOG:
                    write("stop", f"thread {parked.ident}: {reason}{'' if reported else ', after the present stop'}")
                self._park(parked)
                if reported:
                    if inside:  # the client's references from the stop before are invalid
                        number = self._threads.number(parked.ident)
                        self._link.event("continued", {"threadId": number, "allThreadsContinued": not self.each_alone})
                    self._begin(parked.ident, others=not self._threads.alone())
                    parked.pending_exception = self._report(parked.ident, reason, details)
                else:
                    self._receive_visit(parked)
                    self._hold.expect_no_more(parked.ident)
                    self._hold.settle()
            self._wait_until_resumed(parked)
            reported = reported or parked.resumed_alone

    @off_link_thread
    def join(self, parked: ParkedThread) -> None:
        """Park a thread because the program is stopped; return when it is to continue."""
        check_headroom()
        with self._lock:
            if not self.states.must_park(parked.ident):
                return
            gc_pause.pause()
            self._park(parked)
            self._listener.thread_parked()
            if parked.ident in self._pausing:
                parked.pending_exception = self._report(parked.ident, "pause", {})
            elif parked.ident in self.seen_in_native:
                where: Json = {"areas": ["stacks"], "threadId": self._threads.number(parked.ident)}
                parked.pending_exception = self._send("invalidated", where)
            self.seen_in_native.discard(parked.ident)
            self._receive_visit(parked)
            self._hold.expect_no_more(parked.ident)
            self._hold.settle()
        try:
            self._wait_until_resumed(parked)
        finally:
            parked.empty()
            gc_pause.resume()

    @under_lock
    def _park(self, parked: ParkedThread) -> None:
        parked.stay()
        self.states.move(parked.ident, "park")
        self._parked[parked.ident] = parked

    def _wait_until_resumed(self, parked: ParkedThread) -> None:
        """Do the work of the inbox. An exception of a signal handler is raised when the thread continues."""
        parked.stand(lambda: self.states.phase == ENDING, self._gui)
        self._release_references(parked.ident)
        if LOG:
            write("go", f"thread {parked.ident}{', which is to end' if parked.exiting else ''}")
        parked.raise_late()

    def _release_references(self, ident: int) -> None:
        """Drop the program's objects that were kept for this stop, in the thread to which they belong.

        Its end may be code of the program, which must not run under the lock.
        """
        if self.states.phase == FORKED:  # the lock may be held for ever, and there are no other threads
            objects = self._references.take(ident, everything=True)
        else:
            with self._lock:
                objects = self._references.take(ident, everything=not self.states.stands(ident))
        self._listener.references_released(objects)

    @off_link_thread
    def wait_for_room(self) -> None:
        """Let the calling thread wait while the client reads its output slowly; not if it must stop."""
        ident = _thread.get_ident()
        self._link.wait_for_room(unless=lambda: self.states.must_park(ident))

    # Evaluations in which breakpoints stop

    @off_link_thread
    def expose[T](self, guard: EvaluationGuard, function: Callable[[], T]) -> T:
        """Call code of the program in the calling thread, which is stopped, so that breakpoints in it stop.

        sys.monitoring is silent inside a callback, where a stopped thread stands; `sys.call_tracing` is
        made for this: it lets events through again. A stop in there is a stop of its own; when the program
        continues from it and the call has ended, the program stops again where it stood.

        Raises:
            RequestRefused: the client has let the thread go on meanwhile.

        """
        ident = _thread.get_ident()
        with self._lock:
            parked = self._parked.get(ident)
            if parked is None or self.states.of(ident) != STOPPED:
                raise RequestRefused("the thread was let go on before this could be evaluated")
            self.states.move(ident, "evaluate")
            self._clocks[ident] = guard
        try:
            return sys.call_tracing(function, ())
        finally:
            self._clocks.pop(ident, None)
            self._stop_again(parked)

    def _reenter(self, ident: int) -> None:
        """Record that a thread is back in an expression, after a stop in there."""
        if self.states.released:
            return  # and without the lock, which may be held for ever in the child of a fork
        with self._lock:
            if not self.states.evaluates(ident):  # it did not get to stop
                self.states.move(ident, "reenter")

    def _stop_again(self, parked: ParkedThread) -> None:
        """Restore the stop that an evaluation began in, if the program went on meanwhile."""
        ident = parked.ident
        # First without the lock, which may be held for ever in the child of a fork; then once more with it.
        ended = self.states.released
        if ended:
            parked.leave()
            return
        with self._lock:
            running = self.states.of(ident) == FINISHING
            going = self._parked.get(ident) is not parked
            if self.states.released or (going and (self.states.phase == ENDING or parked.exiting)):
                self.states.move(ident, "leave")
                parked.leave()
                return
            parked.stay()
            self.states.move(ident, "evaluated")
            self._parked[ident] = parked
            if running:
                self._begin(ident, others=not self._threads.alone())
                parked.pending_exception = self._report(ident, "pause", {"description": "Back from an evaluation"})

    # Work for threads that run

    @in_link_thread
    def visit(self, ident: int, job: Job) -> None:
        """Do work in a thread that runs, at its next safe point."""
        with self._lock:
            self._visits.add(ident, job)
            self._expect_for_visit(ident)

    @in_link_thread
    def visit_no_more(self, ident: int, job: Job) -> None:
        """Let a thread run on that has not come to do this work, which was given up."""
        with self._lock:
            no_more = self._visits.drop(ident, job) and ident in self._visits.passing
            if no_more and self.states.of(ident) == ARRESTING and not self.states.stopped:
                self._visits.passing.discard(ident)
                self.states.move(ident, "resume")
                self._hold.expect_no_more(ident)
                self._hold.settle()
                self._listener.threads_resumed()

    @under_lock
    def _expect_for_visit(self, ident: int) -> None:
        if self.states.of(ident) in (RUNNING, STEPPING):
            self.states.move(ident, "arrest")
            self._visits.passing.add(ident)
            self._hold.expect(ident)

    @under_lock
    def _receive_visit(self, parked: ParkedThread) -> bool:
        """Put the work that waits for a thread, which is parked, into its inbox; return whether there is any."""
        jobs = self._visits.take(parked.ident)
        for job in jobs:
            parked.inbox.put(job)
        if jobs:
            parked.inbox.put(VisitEnd(partial(self._end_visit, parked)))
        return bool(jobs)

    @off_link_thread
    def _end_visit(self, parked: ParkedThread) -> None:
        """Let a thread continue that has done its work, unless it is stopped for the client by now."""
        ident = parked.ident
        with self._lock:
            is_over = not self._receive_visit(parked) and self._parked.get(ident) is parked
            if is_over and ident in self._visits.passing and not self.states.stopped:
                self._visits.passing.discard(ident)
                self._references.end(ident, standing=self._parked)
                self.states.move(ident, "resume")
                del self._parked[ident]
                self._set_going([parked])

    # How a stop begins

    @under_lock
    def _begin(self, ident: int, *, others: bool) -> None:
        self._thread = ident
        self._since = monotonic()
        self.states.exempt({self._threads.link, *self._threads.look_for_marks()})
        if self.each_alone:
            self.states.move_program("stop alone")
            self._references.begin(ident, standing=self._parked)
            others = ident not in self._parked  # it is to be paused
        else:
            self.states.move_program("stop")
            self._references.begin(standing=self._parked)
        if others:
            self._hold.begin()
        self._listener.thread_stopped(ident)

    @under_lock
    def _report(self, ident: int, reason: str, details: Json) -> BaseException | None:
        if self.each_alone:
            self._pausing.discard(ident)
        else:
            self._pausing.clear()
        body: Json = {"reason": reason, "threadId": self._threads.number(ident)}
        body["allThreadsStopped"] = not self.each_alone
        if self.history is not None:
            self._send(STANDS_EVENT, self.history.stands())
        return self._send("stopped", body | details)

    def _send(self, event: str, body: Json) -> BaseException | None:
        try:
            self._link.event(event, body)
        except BaseException as error:
            return error
        return None

    def stop_again(self, parked: ParkedThread, reason: str) -> None:
        """Report that a thread stands elsewhere now; all that was known of the stop is out of date."""
        with self._lock:
            if self.states.released or self._parked.get(parked.ident) is not parked:
                return
            self._thread = parked.ident
            self._references.begin(parked.ident if self.each_alone else 0, standing=self._parked)
            parked.pending_exception = self._report(parked.ident, reason, {})

    # Requests of the client

    @in_link_thread
    def pause(self, ident: int) -> None:
        """Stop the program because the client asked."""
        with self._lock:
            if ident in self._visits.passing and not self.states.stopped:
                self._visits.passing.discard(ident)  # it stays when it has done its work
            elif self.states.released or self.states.of(ident) not in (RUNNING, STEPPING):
                return  # the program ends, or the thread stands already, or is about to
            else:
                self.states.move(ident, "arrest")
            self._pausing.add(ident)
            self._begin(ident, others=True)
        # Reported by the thread itself as it parks, or by us if it is inside native code.
        self._link.after(limits.PAUSE_SECONDS, lambda: self._pause_is_over(ident))

    @in_link_thread
    def _pause_is_over(self, ident: int) -> None:
        with self._lock:
            if ident not in self._pausing:
                return
            if self.each_alone and ident not in self._threads.frames():  # it has ended meanwhile
                self.resume(ident)
                return
            late = self._report(ident, "pause", {})
            if self.each_alone:
                self._hold.expect(ident)
        if late is not None:
            raise late

    @in_link_thread
    def resume(self, only: int | None = None) -> None:
        """Let all threads continue, or only one."""
        if LOG:
            write("resume", "all threads" if only is None else f"thread {only}")
        with self._lock:
            if only is None:
                self._go_on("resume")
                return
            self._references.end(only, standing=self._parked)
            if self.states.stands(only):
                self.states.move(only, "resume")
            if self.each_alone:
                self._pausing.discard(only)
                self._hold.expect_no_more(only)
                self._hold.settle()
            parked = self._parked.pop(only, None)
            self._set_going([] if parked is None else [parked])

    @under_lock
    def _go_on(self, move: ProgramMove) -> None:
        """Let all threads continue, as they may after this move of the program."""
        self._references.end(standing=self._parked)  # first: while none of them runs
        self.states.move_program(move)
        self._pausing.clear()
        self.seen_in_native.clear()
        self._hold.end()
        self._visits.passing.clear()
        if move == "resume":
            for ident in self._visits.awaited():
                self._expect_for_visit(ident)
        going, self._parked = self._parked, {}
        self._set_going(list(going.values()))

    @under_lock
    def _set_going(self, going: list[ParkedThread]) -> None:
        """Let threads go once the listener has taken note, or has failed: for the client they run already."""
        try:
            self._listener.threads_resumed()
        finally:
            for parked in going:
                self._let_go(parked)

    @under_lock
    def _let_go(self, parked: ParkedThread) -> None:
        """Let a thread leave its place; one that is evaluating something there comes back to it first."""
        if not self.states.evaluates(parked.ident):
            parked.go()

    @in_link_thread
    def end_thread(self, ident: int) -> bool:
        """Let a thread that is stopped end; return whether there was one."""
        with self._lock:
            parked = self._parked.get(ident)
            if parked is None:
                return False
            parked.exiting = parked.resumed_alone = True
            self.resume(ident)
            return True

    @in_link_thread
    def end_program(self) -> None:
        """Let all threads continue, and nothing stop them: the program was asked to end."""
        with self._lock:
            self._go_on("end")

    # Clients that leave, and that come

    @in_link_thread
    def suspend(self, ident: int) -> None:
        """Stop all threads, whatever stops otherwise, and without a word: the client is about to leave."""
        with self._lock:
            was_stopped = self.states.stopped
            self.stopped_alone = frozenset(self._parked) if self.each_alone else frozenset()
            self.states.move_program("suspend")
            if not was_stopped:
                self._begin(ident, others=True)

    @in_link_thread
    def take_over(self, other: "Stops") -> None:
        """Hold the threads that stand for another client, which has left the program suspended.

        If each thread stops alone for both clients, those that were only suspended with it continue.
        """
        with self._lock:
            thread, self._parked = other.hand_over()
            if not self.each_alone:
                self.states.move_program("stop")
            for ident in self._parked:
                self.states.move(ident, "park")
            alone = other.stopped_alone.intersection(self._parked) if self.each_alone else frozenset()
            self._only_suspended = {*self._parked} - alone if alone else set()
            if alone:
                thread = next(iter(alone))
            for ident in {*self._parked, thread} if self.each_alone else (thread,):
                if self.states.of(ident) == RUNNING:
                    self.states.move(ident, "arrest")
                self._begin(ident, others=True)

    def hand_over(self) -> tuple[int, dict[int, ParkedThread]]:
        """Give away the threads that stand, and the one that the stop is about; nothing stops here once more."""
        with self._lock:
            # A thread that is evaluating something continues from here, and parks for the new client at its next event.
            evaluating = self.states.all_in(EVALUATING)
            parked = {ident: parked for ident, parked in self._parked.items() if ident not in evaluating}
            self._parked = {}
            self.states.move_program("release")
            return self._thread, parked

    @in_link_thread
    def report_taken(self) -> None:
        """Report the stop that was taken over, of each thread if they stop alone."""
        with self._lock:
            for ident in self._only_suspended:
                self.resume(ident)
            self._only_suspended.clear()
            for ident in self.states.standing() if self.each_alone else (self._thread,):
                late = self._report(ident, "pause", {"description": "Suspended before"})
                if late is not None:
                    raise late
                if self.each_alone and ident not in self._parked:
                    self._hold.expect(ident)

    def release(self) -> None:
        """Let the program run on for good: nothing stops it any more."""
        with self._lock:
            self._monitor.release()
            self._hold.forget()
            self._go_on("release")

    def forget(self) -> None:
        """Let go of everything in the child of a fork, which may have been made by an expression. Without the lock."""
        self.states.fork()
        going, self._parked = self._parked, {}
        for parked in going.values():
            parked.leave()  # the forking thread, when the expression is over; there are no others
