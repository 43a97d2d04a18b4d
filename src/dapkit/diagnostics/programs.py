"""The program of a session, as a process that profilers and snapshots look at from outside."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dapkit.adapter import RequestFailed
from dapkit.agent.results.snapshot import Snapshot
from dapkit.catalog.programs import is_built_by_go
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where, record_of
from dapkit.python.adapter.injection import target

type Language = Literal["python", "go", "native"]


@dataclass(frozen=True, slots=True)
class Program:
    """A process that is debugged.

    Attributes:
        language: what it is written in; Python is any process with an interpreter in it.
        project: absolute path of the folder that its session belongs to.
        created: when the session was opened, in seconds since the epoch.

    """

    pid: int
    language: Language
    snapshot: Snapshot
    project: str
    created: float


def program_of(where: Where) -> Program:
    """Find the program of a session.

    Raises:
        DiagnosticsError: there is no such session, it has ended, or its adapter does not say which process it is.

    """
    record = record_of(where)
    snapshot = record.snapshot
    if snapshot.status == "terminated":
        raise DiagnosticsError("not_running", f"The program of {snapshot.id} has ended.", "dapkit launch starts one.")
    if snapshot.process_id is None:
        raise DiagnosticsError(
            "not_possible",
            f"{snapshot.adapter} does not say which process the program of {snapshot.id} is.",
        )
    pid = snapshot.process_id
    return Program(pid, language_of(pid), snapshot, record.project, record.created)


def language_of(pid: int) -> Language:
    """Say what a process is written in.

    Raises:
        DiagnosticsError: it has ended, or is another user's.

    """
    try:
        target.read(pid)
    except RequestFailed:
        pass
    else:
        return "python"
    try:
        with Path(f"/proc/{pid}/exe").open("rb") as executable:
            return "go" if is_built_by_go(executable) else "native"
    except OSError as error:
        raise DiagnosticsError("not_running", f"Process {pid} cannot be looked at: {error.strerror}.") from error
