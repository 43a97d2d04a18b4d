"""The folder for sockets and tokens: closed to others, and in the first place where it can be.

    $XDG_RUNTIME_DIR/dapkit      where that is set and the user's
    /run/user/UID/dapkit         where the system made such a folder
    /tmp/dapkit-UID              in containers, and for users without a login
    /tmp/dapkit-UID-RANDOM       if another user has taken that name
    ~/.cache/dapkit/run

On Windows it is in %LOCALAPPDATA%, which is the user's.

A place is passed over if a stranger owns it or could replace it, if it is open to others, read-only or full.
Files left by earlier runs are searched in each.

Quick to import, since every command does: nothing but `os` and `stat`.
"""

import os
import stat

from dapkit.system.files import CLOSE_IN_CHILDREN, user
from dapkit.system.selection import IS_MACOS, IS_WINDOWS, SOCKET_PATH_BYTES
from dapkit.system.trusted_files import objection_to, objection_to_new_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = "/run/user"
TEMPORARY = "/private/tmp" if IS_MACOS else "/tmp"  # noqa: S108 - its contents are checked; not $TMPDIR, which differs from shell to shell

NAME_BYTES = 24
"""Room for the longest name of a socket: an adapter's, which waits for an engine."""

_FOR_OTHERS = 0o077


class NoPrivateFolder(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """No place can be used; the text names each, and why."""


def private_folder() -> str:
    """Return the first folder that can be used; it is made if missing.

    Raises:
        NoPrivateFolder: none can be used.

    """
    problems = []
    for folder in _places(new=True):
        problem = unfitness_of(folder)
        if problem is None:
            return folder
        problems.append(problem)
    raise NoPrivateFolder(f"there is no folder for sockets that is closed to others: {'; '.join(problems)}")


def private_folders() -> "Iterator[str]":
    """Yield each of these folders that is there, and closed to others."""
    yield from (folder for folder in _places(new=False) if os.path.isdir(folder) and openness(folder) is None)


def is_usual(folder: str) -> bool:
    """Whether a folder is one of the places, also if there is nothing yet."""
    return os.path.abspath(folder) in _places(new=False)


def unfitness_of(folder: str, *, parents: bool = False, name_bytes: int = NAME_BYTES) -> str | None:
    """Make a folder for sockets if it is missing, with those above it if that is said; return why it cannot be used.

    None if it can: it and its way belong to the user, no other user can enter, and there is room for a socket of so
    long a name.
    """
    try:
        return (
            _make(folder, parents=parents or folder == _home()) or openness(folder) or _narrowness(folder, name_bytes)
        )
    except OSError as error:
        return f"{folder} cannot be used: {error.strerror}"


def openness(folder: str) -> str | None:
    """Return why a folder is not closed to others, or how they could replace it; None if it is ours alone.

    Raises:
        OSError: it cannot be looked at.

    """
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):  # a link could be pointed elsewhere later
        return f"{folder} has to be a folder, and is not one, or is a link to one"
    if status.st_uid != user():
        return f"{folder} belongs to user {status.st_uid}, expected user {user()}"
    if status.st_mode & _FOR_OTHERS and not IS_WINDOWS:
        return f"{folder} is open to others (mode {stat.S_IMODE(status.st_mode):04o}): chmod it to 0700"
    return objection_to(folder)


def _make(folder: str, *, parents: bool) -> str | None:
    """Make a folder if it is missing; return why not in this place, where it could keep its rightful user out.

    Raises:
        OSError: it cannot be made.

    """
    if os.path.lexists(folder):
        return None
    above = os.path.dirname(folder)
    problem = (_make(above, parents=True) if parents else None) or objection_to_new_in(above)
    if problem is None:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return None  # another process of the user was quicker
    return problem


def _places(*, new: bool) -> "Iterator[str]":
    """Yield where the folder may be; if no known one before serves, under a new random name."""
    if IS_WINDOWS:
        yield os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "dapkit")
        return
    owner = str(user())
    logged_in = [os.environ.get("XDG_RUNTIME_DIR"), os.path.join(RUN, owner)]
    yield from dict.fromkeys(os.path.join(place, "dapkit") for place in logged_in if place and os.path.isdir(place))
    yield os.path.join(TEMPORARY, f"dapkit-{owner}")
    yield from _of_random_names(owner)
    if new:
        yield os.path.join(TEMPORARY, f"dapkit-{owner}-{os.urandom(8).hex()}")
    yield _home()


def _of_random_names(owner: str) -> list[str]:
    try:
        names = os.listdir(TEMPORARY)
    except OSError:
        return []
    return sorted(os.path.join(TEMPORARY, name) for name in names if name.startswith(f"dapkit-{owner}-"))


def _home() -> str:
    return os.path.join(os.path.expanduser("~"), ".cache", "dapkit", "run")


def _narrowness(folder: str, name_bytes: int) -> str | None:
    """Return why no socket can be made in a folder; None if one can.

    Raises:
        OSError: nothing can be written there.

    """
    most = SOCKET_PATH_BYTES - 1 - name_bytes
    if len(os.fsencode(folder)) > most:
        return f"{folder} is too long for a unix socket in it: expected at most {most} bytes"
    probe = os.path.join(folder, f"probe-{os.urandom(8).hex()}")
    handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSE_IN_CHILDREN, 0o600)
    try:
        os.write(handle, b".")
    finally:
        os.close(handle)
        os.unlink(probe)
    return None
