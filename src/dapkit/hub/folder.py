"""The folder in which a user's hub has its socket, its lock and its log.

`$DAPKIT_RUNTIME_DIR`, else `dapkit` in `$XDG_RUNTIME_DIR`, else `/tmp/dapkit-UID`.
Anyone who can write there could take the place of the hub, so it is used only if it
belongs to the user and is closed to all others.

The same rule as in `dapkit.transport.private`, which takes too long to import.
"""

import os
import stat

from dapkit.hub.errors import FolderRefused

VARIABLE = "DAPKIT_RUNTIME_DIR"
"""Environment variable that names another folder."""

SOCKET = "hub.sock"
LOCK = "hub.lock"
LOG = "hub.log"

_PATH_BYTES = 107
"""Longest path of a unix socket, without the zero at its end."""

_FOR_OTHERS = 0o077


def runtime_folder() -> str:
    """Return the folder's path; it is made if missing.

    Raises:
        FolderRefused: it belongs to another user, others can read it, or its path is too long for a socket.

    """
    folder = _wanted()
    if len(os.fsencode(folder)) + len(SOCKET) + 1 > _PATH_BYTES:
        raise FolderRefused(
            f"{folder} is too long for a unix socket in it: expected at most {_PATH_BYTES - len(SOCKET) - 1} bytes",
            hint=f"Name a shorter folder in ${VARIABLE}.",
        )
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError as error:
        raise FolderRefused(
            f"{folder} cannot be used: {error.strerror}", hint=f"Name another folder in ${VARIABLE}."
        ) from error
    _check(folder, found)
    return folder


def _wanted() -> str:
    if named := os.environ.get(VARIABLE):
        return os.path.abspath(named)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK | os.X_OK):  # it may be missing (containers), or another user's (su)
        return os.path.join(runtime, "dapkit")
    return f"/tmp/dapkit-{os.geteuid()}"  # noqa: S108 - checked below; not $TMPDIR, which differs from shell to shell


def _check(folder: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):  # a link could be pointed elsewhere later
        raise FolderRefused(f"{folder} has to be a folder, and is not one, or is a link to one", hint="Remove it.")
    if found.st_uid != os.geteuid():
        raise FolderRefused(
            f"{folder} belongs to user {found.st_uid}, expected user {os.geteuid()}",
            hint=f"Name another folder in ${VARIABLE}.",
        )
    if found.st_mode & _FOR_OTHERS:
        raise FolderRefused(
            f"{folder} is open to others (mode {stat.S_IMODE(found.st_mode):04o})", hint=f"chmod 700 {folder}"
        )
