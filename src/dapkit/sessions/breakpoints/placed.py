"""A breakpoint of a session as it stands now, with everything that ought to be said aloud."""

from dataclasses import dataclass

from dapkit.client import BreakpointSpec, Session, SessionBreakpoint, SourceLocation
from dapkit.sessions.breakpoints.emulation import NOTHING, Emulated


@dataclass(frozen=True, slots=True)
class PlacedBreakpoint:
    """One breakpoint.

    Attributes:
        number: ours; the same for ever, also after changes and restarts.
        spec: what was asked for.
        verified: whether an adapter of the session has it set.
        path: the file on which it is, if it is on a line.
        line: the line on which it stands, or should.
        asked_line: the line that was asked for, or that its text was found on.
        hits: how often it was met, as far as we know: adapters do not tell what they pass over.
        message: what the adapter says about it.
        remarks: what we say about it: that it moved, is not verified, or is emulated.

    """

    number: int
    spec: BreakpointSpec
    verified: bool
    path: str | None = None
    line: int | None = None
    asked_line: int | None = None
    hits: int = 0
    message: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the adapter put it on another line than was asked for."""
        return self.line != self.asked_line


@dataclass(slots=True)
class Entry:
    """What is known about one breakpoint; owned by `SessionBreakpoints`.

    Attributes:
        line: where the spec was found to be, for those on lines.
        text: the lines of its file at that time.
        known_as: its number in the client sessions; None while it is not set.
        emulated: what of the spec is ours.
        remark: what finding its line had to say.
        problem: why it could not be set.

    """

    number: int
    spec: BreakpointSpec
    line: int | None = None
    text: tuple[str, ...] | None = None
    known_as: int | None = None
    emulated: Emulated = NOTHING
    hits: int = 0
    remark: str | None = None
    problem: str | None = None

    def placed(self, sessions: list[Session]) -> PlacedBreakpoint:
        """Describe it, by what the sessions of the tree were told about it."""
        answers = [answer for session in sessions if (answer := self.answer(session)) is not None]
        best = next((one for one in answers if one.verified), answers[0] if answers else None)
        verified = best is not None and best.verified
        path = str(self.spec.location.file) if isinstance(self.spec.location, SourceLocation) else None
        line = self.line
        if best is not None and best.answer is not None and best.answer.line is not None:
            line = best.answer.line
            source = best.answer.source
            path = path or (None if source is None else source.path)
        return PlacedBreakpoint(
            number=self.number,
            spec=self.spec,
            verified=verified,
            path=path,
            line=line,
            asked_line=line if self.line is None else self.line,
            hits=self.hits,
            message=None if best is None else best.message,
            remarks=tuple(self._remarks(line, best)),
        )

    def answer(self, session: Session) -> SessionBreakpoint | None:
        """Look up what one session knows about it."""
        return next((one for one in session.breakpoints if one.number == self.known_as), None)

    def _remarks(self, line: int | None, best: SessionBreakpoint | None) -> list[str]:
        remarks = [self.remark] if self.remark else []
        if not self.spec.enabled:
            return [*remarks, "disabled"]
        if self.problem is not None:
            return [*remarks, f"not set: {self.problem}"]
        told = best is not None and best.message is not None and str(line) in best.message
        if self.line is not None and line != self.line and not told:
            remarks.append(f"moved from line {self.line} to line {line}, where the adapter could set it")
        if best is None:
            remarks.append("not set yet: it will be with the next start of the program")
        elif not best.verified and best.answer is not None:
            remarks.append("not verified: the adapter has found no code for it so far")
        if self.emulated:
            remarks.append(str(self.emulated))
        return remarks
