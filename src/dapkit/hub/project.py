"""Which folder a call is for: sessions of different projects do not see each other.

Quick to import, as is all of a caller's end.
"""

import os

from dapkit.system.trusted_files import is_trusted

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
