"""The folder in which a user's hub has its socket, its lock and its log, and the project that a call is for.

The folder is `$DAPKIT_RUNTIME_DIR`, else the first one that `dapkit.system.runtime_folder` can use. Anyone who can
write there could take the place of the hub, so it is used only if it belongs to the user and is closed to all others.
Sessions of different projects do not see each other.
"""

import os

from dapkit.hub.errors import FolderRefused
from dapkit.system.runtime_folder import NoPrivateFolder, private_folder, unfitness_of
from dapkit.system.trusted_files import is_trusted

VARIABLE = "DAPKIT_RUNTIME_DIR"
"""Environment variable that names another folder."""

SOCKET = "hub.sock"
LOCK = "hub.lock"
LOG = "hub.log"
MCP_SOCKET = "mcp-{}.sock"
"""Where an MCP server by HTTP shows its events, by its port."""


def runtime_folder() -> str:
    """Return the folder's path; it is made if missing.

    Raises:
        FolderRefused: the one that the variable names, or each of the others, belongs to another user, can be read by
            others, cannot be written, or has too long a path for a socket.

    """
    hint = f"Name another folder in ${VARIABLE}."
    if not (folder_name := os.environ.get(VARIABLE)):
        try:
            return private_folder()
        except NoPrivateFolder as error:
            raise FolderRefused(str(error), hint=hint) from error
    folder = os.path.abspath(folder_name)
    if (problem := unfitness_of(folder, parents=True, name_bytes=len(SOCKET))) is not None:
        raise FolderRefused(problem, hint=hint)
    return folder


MARKERS = (".dapkit.toml", ".git", ".hg", ".svn", ".vscode", "pyproject.toml", "go.mod", "Cargo.toml", "package.json")
"""Files and folders that mark the folder of a project, and not those below it."""


def project_of(folder: str) -> str:
    """Return the nearest folder, from this one upwards, that looks like a project; else the folder itself.

    Files that other users may have put there, as in /tmp, do not make a folder a project.

    The user's home and the folders above it are never a project: much that is unrelated lies below them.
    """
    start = os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    candidate = start
    while candidate not in (home, os.path.dirname(candidate)):
        if any(is_trusted(os.path.join(candidate, marker)) for marker in MARKERS):
            return candidate
        candidate = os.path.dirname(candidate)
    return start
