"""Where diagnostics writes: a folder for each session, closed to others.

    <state>/artifacts/<name of the project's folder>-<hash of its path>/<session>-<when it was opened>/

Names of files carry the time, so that nothing is replaced.
"""

import hashlib
import re
import time
from datetime import UTC, datetime
from pathlib import Path

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.state_folder import ARTIFACTS, NoStateFolder, state_folder

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
    opened = datetime.fromtimestamp(created, UTC).strftime("%Y%m%d-%H%M%S")
    return _folder(_project_name(project), f"{_fit(session)}-{opened}")


def project_folder(project: str) -> Path:
    """Return the folder for what belongs to no session of a project. Raises: as `session_folder`."""
    return _folder(_project_name(project), "without-session")


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


def _fit(name: str) -> str:
    """Make a text fit for a name of a folder."""
    return _UNFIT.sub("-", name).strip(".-")[:_NAME_CHARACTERS] or "unnamed"
