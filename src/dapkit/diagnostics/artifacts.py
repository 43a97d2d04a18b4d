"""Where diagnostics writes: a folder for each session, closed to others.

    <state>/artifacts/<name of the project's folder>-<hash of its path>/<session>-<when it was opened>/

Names of files carry the time, so that nothing is replaced.
"""

import hashlib
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.system.files import NO_LINK, open_private
from dapkit.system.state_folder import ARTIFACTS, NoStateFolder, state_folder

_UNFIT = re.compile(r"[^\w.\-]+")
_NAME_CHARACTERS = 60


def session_folder(project: str, session: str, created: float) -> Path:
    """Return the folder of a session; it is made if missing.

    Args:
        project: absolute path of the folder that the session belongs to.
        session: its name.
        created: when it was opened, in seconds since the epoch.

    Raises:
        DiagnosticsError: it cannot be made.

    """
    return _folder(_project_name(project), _session_name(session, created))


def existing_session_folder(project: str, session: str, created: float) -> Path:
    """Return where the folder of a session is, or would be; none is made. Raises: as `session_folder`."""
    return artifacts_folder() / _project_name(project) / _session_name(session, created)


def artifacts_folder() -> Path:
    """Return the folder of all artifacts. Raises: as `session_folder`."""
    return _folder()


def project_folder(project: str) -> Path:
    """Return the folder for files of a project that belong to no session. Raises: as `session_folder`."""
    return _folder(_project_name(project), "without-session")


def write_artifact(path: Path, content: bytes, *, replace: bool = False) -> None:
    """Write a file that only the user can read; it is there once it is whole.

    Raises:
        DiagnosticsError: it cannot be written; or it is there already, unless it is to be replaced.

    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = open_private(unfinished, os.O_WRONLY | os.O_EXCL | NO_LINK)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if replace:
            unfinished.replace(path)
        else:
            os.link(unfinished, path)
    except OSError as error:
        raise DiagnosticsError("no_folder", f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def timestamp() -> str:
    """Return the time as names of files have it: `20261124-050312-417`."""
    now = time.time()
    return f"{datetime.fromtimestamp(now, UTC).strftime('%Y%m%d-%H%M%S')}-{int(now * 1000) % 1000:03d}"


def _folder(*parts: str) -> Path:
    try:
        return Path(state_folder(ARTIFACTS, *parts))
    except NoStateFolder as error:
        raise DiagnosticsError("no_folder", str(error)) from error


def _project_name(path: str) -> str:
    digest = hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()
    return f"{_fit(Path(path).name)}-{digest[:8]}"


def _session_name(session: str, created: float) -> str:
    opened = datetime.fromtimestamp(created, UTC).strftime("%Y%m%d-%H%M%S")
    return f"{_fit(session)}-{opened}"


def _fit(name: str) -> str:
    """Make a text fit for a name of a folder."""
    return _UNFIT.sub("-", name).strip(".-")[:_NAME_CHARACTERS] or "unnamed"
