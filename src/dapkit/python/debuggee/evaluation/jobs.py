"""Work that needs the program's own code: done in a stopped thread, watched by the link's.

Why it is so: `repr` of an object, or an expression typed at the console, is code of the
program. It must run in the thread it belongs to, may never come back, and must not
keep the link from answering. So a request becomes a Job in the inbox of a stopped thread;
that thread answers it; the link looks at the clock, interrupts what takes too long,
and answers itself where the thread cannot be interrupted (it sleeps in native code).
Whoever comes first makes the one response (`Request.answer`).
"""

from collections.abc import Callable
from time import monotonic

from .. import limits
from ..connection.link import Link
from ..connection.request import IncomingRequest as Request
from ..connection.wire import Json
from ..errors import RequestRefused, TimeIsUp
from .guard import EvaluationGuard as Guard


class Job:
    """A request, as work for a stopped thread.

    `work(guard)` makes the body there; `instead(begun)` makes it in the link's thread, without any
    code of the program, if the thread cannot; `begun` says that it began and hangs.
    """

    def __init__(
        self,
        request: Request,
        work: Callable[[Guard], Json],
        *,
        seconds: float,
        instead: Callable[[bool], Json],
    ) -> None:
        self._request = request
        self._work = work
        self._instead = instead
        self._guard = Guard(seconds)
        self._posted = monotonic()
        self._started = False

    def run(self) -> None:
        """Do the work and answer. In the stopped thread; raises nothing."""
        if self._request.answered:
            return
        self._guard.begin()
        self._started = True
        _answer(self._request, lambda: self._work(self._guard))

    def look(self, link: Link) -> None:
        """Keep the deadline, in the link's thread, until the request is answered."""
        if self._request.answered:
            return
        now = monotonic()
        stuck = self._guard.look(now) if self._started else now > self._posted + limits.PAGE_SECONDS
        if stuck:
            self._guard.give_up()
            self.run_instead()
        else:
            link.after(limits.TICK_SECONDS, lambda: self.look(link))

    def cancel(self, link: Link) -> None:
        """Answer that it was cancelled, and interrupt it. In the link's thread."""
        if not self.is_over:
            self._request.refuse("cancelled")
            self._guard.stop()
            self._withdraw(link)

    def _withdraw(self, link: Link) -> None:
        """Interrupt until it ends or cannot be interrupted."""
        if not self._guard.look(monotonic()) and self._guard.is_open:
            link.after(limits.TICK_SECONDS, lambda: self._withdraw(link))

    @property
    def is_over(self) -> bool:
        """Say whether the request was answered."""
        return self._request.answered

    @property
    def seq(self) -> object:
        """The number of the request."""
        return self._request.message["seq"]

    def run_instead(self) -> None:
        """Answer without the stopped thread."""
        _answer(self._request, lambda: self._instead(self._started))


def _answer(request: Request, make: Callable[[], Json]) -> None:
    try:
        body = make()
    except RequestRefused as refusal:
        request.refuse(str(refusal))
    except TimeIsUp:
        request.refuse("it took too long and was interrupted")
    except BaseException as error:
        request.refuse(f"internal error of the debugger: {type(error).__name__}: {error}")
    else:
        request.answer(body)
