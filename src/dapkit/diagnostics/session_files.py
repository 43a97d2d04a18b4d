"""The files about a session, and their folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dapkit.agent.results.diagnostics import RecordResult
from dapkit.agent.text.escaping import one_line
from dapkit.catalog.tabulation import aligned
from dapkit.diagnostics.artifacts import existing_session_folder
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where, record_of


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file of a session's folder.

    Attributes:
        name: within the folder.
        size: in bytes.
        changed: when it was changed last, in seconds since the epoch.

    """

    name: str
    size: int
    changed: float


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """A session's folder.

    Attributes:
        folder: absolute path; it does not exist before the first file is written.
        files: in it, the newest first.

    """

    session: str
    folder: Path
    files: Sequence[SessionFile]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        files = [{"name": file.name, "size": file.size, "changed": file.changed} for file in self.files]
        return {"session": self.session, "folder": str(self.folder), "files": files}

    def as_text(self) -> str:
        """Return the folder, and a line for each file."""
        if not self.files:
            return f"Nothing was written about {self.session} yet. It would be in {self.folder}."
        rows = [(f"  {_local_time(file.changed)}", f"{file.size}", one_line(file.name)) for file in self.files]
        return "\n".join([str(self.folder), *aligned(rows)])


def session_files(where: Where) -> SessionFiles:
    """Find the folder of a session, also of one that has ended lately.

    Raises:
        DiagnosticsError: there is no such session, or its folder cannot be read.

    """
    return files_of(record_of(where))


def files_of(record: RecordResult) -> SessionFiles:
    """Find the folder of a session whose record is at hand. Raises: DiagnosticsError, if it cannot be read."""
    folder = existing_session_folder(record.project, record.snapshot.id, record.created)
    files: list[SessionFile] = []
    try:
        for path in folder.iterdir() if folder.exists() else ():
            state = path.lstat()
            files.append(SessionFile(path.name, state.st_size, state.st_mtime))
    except OSError as error:
        raise DiagnosticsError("no_folder", f"{folder} cannot be read: {error.strerror}") from error
    return SessionFiles(record.snapshot.id, folder, sorted(files, key=lambda file: -file.changed))


def _local_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
