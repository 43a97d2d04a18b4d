"""Stopping and going on: which threads stand still, and why.

A thread stops by parking inside a monitoring callback. By default the whole program stops
with it: events are switched on everywhere, so that each other thread parks at its
next line, jump or return; a thread inside native code parks when it comes back, and
counts as stopped until then. While parked, a thread does the work put in its inbox.

    running --halt (a thread hit something), pause (the client asked)--> stopped
    stopped --resume--> running

With `each_alone` a thread stops by itself, is in `held` as long as it stands, and the others run at full
speed; references belong to the stop of one thread then.
"""

import _queue
import _thread
import sys
from collections.abc import Callable
from time import monotonic
from types import FrameType

from .. import limits
from ..connection.link import Link
from ..connection.wire import Json
from ..errors import RequestRefused
from ..evaluation.guard import EvaluationGuard as Guard
from ..evaluation.jobs import Job
from ..threads.table import ThreadTable as Threads
from ..values.references import ObjectReferences as References
from . import monitor as events
from .monitor import Monitor
from .native_returns import NativeReturns as Returning
from .results import Result


class Parked:
    """A thread that stands still, and what is to be shown of it.

    `shown` is the newest frame to show; it is not the running one when a step ended in the
    caller of a function that is just returning. `trail` are frames to show instead of it, from
    the newest: those through which an exception came. `at_line` says that it stands in the LINE event of
    `shown`, the only place from which a frame can be made to jump. `before_line` says that the LINE event of the
    place where it stands may be still to come, as for the tool of data breakpoints, which is called before ours.
    """

    __slots__ = (
        "at_line",
        "before_line",
        "break_mode",
        "chosen",
        "doomed",
        "exception",
        "going",
        "ident",
        "inbox",
        "leaving",
        "returned",
        "shown",
        "trail",
    )

    def __init__(
        self,
        ident: int,
        shown: FrameType,
        *,
        leaving: bool = False,
        at_line: bool = False,
        before_line: bool = False,
        exception: BaseException | None = None,
        break_mode: str = "",
        trail: list[tuple[FrameType, int]] | None = None,
        returned: list[Result] | None = None,
    ) -> None:
        self.ident = ident
        self.shown = shown
        self.at_line = at_line
        self.before_line = before_line
        self.leaving = leaving  # it stands in the return of `shown`, which will execute nothing more
        self.going = False  # it may leave the place where it stands
        self.chosen = False  # the client told just this thread to go on
        self.doomed = False  # it is to end as soon as it goes on
        self.exception = exception
        self.break_mode = break_mode
        self.trail = trail
        self.returned = returned or []  # by the function that the step came out of, or by those that it went over
        self.inbox: _queue.SimpleQueue[Job | None] = _queue.SimpleQueue()


class World:
    """Whether the program runs.

    Invariant: while `stopped`, every thread of the program is in `parked`, in `exempt`, inside native
    code, or about to park; references are valid exactly while `stopped`. Changed under `lock`.
    """

    def __init__(
        self, link: Link, threads: Threads, monitor: Monitor, *, references: References, lock: _thread.RLock
    ) -> None:
        self._link = link
        self._threads = threads
        self._monitor = monitor
        self._references = references
        self._lock = lock
        self.stopped = False
        self.each_alone = False
        """Whether a thread that hits something stops alone."""
        self.held: set[int] = set()
        """Threads that are stopped alone."""
        self.released = False
        self.holding = False
        """Whether events are on everywhere, so that other threads park."""
        self.parked: dict[int, Parked] = {}
        self.exempt: set[int] = set()
        """Threads that run although the rest of the program is stopped; the link's is always one."""
        self.thread = 0
        """Identity of the thread that the present stop is about."""
        self.evaluating: dict[int, Guard] = {}
        """Stopped threads that run an expression in which breakpoints stop, and the clock over it."""
        self.ending = False
        """Whether the program was asked to end; nothing is to stop it on its way."""
        self._returning = Returning(monitor)
        self._jobs: list[Job] = []
        self._pausing: set[int] = set()  # threads whose pause the client has not been told of yet
        self._since = 0.0  # when the present stop began
        self.changed: Callable[[int], None] = _nothing
        """Called under the lock: with the identity of a thread that has stopped, or 0 when something goes on."""
        self.joined: Callable[[], None] = _nothing
        """Called under the lock whenever a thread parks that was told to."""

    def must_park(self, ident: int) -> bool:
        """Say whether a running thread has to stop now."""
        return self.stands(ident) and ident not in self.evaluating

    def stands(self, ident: int) -> bool:
        """Say whether a thread is stopped for the client, though it may be evaluating something."""
        return (self.stopped and ident not in self.exempt) or ident in self.held

    @property
    def arresting(self) -> bool:
        """Whether any thread may have to notice that it is to stop."""
        return self.stopped or not self.held <= self.parked.keys()

    @property
    def standing(self) -> int:
        """The thread that the latest stop is about, or another one that is stopped; 0 if none is."""
        if self.stopped or self.thread in self.held:
            return self.thread
        return next(iter(self.held), 0)

    def halt(self, parked: Parked, reason: str, **details: object) -> None:
        """Stop the program because of this thread, and return when the thread is to go on.

        If the program is stopped for another reason already, this one is told after that.
        """
        _need_room()
        clock = self.evaluating.pop(parked.ident, None)
        left = clock.stand_still() if clock is not None else 0.0
        try:
            self._halt(parked, reason, details, told=clock is not None)
        finally:
            if clock is not None:
                self.evaluating[parked.ident] = clock
                clock.go_on(left)

    def _halt(self, parked: Parked, reason: str, details: Json, *, told: bool) -> None:
        inside = told  # an evaluation, during a stop of the same thread
        told = False
        while not told:
            late: BaseException | None = None
            with self._lock:
                if self.released:
                    return
                told = inside or not self.must_park(parked.ident)
                parked.going = False
                self.parked[parked.ident] = parked
                if told:
                    self.exempt.discard(parked.ident)
                    if inside:  # what the client knows of the stop before is of no use any more
                        number = self._threads.number(parked.ident)
                        self._link.event("continued", {"threadId": number, "allThreadsContinued": not self.each_alone})
                    self._begin(parked.ident, others=not self._threads.alone())
                    late = self._tell(parked.ident, reason, details)
                else:
                    self._returning.end(parked.ident)
                    self._settle()
            self._stand(parked, late)
            told = told or parked.chosen

    def wait_for_room(self) -> None:
        """Have the calling thread wait while the client is told slowly of what it said; not if it has to stop."""
        ident = _thread.get_ident()
        self._link.wait_for_room(unless=lambda: self.must_park(ident))

    def join(self, parked: Parked) -> None:
        """Park a thread because the program is stopped; return when it is to go on."""
        _need_room()
        late: BaseException | None = None
        with self._lock:
            if not self.must_park(parked.ident):
                return
            self.parked[parked.ident] = parked
            self.joined()
            if parked.ident in self._pausing:
                late = self._tell(parked.ident, "pause", {})
            self._returning.end(parked.ident)
            self._settle()
        self._stand(parked, late)

    def _stand(self, parked: Parked, late: BaseException | None) -> None:
        """Do the work of the inbox. An exception of a signal handler is raised when the thread goes on."""
        while not parked.going:
            try:
                job = parked.inbox.get()
                if job is not None:
                    job.run()
                    if self.ending:
                        late = KeyboardInterrupt()  # the first one ended what was evaluated
            except BaseException as error:  # of a signal handler, which may have cost us what `get` returned
                late = error
        if parked.doomed:
            raise SystemExit
        if late is not None:
            raise late

    def expose[T](self, guard: Guard, function: Callable[[], T]) -> T:
        """Call code of the program in the calling thread, which is stopped, so that breakpoints in it stop.

        sys.monitoring is silent inside a callback, where a stopped thread stands; `sys.call_tracing` is
        made for this: it lets events through again. A stop in there is a stop of its own; when the program
        goes on from it and the call has ended, the program stops again where it stood.
        """
        ident = _thread.get_ident()
        parked = self.parked[ident]
        self.evaluating[ident] = guard
        try:
            return sys.call_tracing(function, ())
        finally:
            self.evaluating.pop(ident, None)
            self._stop_again(parked)

    def _stop_again(self, parked: Parked) -> None:
        """Restore the stop that an evaluation began in, if the program went on meanwhile."""
        late: BaseException | None = None
        with self._lock:
            if self.parked.get(parked.ident) is parked:
                return
            if self.released or self.ending:
                parked.going = True
                return
            running = not self.must_park(parked.ident)
            self.parked[parked.ident] = parked
            if running:
                self.exempt.discard(parked.ident)
                self._begin(parked.ident, others=not self._threads.alone())
                late = self._tell(parked.ident, "pause", {"description": "Back from an evaluation"})
        if late is not None:
            raise late

    def _begin(self, ident: int, *, others: bool) -> None:
        self.ending = False
        self.thread = ident
        self._since = monotonic()
        if self.each_alone:
            self.held.add(ident)
            self._references.begin(ident)
            others = ident not in self.parked  # it is to be paused
        else:
            self.stopped = True
            self._references.begin()
        if others:
            self._hold(on=True)
        self.changed(ident)

    def _settle(self) -> None:
        """Watch everywhere only as long as a thread has to be stopped wherever it is."""
        self._hold(on=self.stopped or any(ident not in self._returning for ident in self.held - self.parked.keys()))

    def _hold(self, *, on: bool) -> None:
        """Switch events on everywhere, so that threads park, or off again."""
        if self.holding is not on:
            self.holding = on
            self._monitor.also("hold", events.HOLD if on else 0)

    def _tell(self, ident: int, reason: str, details: Json) -> BaseException | None:
        if self.each_alone:
            self._pausing.discard(ident)
        else:
            self._pausing.clear()
        body: Json = {"reason": reason, "threadId": self._threads.number(ident)}
        body["allThreadsStopped"] = not self.each_alone
        try:
            self._link.event("stopped", body | details)
        except BaseException as error:
            return error
        return None

    def stop_again(self, parked: Parked, reason: str) -> None:
        """Tell that a thread stands elsewhere now; all that was known of the stop is out of date."""
        with self._lock:
            if self.released or self.parked.get(parked.ident) is not parked:
                return
            self.thread = parked.ident
            self._references.begin(parked.ident if self.each_alone else 0)
            late = self._tell(parked.ident, reason, {})
        if late is not None:
            raise late

    def pause(self, ident: int) -> None:
        """Stop the program because the client asked. In the link's thread."""
        with self._lock:
            if self.must_park(ident) or ident in self.evaluating:
                return  # it stands already, or is about to
            self.exempt.discard(ident)
            self._pausing.add(ident)
            self._begin(ident, others=True)
        # Told by the thread itself as it parks, or by us if it is inside native code.
        self._link.after(limits.PAUSE_SECONDS, lambda: self._pause_is_over(ident))

    def _pause_is_over(self, ident: int) -> None:
        with self._lock:
            if ident not in self._pausing:
                return
            if self.each_alone and ident not in self._threads.frames():  # it has ended meanwhile
                self.resume(ident)
                return
            late = self._tell(ident, "pause", {})
            if self.each_alone:
                self._expect(ident)
        if late is not None:
            raise late

    def _expect(self, ident: int) -> None:
        """Let the others run at full speed while a thread is inside native code."""
        frame = self._threads.frames().get(ident)
        self._hold(on=False)  # first: what is watched everywhere cannot be watched afresh in one place
        self._returning.expect(ident, frame)
        self._settle()

    def freeze(self, ident: int) -> None:
        """Stop all threads, whatever stops otherwise, and without a word: the client is about to leave."""
        with self._lock:
            self.each_alone = False
            if not self.stopped:
                self._begin(ident, others=True)

    def resume(self, only: int | None = None) -> None:
        """Let all threads go on, or only one."""
        with self._lock:
            if only is not None and self.each_alone:
                self.held.discard(only)
                self._pausing.discard(only)
                self._references.end(only)
                going = [self.parked.pop(only)] if only in self.parked else []
                self._returning.end(only)
                self._settle()
            elif only is not None:
                self.exempt.add(only)
                going = [parked for ident, parked in self.parked.items() if ident == only]
                self.parked.pop(only, None)
            else:
                self.stopped = False
                self.held.clear()
                self._pausing.clear()
                self.exempt = {self._threads.link}
                self._references.end()
                self._returning.clear()
                self._hold(on=False)
                going = list(self.parked.values())
                self.parked = {}
            self.changed(0)
            for parked in going:
                parked.going = True
                parked.inbox.put(None)  # only to wake it

    def end(self, ident: int) -> bool:
        """Let a thread that stands still end; say whether there was one."""
        with self._lock:
            parked = self.parked.get(ident)
            if parked is None:
                return False
            parked.doomed = parked.chosen = True
            self.resume(ident)
            return True

    def since(self) -> float:
        """Return how many seconds ago the present stop began."""
        return monotonic() - self._since

    def take_over(self, other: "World") -> None:
        """Hold the threads that another world has stopped; that one is of no more use."""
        with self._lock:
            other.released, other.stopped, other.held = True, False, set()  # nobody is to stop there once more
            self.parked, other.parked = other.parked, {}
            for ident in {*self.parked, other.thread} if self.each_alone else (other.thread,):
                self._begin(ident, others=True)

    def tell_taken(self) -> None:
        """Tell of the stop that was taken over, of each thread if they stop alone."""
        with self._lock:
            for ident in self.held or (self.thread,):
                late = self._tell(ident, "pause", {"description": "Suspended before"})
                if late is not None:
                    raise late
                if self.each_alone and ident not in self.parked:
                    self._expect(ident)

    def release(self) -> None:
        """Let the program run on for good: nothing stops it any more."""
        with self._lock:
            self.released = True
            self._monitor.release()
            self.holding = False
            self.resume()

    def forget(self) -> None:
        """Let go of everything in the child of a fork, which may have been made by an expression. Without the lock."""
        self.released = True
        self.stopped = False
        self.held = set()
        parked, self.parked = self.parked, {}
        for one in parked.values():
            one.going = True  # the forking thread, when the expression is over; there are no others

    def post(self, ident: int, job: Job) -> None:
        """Have work done in a stopped thread, or without it if it is inside native code."""
        self._jobs = [known for known in self._jobs if not known.is_over and known is not job]
        self._jobs.append(job)
        parked = self.parked.get(ident)
        if parked is not None:
            parked.inbox.put(job)
            self._link.after(limits.TICK_SECONDS, lambda: job.look(self._link))
        elif monotonic() < self._since + limits.SETTLE_SECONDS:
            self._link.after(limits.SETTLE_TICK_SECONDS, lambda: self.post(ident, job))
        else:
            job.run_instead()

    def cancel(self, seq: object) -> None:
        """Drop the work for a request, if it is not done yet."""
        for job in self._jobs:
            if job.seq == seq:
                job.cancel(self._link)

    def need_stop(self, ident: int) -> None:
        """Refuse what can only be done with a stopped thread.

        Raises:
            RequestRefused: if the thread runs.

        """
        if not self.must_park(ident):
            if ident in self.evaluating:
                number = self._threads.number(ident)
                raise RequestRefused(f"thread {number} is evaluating an expression; wait for it, or cancel it")
            raise RequestRefused(f"thread {self._threads.number(ident)} is running; pause it first")


def _need_room(calls: int = 40) -> None:
    """Raise RecursionError now, rather than half-way through a stop, if the program is about to.

    Raises:
        RecursionError: if fewer calls than these fit on the stack.

    """
    if calls:
        _need_room(calls - 1)


def _nothing(_stopped: int = 0) -> None:
    return
