"""The folder for files that outlive a hub: its logs, and the files of diagnostics.

    $DAPKIT_RUNTIME_DIR/state     if that names the folder of a hub of its own, which keeps everything of its own;
                                  what starts the usual hub names the usual folder for it, which is not meant here
    $XDG_STATE_HOME/dapkit        else, if that is set
    ~/.local/state/dapkit         else, and %LOCALAPPDATA%/dapkit/state on Windows

It is closed to other users, since logs and records of a program contain the program's data. Quick to import.
"""

import contextlib
import os

from dapkit.system.runtime_folder import is_usual, openness
from dapkit.system.selection import IS_WINDOWS

LOGS = "logs"
ARTIFACTS = "artifacts"


class NoStateFolder(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """The folder cannot be used; the text says why."""


def state_folder(*parts: str) -> str:
    """Return the folder, or one in it; it is made if missing.

    Raises:
        NoStateFolder: it cannot be made, or is open to others.

    """
    folder = _place()
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        _make(folder)
        if (problem := openness(folder)) is not None:
            raise NoStateFolder(problem)
        for part in parts:
            folder = os.path.join(folder, part)
            _make(folder)
    except OSError as error:
        raise NoStateFolder(f"{folder} cannot be used: {error.strerror}") from error
    return folder


def _make(folder: str) -> None:
    """Make a folder that only the user can read, if it does not exist. Raises: OSError."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)


def _place() -> str:
    folder_name = os.environ.get("DAPKIT_RUNTIME_DIR")
    if folder_name and not is_usual(folder_name):
        return os.path.join(os.path.abspath(folder_name), "state")
    if IS_WINDOWS:
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "dapkit", "state")
    above = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(above):  # the hub works in another folder than the readers of its files
        above = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(above, "dapkit")
