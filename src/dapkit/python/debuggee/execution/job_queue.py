"""Work for stopped threads: put where the thread that is to do it finds it, or done without it."""

from collections.abc import Callable
from time import monotonic

from ..connection.link import Link
from ..evaluation.jobs import Job
from ..interpreter import limits
from ..interpreter.thread_checks import in_link_thread
from .stops import Stops


class JobQueue:
    """The jobs of requests that are not answered yet."""

    def __init__(self, link: Link, stops: Stops) -> None:
        self._link = link
        self._stops = stops
        self._jobs: list[tuple[int, Job]] = []  # with the threads that they are for
        self._visits: set[Job] = set()  # of these, those for threads that run

    @in_link_thread
    def post(self, ident: int, job: Job) -> None:
        """Do work in a stopped thread, or without it if it is inside native code."""
        if job.is_over:
            return  # it was cancelled or withdrawn while it waited for the thread
        self._jobs = [(owner, each) for owner, each in self._jobs if not each.is_over and each is not job]
        self._jobs.append((ident, job))
        if self._stops.history is not None:
            job.be_done_by(self._stops.history.job_wrapper)
        parked = self._stops.parked.get(ident)
        if parked is not None:
            parked.inbox.put(job)
            # It waits its turn behind a slow one, and is done without the thread only if that one never ends.
            self._link.after(limits.TICK_SECONDS, lambda: job.look(self._link, lambda: self._is_held_up(ident, job)))
        elif self._stops.since() < limits.SETTLE_SECONDS:
            self._link.after(limits.SETTLE_TICK_SECONDS, lambda: self.post(ident, job))
        else:
            job.run_instead()

    @in_link_thread
    def post_to_running(self, ident: int, job: Job, *, seconds: float) -> None:
        """Do work in a thread that runs, at its next safe point within so many seconds."""
        until = monotonic() + seconds
        self._jobs = [(owner, each) for owner, each in self._jobs if not each.is_over]
        self._visits = {each for each in self._visits if not each.is_over} | {job}
        self._jobs.append((ident, job))
        self._stops.visit(ident, job)
        self._link.after(limits.TICK_SECONDS, lambda: job.look(self._link, lambda: monotonic() < until))
        self._link.after(limits.TICK_SECONDS, lambda: self._attend(ident, job))

    @in_link_thread
    def _attend(self, ident: int, job: Job) -> None:
        """Let the thread run on undisturbed once the work was given up."""
        if job.is_over:
            self._stops.visit_no_more(ident, job)
        else:
            self._link.after(limits.TICK_SECONDS, lambda: self._attend(ident, job))

    def _is_held_up(self, ident: int, job: Job) -> bool:
        return any(other.is_under_way for owner, other in self._jobs if owner == ident and other is not job)

    @in_link_thread
    def cancel(self, seq: object) -> None:
        """Drop the work for a request, if it is not done yet."""
        for _, job in self._jobs:
            if job.seq == seq:
                job.cancel(self._link)

    def forget(self) -> None:
        """Drop the last work: the session is over."""
        self._jobs.clear()
        self._visits.clear()

    def withdraw(self, goes_on: Callable[[int], bool]) -> None:
        """Refuse work that stopped threads which are about to continue have not begun.

        A thread also continues when it has done some work without a stop. Work that came for it meanwhile is next.
        """
        for ident, job in self._jobs:
            if job not in self._visits and goes_on(ident):
                job.withdraw()
