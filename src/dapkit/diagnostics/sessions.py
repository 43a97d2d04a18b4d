"""Questions of diagnostics to the hub about sessions; see `dapkit.agent.queries` for the other end."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dapkit import hub
from dapkit.agent.results.diagnostics import LiveSessions, RecordResult, WireRecords
from dapkit.agent.results.session import SessionsResult
from dapkit.agent.results.snapshot import Snapshot
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.hub.folder import project_of
from dapkit.protocol import changed, from_json_value

type StrPath = str | os.PathLike[str]
type OnProgress = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class Where:
    """Which session is meant.

    Attributes:
        project: absolute path of the folder whose sessions are meant.
        session: its name; None for the only one that lives, or the one that was used last.

    """

    project: str
    session: str | None = None

    @classmethod
    def of(cls, project: StrPath | None = None, session: str | None = None) -> "Where":
        """Take the project around the current folder unless another is given."""
        folder = project_of(os.getcwd()) if project is None else os.path.abspath(project)  # noqa: PTH100, PTH109 - texts
        return cls(folder, session)


def ask(
    where: Where,
    name: str,
    arguments: Mapping[str, object] | None = None,
    *,
    read_only: bool = True,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> Any:  # noqa: ANN401 - the JSON of any result
    """Let the hub carry out an action or a query, and return its details; it does not start a session.

    Args:
        where: whose session.
        name: of the action or query.
        arguments: of it.
        read_only: refuse actions that change something.
        timeout: seconds for it; None for the usual.
        on_progress: called with the current step.

    Raises:
        DiagnosticsError: it was not done, or no hub could be reached.

    """
    if not hub_runs():
        raise DiagnosticsError("no_session", "There is no session: no hub runs.", "dapkit launch starts both.")
    parameters = {**(arguments or {}), **({} if timeout is None else {"timeout": timeout})}
    try:
        answer = hub.call(
            name, parameters, project=where.project, session=where.session, read_only=read_only, on_progress=on_progress
        )
    except hub.HubError as error:
        raise DiagnosticsError.of_hub(error) from error
    if not answer["success"]:
        details: Any = answer["error"]
        raise DiagnosticsError(details["code"], details["message"], details.get("hint", ""))
    return answer["details"]


def hub_runs() -> bool:
    """Whether there is a hub. Raises: DiagnosticsError, if it does not answer, or its folder cannot be used."""
    try:
        return hub.status() is not None
    except hub.HubError as error:
        raise DiagnosticsError.of_hub(error) from error


def snapshots(where: Where) -> list[Snapshot]:
    """Return all sessions of the project that the hub knows; none if no hub runs. Raises: as `ask`."""
    if not hub_runs():
        return []
    return from_json_value(SessionsResult, ask(where, "sessions")).sessions


def record_of(where: Where) -> RecordResult:
    """Return the history of the session. Raises: as `ask`."""
    return from_json_value(RecordResult, ask(where, "session_record"))


def wire_of(where: Where, *, leaves: bool = False) -> WireRecords:
    """Return the messages of the session that are kept.

    Args:
        where: whose session.
        leaves: leave secrets out whatever the settings say, since the result leaves the machine.

    Raises:
        DiagnosticsError: as `ask`.

    """
    first = page = _wire_page(where, 0, leaves=leaves)
    named_session = Where(where.project, first.session)
    records = [*page.records]
    while page.records and records[-1].number < first.total:
        page = _wire_page(named_session, records[-1].number, leaves=leaves)
        records += page.records
    total = records[-1].number if records else page.total
    return changed(page, records=records, total=total, kept=len(records))


def _wire_page(where: Where, after: int, *, leaves: bool) -> WireRecords:
    return from_json_value(WireRecords, ask(where, "wire_records", {"after": after, "leaves": leaves}))


def live_sessions(where: Where) -> LiveSessions:
    """Return the sessions of all projects that live; none if no hub runs. Raises: as `ask`."""
    if not hub_runs():
        return LiveSessions(sessions=[])
    return from_json_value(LiveSessions, ask(where, "live_sessions"))
