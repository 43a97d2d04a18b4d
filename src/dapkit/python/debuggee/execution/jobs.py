"""Work that needs the program's own code: done in a stopped thread, watched by the link's.

Why it is so: `repr` of an object, or an expression typed at the console, is code of the
program. It must run in the thread it belongs to, may never come back, and must not
keep the link from answering. So a request becomes a Job in the inbox of a stopped thread;
that thread answers it; the link looks at the clock, interrupts what takes too long,
and answers itself where the thread cannot be interrupted (it sleeps in native code).
Whoever comes first makes the one response (`Request.answer`).
"""

import _thread
from collections.abc import Callable
from time import monotonic

from .. import limits
from ..connection.link import Link
from ..connection.wire import Json
from ..errors import NotBegun, RequestRefused, TimeIsUp
from . import interrupting


class Request:
    """A request of the adapter, on its way to exactly one response.

    Invariant: of all calls of `answer` and `refuse` the first one sends, the others do nothing.
    """

    def __init__(self, message: Json, link: Link) -> None:
        self.message = message
        self.arguments: Json = {}
        self._link = link
        self._open = _thread.allocate_lock()
        self.afterwards: Callable[[], None] | None = None
        """What to do once the response has left: it may cause an event."""

    def answer(self, body: Json | None) -> None:
        """Answer with success, then do what comes afterwards."""
        if self._open.acquire(blocking=False):
            self._link.response(self.message, success=True, body=body)
            if self.afterwards is not None:
                self.afterwards()

    def refuse(self, reason: str) -> None:
        """Answer with an error."""
        if self._open.acquire(blocking=False):
            text = reason[: limits.MESSAGE_CHARS]
            error: Json = {"id": 1, "format": text.replace("{", "(").replace("}", ")"), "showUser": True}
            self._link.response(self.message, success=False, message=text, body={"error": error})

    @property
    def answered(self) -> bool:
        """Say whether the response has left."""
        return self._open.locked()


class Guard:
    """A deadline over the program's own code, in one thread.

    Invariant: an interruption is sent only while `call` runs, at most once per call, and is
    received or withdrawn before `call` ends; so it never reaches code outside of it.
    """

    def __init__(self, seconds: float) -> None:
        self.ident = 0
        self._end = float("inf")
        self._seconds = seconds
        self._until: float | None = None
        self._sent = 0.0  # when the interruption was, 0 for never
        self._lock = _thread.RLock()
        self._woken = False
        self._asked_to_stop = False

    def begin(self) -> None:
        """Start the time of the whole work, in the thread that does it."""
        self.ident = _thread.get_ident()
        self._end = min(self._end, monotonic() + self._seconds)
        interrupting.prepare()

    def call[**P, T](self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that may never return.

        Raises:
            TimeIsUp: if it took longer than `seconds`.
            NotBegun: if the whole work took its time already.

        """
        now = monotonic()
        if now >= self._end:
            raise NotBegun
        try:
            try:
                self._until = min(now + seconds, self._end)
                return function(*args, **kwargs)
            finally:
                if self._close():
                    interrupting.interrupt(self.ident, None)
        except TimeIsUp:
            self._close_for_certain()
            raise

    def stand_still(self) -> float:
        """Stop the clock, since the code of the program is stopped itself; return what `go_on` wants."""
        with self._lock:
            left = (self._until or 0.0) - monotonic()
            self._until = float("inf")
            return left

    def go_on(self, left: float) -> None:
        """Let the clock go on."""
        with self._lock:
            if not self._asked_to_stop:
                self._until = monotonic() + left
                self._end = max(self._end, self._until)

    def _close(self) -> bool:
        with self._lock:
            self._until = None
            self._woken = False
            sent, self._sent = self._sent, 0.0
            return sent > 0

    def _close_for_certain(self) -> None:
        """Close after an interruption, which may have come before or in `_close`.

        On 3.14 it can come between taking a lock in a `with` statement and entering its block, so that the lock
        stays taken; it is therefore one that its owner can release. A second interruption is the signal's.
        """
        while True:
            try:
                if self._close():
                    interrupting.interrupt(self.ident, None)
                while self._lock._is_owned():  # type: ignore[attr-defined]
                    self._lock.release()
            except TimeIsUp:
                continue
            return

    def look(self, now: float) -> bool:
        """Interrupt what is over its time; say whether even that did not help. For the link's thread."""
        with self._lock:
            if self._until is None or now < self._until:
                return False
            if not self._sent:
                self._sent = monotonic()
                interrupting.interrupt(self.ident, TimeIsUp)
                return False
            if not self._woken:  # it may wait in native code, which wakes only for a signal
                self._woken = True
                interrupting.wake(self.ident)
            return now >= self._sent + limits.GRACE_SECONDS

    def stop(self) -> None:
        """Interrupt what runs now, and let the work end soon. For the link's thread."""
        with self._lock:
            self._end = 0.0
            self._asked_to_stop = True
            if self._until is not None:
                self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Say whether code of the program runs in it."""
        return self._until is not None

    def give_up(self) -> None:
        """Let the work end soon: no more code of the program in it."""
        self._end = 0.0


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
