"""The context of an action besides its parameters: the call, its session, and the remaining time."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from dapkit.agent.calls.failures import Unsupported
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.session_notes import Memories, SessionNotes
from dapkit.hub.calls import HubCall
from dapkit.protocol import Capabilities, ProtocolObject, wire_name
from dapkit.sessions.event_state import ProgressReport
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.requests import SessionRequests
from dapkit.sessions.session import DebugSession
from dapkit.settings import Settings

type Jobs = dict[tuple[Path, str], "DebuggedJob"]

if TYPE_CHECKING:
    from dapkit.cluster import DebuggedJob


@dataclass
class ActionCall:
    """One call of an action.

    Attributes:
        timeout: how long it may take, in seconds.
        patient: whether the caller has set that time.
        show: sends a part of the result to the caller before the whole, as text and without secrets.
        jobs: that are debugged, by the folder and the words by which they were named.
        in_use: keeps the sessions that it uses from being idle, until the call has ended.
        used: the session that it was about, once that is known.

    """

    sessions: SessionRegistry
    request: HubCall
    memories: Memories
    timeout: float
    patient: bool
    in_use: ExitStack
    jobs: "Jobs" = field(default_factory=dict)
    show: Callable[[ProtocolObject], None] = lambda _part: None
    used: DebugSession | None = None
    ends: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count the time."""
        self.ends = anyio.current_time() + self.timeout

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.ends - anyio.current_time())

    @property
    def folder(self) -> Path:
        """The folder that the caller's paths are relative to, and whose sessions are meant."""
        return self.request.project

    @property
    def settings(self) -> Settings:
        """Settings as they hold for the caller."""
        return self.request.settings

    def progress(self, text: str) -> None:
        """Report progress to the caller."""
        self.request.report(text, None)

    def report_progress(self, progress: ProgressReport) -> None:
        """Report the adapter's progress in a long operation to the caller."""
        if not progress.over:
            self.request.report(str(progress), progress.percentage)

    @property
    def session(self) -> DebugSession:
        """The session that is meant.

        Raises:
            SessionError: there is no session, or there are several.

        """
        if self.used is None:
            self.use(self.sessions.find(self.folder, self.request.session))
        assert self.used is not None  # noqa: S101 - `use` has set it
        return self.used

    def use(self, session: DebugSession) -> None:
        """Record the session that this call is about."""
        self.used = session
        self.in_use.enter_context(session.in_use())
        self.in_use.enter_context(session.event_state.reporting_to(self.report_progress))

    @property
    def remembered(self) -> SessionNotes:
        """The last report about the session."""
        return self.memories.setdefault(self.session, SessionNotes())

    def take_output(self) -> tuple[str, int]:
        """Return the output since the last report, and the position where it begins; it counts as reported then."""
        session, remembered = self.session, self.remembered
        since = remembered.reported[1]
        page = written(session, since=since)
        remembered.reported = (since, page.end)
        return page.text, since

    def take_output_beside(self) -> tuple[str, int]:
        """Do the same in an answer that reports no stop: the report of the present one does not change."""
        begin, _ = self.remembered.reported
        text, since = self.take_output()
        self.remembered.reported = (begin, self.remembered.reported[1])
        return text, since

    @property
    def requests(self) -> SessionRequests:
        """The requests of the session, to be answered within the time that is left. Raises: SessionError."""
        return self.session.requests.within(lambda: self.left)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the session's adapter. Raises: SessionError."""
        return self.session.state.target.session.capabilities

    def require(self, capability: str, what: str) -> None:
        """Make sure that the adapter can do something.

        Raises:
            Unsupported: the adapter cannot do it; the text is in the words of the contract, and `what` names the
                missing ability.

        """
        if not getattr(self.capabilities, capability):
            raise Unsupported(what, wire_name(Capabilities, capability))
