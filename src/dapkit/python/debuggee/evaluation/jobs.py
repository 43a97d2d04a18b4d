"""Work that needs the program's own code: done in a stopped thread, watched by the link's.

Why it is so: `repr` of an object, or an expression typed at the console, is code of the
program. It must run in the thread it belongs to, may never come back, and must not
keep the link from answering. So a request becomes a Job in the inbox of a stopped thread; that thread answers it; the
link looks at the clock, interrupts a job that takes too long, and answers itself if the thread cannot be interrupted
(it sleeps in native code). The first of the two to come makes the one response (`IncomingRequest.answer`).
"""

from collections.abc import Callable
from time import monotonic

from ..connection.framing import Json
from ..connection.link import Link
from ..connection.request import IncomingRequest
from ..interpreter import limits
from ..interpreter.gc_tracking import untrack
from ..interpreter.thread_checks import in_link_thread, off_link_thread
from .guard import EvaluationGuard

type Around = Callable[[Callable[[], Json]], Json]
"""Does the work of a request, and returns its response."""


def as_it_is(work: Callable[[], Json]) -> Json:
    """Do the work as in a live program, where it may have side effects."""
    return work()


class Job:
    """A request, as work for a stopped thread.

    `work(guard)` makes the body there; `instead(has_begun)` makes it in the link's thread, without any
    code of the program, if the thread cannot; `begun` says that it began and hangs.
    """

    def __init__(
        self,
        request: IncomingRequest,
        work: Callable[[EvaluationGuard], Json],
        *,
        seconds: float,
        instead: Callable[[bool], Json],
    ) -> None:
        untrack(self)
        self._request = request
        self._work: Callable[[EvaluationGuard], Json] | None = work
        self._instead: Callable[[bool], Json] | None = instead
        self._guard = EvaluationGuard(seconds)
        self._posted = monotonic()
        self._started = False
        self._wrapper: Around = as_it_is

    def be_done_by(self, wrapper: Around) -> None:
        """Let a function do the work when the thread comes to it."""
        self._wrapper = wrapper

    @off_link_thread
    def run(self) -> None:
        """Do the work in the calling thread, which is stopped, and answer; raises nothing.

        After that the job holds no object of the work, which the link's thread might drop as the last owner.
        """
        work = self._work
        try:
            if work is not None and not self._request.answered:
                self._guard.begin()
                self._started = True
                self._request.answer_with(lambda: self._wrapper(lambda: work(self._guard)))
        finally:
            self._work = self._instead = None
            self._guard.end()

    @in_link_thread
    def look(self, link: Link, is_held_up: Callable[[], bool]) -> None:
        """Keep the deadline until the request is answered. Its time does not begin while it `is_held_up`."""
        if self._request.answered:
            return
        now = monotonic()
        if not self._started and is_held_up():
            self._posted = now
        stuck = self._guard.look(now) if self._started else now > self._posted + limits.PAGE_SECONDS
        if stuck:
            self._guard.give_up()
            self.run_instead()
            self._withdraw(link)
        else:
            link.after(limits.TICK_SECONDS, lambda: self.look(link, is_held_up))

    @in_link_thread
    def cancel(self, link: Link) -> None:
        """Answer that it was cancelled, and interrupt it."""
        if not self.is_over:
            self._request.refuse("cancelled")
            self._guard.stop()
            self._withdraw(link)

    @in_link_thread
    def _withdraw(self, link: Link) -> None:
        """Interrupt until it ends, which may be long after the client has let the thread continue."""
        self._guard.look(monotonic())
        if self._guard.is_open:
            link.after(limits.TICK_SECONDS, lambda: self._withdraw(link))

    @property
    def is_over(self) -> bool:
        """Return whether the request was answered."""
        return self._request.answered

    @property
    def is_under_way(self) -> bool:
        """Return whether the thread works on it, and was not given up."""
        return self._started and not self.is_over

    @property
    def seq(self) -> object:
        """The number of the request."""
        return self._request.message["seq"]

    @in_link_thread
    def run_instead(self) -> None:
        """Answer without the stopped thread."""
        instead = self._instead
        if instead is not None:
            self._request.answer_with(lambda: instead(self._started))

    def withdraw(self) -> None:
        """Refuse the request if the thread has not begun with it: it is about to continue. Its objects are released."""
        if not self._started:
            self._request.refuse("the thread went on before this was done")
            self._work = self._instead = None
