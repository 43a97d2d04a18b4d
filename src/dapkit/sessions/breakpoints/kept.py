"""One breakpoint of a debug session, kept through restarts of its program."""

from collections.abc import Callable, Sequence
from pathlib import Path

from dapkit.client import BreakpointSpec, Session, SessionBreakpoint, SourceLocation
from dapkit.sessions.breakpoints.emulation import NOTHING, Emulated
from dapkit.sessions.breakpoints.watched_values import WatchedValue


class KeptBreakpoint:
    """The requested breakpoint, its location, and the reports of the adapters of the present run.

    Changed by `KeptBreakpoints` alone, but for the hits and the watched value. Where it stands is looked up in the
    client sessions, which know it by the same number.

    Attributes:
        number: the same for ever, also after changes and restarts.
        spec: the specification.
        found_line: where the spec was found to be, for those on lines.
        text: the lines of its file at that time.
        is_set: whether it was sent to the adapter of the present run.
        emulated: the parts of the spec that dapkit does itself.
        hits: the number of known hits: adapters do not report the hits that they pass over.
        console_id: the adapter's own number of a data breakpoint that a command has set (`Traits.watch_commands`).
        watched: the last value read by a data breakpoint; None if that is not known.
        remark: a remark about the way in which its line was found.
        problem: why it could not be set.

    """

    def __init__(self, number: int, spec: BreakpointSpec, *, sessions: Callable[[], Sequence[Session]]) -> None:
        self.number = number
        self.spec = spec
        self.found_line: int | None = None
        self.text: tuple[str, ...] | None = None
        self.is_set = False
        self.emulated: Emulated = NOTHING
        self.hits = 0
        self.console_id: int | None = None
        self.watched: WatchedValue | None = None
        self.remark: str | None = None
        self.problem: str | None = None
        self._sessions = sessions
        self._last: SessionBreakpoint | None = None

    def reported_by(self, session: Session) -> SessionBreakpoint | None:
        """Look up the report of the adapter of one session about it."""
        return session.breakpoint(self.number) if self.is_set else None

    def keep_report(self) -> None:
        """Keep the present report beyond the end of the run, in which nothing is set any more."""
        self._last, self.is_set = self._reported, False

    def forget_report(self) -> None:
        """Forget its report: it has changed, or a new run begins."""
        self._last, self.console_id = None, None

    @property
    def verified(self) -> bool:
        """Whether an adapter of the session has it set, or had it until the program ended.

        One that has stopped the program is set, even if the adapter never says so (php-debug).
        """
        reported = self._reported
        return self.console_id is not None or (reported is not None and (reported.verified or self.hits > 0))

    @property
    def path(self) -> str | None:
        """The file that it is in; None if the adapter did not report one for a function."""
        if isinstance(self.spec.location, SourceLocation):
            return str(self.spec.location.file)
        answer = None if self._reported is None else self._reported.answer
        return None if answer is None or answer.line is None or answer.source is None else answer.source.path

    @property
    def line(self) -> int | None:
        """The line on which it stands, or should."""
        answer = None if self._reported is None else self._reported.answer
        return self.found_line if answer is None or answer.line is None else answer.line

    @property
    def asked_line(self) -> int | None:
        """The line that was asked for, or that its text was found on."""
        return self.line if self.found_line is None else self.found_line

    @property
    def moved(self) -> bool:
        """Whether the adapter put it on another line than was asked for."""
        return self.line != self.asked_line

    @property
    def message(self) -> str | None:
        """The adapter's message about it."""
        return None if self._reported is None else self._reported.message

    @property
    def remarks(self) -> tuple[str, ...]:
        """Messages of dapkit itself about it: that it moved, is not verified, or is emulated."""
        remarks = [self.remark] if self.remark else []
        if not self.spec.enabled:
            return tuple(remarks)
        if self.problem is not None:
            return (*remarks, f"not set: {self.problem}")
        reported = self._reported
        if self.moved and self.message is None:  # else the adapter itself says why
            remarks.append(f"moved from line {self.found_line} to line {self.line}, where the adapter could set it")
        if reported is None and self.console_id is None:
            remarks.append("not set yet: it will be with the next start of the program")
        elif reported is not None and not self.verified and reported.answer is not None and self.message is None:
            remarks.append("not verified: the adapter has found no code for it so far")
        if self.emulated:
            remarks.append(str(self.emulated))
        return tuple(remarks)

    @property
    def spot(self) -> tuple[Path, int | None, int | None] | None:
        """The file, line and column of it; None if it is not on a line."""
        match self.spec.location:
            case SourceLocation(file=file, column=column):
                return file, self.found_line, column
            case _:
                return None

    @property
    def _reported(self) -> SessionBreakpoint | None:
        """The report of the first adapter that has it set, or else of the first that knows it.

        Or the last report of a run.
        """
        if not self.is_set:
            return self._last
        reports = [report for session in self._sessions() if (report := self.reported_by(session)) is not None]
        return next((report for report in reports if report.verified), reports[0] if reports else None)
