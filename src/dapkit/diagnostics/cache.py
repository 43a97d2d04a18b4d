"""Folders of sessions without recent changes, and their removal.

How old a folder is, is when it or a file in it was changed last. Folders of sessions that live are never listed, and
looked for once more before anything is removed.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dapkit.diagnostics.artifacts import artifacts_folder, existing_session_folder
from dapkit.diagnostics.sessions import OnProgress, Where, live_sessions

_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class OldFolder:
    """A folder that may go.

    Attributes:
        name: of the project's folder and of the session's, as they are found below the folder of all artifacts.
        days: since it was changed last.
        size: of its files, in bytes.

    """

    path: Path
    name: str
    days: float
    size: int


@dataclass(frozen=True, slots=True)
class OldFolders:
    """The folders that may go.

    Attributes:
        days: how old they are at least.
        place: the folder of all artifacts.

    """

    days: float
    place: Path
    folders: Sequence[OldFolder]

    @property
    def size(self) -> int:
        """Bytes in all of them."""
        return sum(folder.size for folder in self.folders)

    def as_json(self) -> dict[str, object]:
        """Return them as JSON has them."""
        return {
            "place": str(self.place),
            "days": self.days,
            "folders": [
                {"name": folder.name, "path": str(folder.path), "days": round(folder.days, 1), "size": folder.size}
                for folder in self.folders
            ],
        }

    def as_text(self) -> str:
        """Return their names, with age and size."""
        if not self.folders:
            return f"Nothing in {self.place} is older than {self.days:g} days."
        lines = [f"  {folder.name}  {folder.days:.0f} days, {folder.size / 1024:.0f} KiB" for folder in self.folders]
        count = counted(len(self.folders))
        return "\n".join([f"{count} in {self.place}, {self.size / 1024:.0f} KiB:", *lines])


@dataclass(frozen=True, slots=True)
class Removal:
    """The removed folders.

    Attributes:
        removed: names of the folders.
        size: of their files, in bytes.
        failed: folders that are still there, each with the reason.

    """

    removed: Sequence[str]
    size: int
    failed: Sequence[str]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {"removed": list(self.removed), "size": self.size, "failed": list(self.failed)}

    def as_text(self) -> str:
        """Return the number of removed folders, and the failures."""
        lines = [f"{counted(len(self.removed))} removed, {self.size / 1024:.0f} KiB."]
        return "\n".join([*lines, *(f"  not removed: {line}" for line in self.failed)])


def counted(count: int) -> str:
    """Return a number of folders, in words."""
    return "1 folder" if count == 1 else f"{count} folders"


def old_folders(where: Where, *, days: float) -> OldFolders:
    """List the folders of sessions of all projects that are older than so many days, the oldest first.

    Raises:
        DiagnosticsError: the folder cannot be used, or it cannot be known which sessions live.

    """
    place = artifacts_folder()
    live = _live(where)
    now = time.time()
    folders: list[OldFolder] = []
    for path in _session_folders(place):
        changed, size = _state(path)
        age = (now - changed) / _DAY
        if age > days and path not in live:
            folders.append(OldFolder(path, f"{path.parent.name}/{path.name}", age, size))
    return OldFolders(days, place, sorted(folders, key=lambda folder: -folder.days))


def remove(
    where: Where, old: OldFolders, *, on_progress: OnProgress | None = None, stop: threading.Event | None = None
) -> Removal:
    """Remove folders that were listed, but for those that were written to, or are of a session that lives, since.

    Args:
        where: any project; sessions of all projects are looked at.
        old: the result of `old_folders`.
        on_progress: called with the folder that is being removed.
        stop: ends it after the present folder.

    Raises:
        DiagnosticsError: it cannot be known which sessions live.

    """
    live = _live(where)
    removed: list[OldFolder] = []
    failed: list[str] = []
    for number, folder in enumerate(old.folders):
        if stop is not None and stop.is_set():
            failed.append(f"{counted(len(old.folders) - number)}: ended early")
            break
        if on_progress is not None:
            on_progress(f"removing {folder.name}", 100 * number / len(old.folders))
        if folder.path in live or (time.time() - _state(folder.path)[0]) / _DAY <= old.days:
            failed.append(f"{folder.name}: it was used since")
            continue
        problems: list[str] = []
        shutil.rmtree(folder.path, onexc=_collector(problems))
        if problems:
            failed.append(f"{folder.name}: {problems[0]}")
        else:
            removed.append(folder)
            _remove_if_empty(folder.path.parent)
    return Removal([folder.name for folder in removed], sum(folder.size for folder in removed), failed)


def _collector(problems: list[str]) -> Callable[[Callable[..., object], str, BaseException], None]:
    def collect(_function: Callable[..., object], path: str, error: BaseException) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problems.append(f"{path}: {reason}")

    return collect


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # other sessions of the project have theirs in it
        return


def _live(where: Where) -> set[Path]:
    return {
        existing_session_folder(session.project, session.session, session.created)
        for session in live_sessions(where).sessions
    }


def _session_folders(place: Path) -> Iterator[Path]:
    for project in sorted(place.iterdir()):
        if project.is_dir() and not project.is_symlink():
            yield from (path for path in sorted(project.iterdir()) if path.is_dir() and not path.is_symlink())


def _state(folder: Path) -> tuple[float, int]:
    """Return when a folder or a file in it was changed last, and how large its files are."""
    changed = folder.lstat().st_mtime
    size = 0
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            try:
                status = Path(parent, name).lstat()
            except OSError:  # it is gone meanwhile
                continue
            changed = max(changed, status.st_mtime)
            size += status.st_size if name in files else 0
    return changed, size
