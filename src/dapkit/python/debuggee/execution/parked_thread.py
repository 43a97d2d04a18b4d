"""A thread that waits in a callback of the engine, and its state for the client."""

import _queue
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from types import FrameType

from ..connection.framing import Json
from ..evaluation.jobs import Job
from ..interpreter.gc_pause import gc_pause
from ..interpreter.gc_tracking import untrack
from .gui_events import GuiEvents
from .results import Result

type StackEntry = tuple[FrameType | FrameLabel, int]
"""A frame and the line to show, 0 for the one where it stands; or a label."""


class FrameLabel:
    """A line of text between frames."""

    what = "label between frames"

    def __init__(self, text: str) -> None:
        self.text = text


class VisitEnd:
    """Stands in an inbox after the work of a visit: the thread may continue then."""

    def __init__(self, run: Callable[[], None]) -> None:
        untrack(self)
        self.run = run


class ParkedThread:
    """A stopped thread, and its state for the client.

    `shown` is the newest frame to show; it is not the running one when a step ended in the
    caller of a function that is just returning. `trail` are frames to show instead of it, from
    the newest: those through which an exception came. `at_line` says that it stands in the LINE event of
    `shown`, the only place from which a frame can be made to jump. `before_line` says that the LINE event of the
    place where it stands may be still to come, as for the tool of data breakpoints, which is called before ours.
    `columns` are the columns of the breakpoint that stopped it, for as long as it is at that instruction.
    """

    __slots__ = (
        "at_line",
        "before_line",
        "break_mode",
        "columns",
        "counted",
        "exception",
        "exiting",
        "going",
        "ident",
        "inbox",
        "job",
        "leaving",
        "pending_exception",
        "resumed_alone",
        "returned",
        "shown",
        "trail",
    )

    def __init__(
        self,
        ident: int,
        frame: FrameType,
        *,
        leaving: bool = False,
        at_line: bool = False,
        before_line: bool = False,
        columns: Json | None = None,
        exception: BaseException | None = None,
        break_mode: str = "",
        trail: list[tuple[FrameType, int]] | None = None,
        returned: list[Result] | None = None,
    ) -> None:
        untrack(self)
        self.ident = ident
        self.shown = frame
        self.at_line = at_line
        self.before_line = before_line
        self.columns = (frame.f_lasti, columns) if columns else None
        self.leaving = leaving  # it stands in the return of `frame`, which will execute nothing more
        self.going = False  # it may leave the place where it stands
        self.resumed_alone = False  # the client let just this thread go on
        self.exiting = False  # it is to end as soon as it goes on
        self.exception = exception
        self.break_mode = break_mode
        self.trail = trail
        self.returned = returned or []  # by the function that the step came out of, or by those that it went over
        self.pending_exception: BaseException | None = None
        """The exception that a signal handler has raised meanwhile, for the thread when it continues."""
        self.counted: dict[bool, tuple[int, int]] = {}
        """How many entries the stack has, with all frames or not, and in which stop."""
        self.inbox: _queue.SimpleQueue[Job | VisitEnd | None] = _queue.SimpleQueue()

        self.job: Job | VisitEnd | None = None
        """The work that it does."""

    def stand(self, is_ending: Callable[[], bool], gui: GuiEvents) -> None:
        """Do the work of the inbox until it is to leave, and serve windows of the program meanwhile.

        Once the program `is_ending`, work ends by an interruption, which is for the program as well.
        """
        while not self.going:
            job = None
            try:
                gc_pause.pause()  # the interrupted work may have left it
                job = self._next_job(gui)
                if job is not None:
                    self.job = job
                    job.run()
                    if is_ending():
                        self.pending_exception = KeyboardInterrupt()  # the first one ended the evaluation
            except BaseException as error:  # of a signal handler, which may have lost the result of `get`
                self.pending_exception = error
            finally:
                self.job = None

    @property
    def is_left_behind(self) -> bool:
        """Return whether it is in work that was answered without it, and that no interruption ends."""
        return isinstance(self.job, Job) and self.job.is_over

    def _next_job(self, gui: GuiEvents) -> Job | VisitEnd | None:
        """Wait for work, and give the windows their turns meanwhile."""
        while (seconds := gui.seconds_to_turn(self.ident)) is not None:
            try:
                job: Job | VisitEnd | None = gc_pause.wait(partial(self.inbox.get, seconds > 0, seconds))
            except _queue.Empty:
                gui.take_turn()
            else:
                return job
        return gc_pause.wait(self.inbox.get)

    def raise_late(self) -> None:
        """Raise the exception that came while the thread was stopped, or end the thread if that was requested."""
        late, self.pending_exception = self.pending_exception, None
        try:
            if self.exiting:
                raise SystemExit
            if late is not None:
                raise late
        finally:
            del late  # which has this frame on its traceback: neither would end

    def empty(self) -> None:
        """Release the objects of the program that it holds: the thread has left, though others may still know it."""
        self.shown = None  # type: ignore[assignment]  # the frame of a thread that has left is not used
        self.exception = self.trail = self.pending_exception = None
        self.returned = []

    def stay(self) -> None:
        """Let the thread wait here until `go`."""
        self.going = False

    def leave(self) -> None:
        """Let the thread, which is the calling one or the only one, leave this place when it comes back to it."""
        self.going = True

    def go(self) -> None:
        """Let the thread leave this place."""
        self.going = True
        self.inbox.put(None)  # only to wake it
