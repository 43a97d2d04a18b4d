"""A thread that stands in a callback of the engine, and what is to be shown of it."""

import _queue
from types import FrameType

from ..evaluation.jobs import Job
from .results import Result


class ParkedThread:
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
        self.chosen = False  # the client let just this thread go on
        self.doomed = False  # it is to end as soon as it goes on
        self.exception = exception
        self.break_mode = break_mode
        self.trail = trail
        self.returned = returned or []  # by the function that the step came out of, or by those that it went over
        self.inbox: _queue.SimpleQueue[Job | None] = _queue.SimpleQueue()

    def stay(self) -> None:
        """Have the thread stand here until `go`."""
        self.going = False

    def leave(self) -> None:
        """Have the thread, which is the calling one or the only one, leave this place when it comes back to it."""
        self.going = True

    def go(self) -> None:
        """Let the thread leave this place."""
        self.going = True
        self.inbox.put(None)  # only to wake it
