"""Files that no stranger can have written, and reading of files that may be anything.

A file on the way up from the current folder can belong to another user: a `.git` or `.venv` in a shared folder, for
example. It counts only if the user or root owns it and every folder above it, and no other user can write there.

Quick to import, since every command does: nothing but `os` and `stat`.
"""

import errno
import os
import stat
import sys

from dapkit.system.files import AT_ONCE, CLOSE_IN_CHILDREN, user
from dapkit.system.selection import IS_WINDOWS, LINUX, NAME

_MOST_LINKS = 40
"""Links in the way to one file; the kernel follows as many."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def objection_to(path: str | os.PathLike[str]) -> str | None:
    """Name another user who can have written a file or a folder, or can put another in its place; None if no other can.

    Links are followed step by step, and each step must be safe. A folder that is writable for all counts as such,
    unless it has the sticky bit (`/tmp`): there other users cannot replace files of the user or of root.
    """
    return _objection(path, {0, user()})


def objection_to_new_in(folder: str | os.PathLike[str]) -> str | None:
    """Name another user who could replace the user's files in a folder, or who owns it; None if no other can.

    In a namespace without root the folder may be one of the system (`/tmp`), which seems to have no owner there.
    """
    return _objection(folder, _owners_on_the_way())


def _objection(path: str | os.PathLike[str], owners: set[int]) -> str | None:
    """Name another user who can have written the file at a path, unless one of these owns it, or can replace it."""
    if sys.platform == "win32":
        return _objection_to_owner(path)
    here = os.sep
    links = 0
    try:
        ahead = _steps(os.path.join("" if os.path.isabs(path) else os.getcwd(), path))
        rest = len(ahead)  # steps of the path itself that are still to be taken; the others are of links
        passed = _owners_on_the_way()
        problem = _problem(here, os.lstat(here), passed)
        while ahead and problem is None:
            of_path = len(ahead) == rest
            rest -= of_path
            step = ahead.pop()
            if step == os.pardir:
                here = os.path.dirname(here)
                continue
            status = os.lstat(place := os.path.join(here, step))
            problem = _problem(place, status, owners if of_path and rest == 0 else passed)
            if not stat.S_ISLNK(status.st_mode):
                here = place
                continue
            links += 1
            if links > _MOST_LINKS:
                return f"{path} leads through too many links"
            target = os.readlink(place)
            ahead += _steps(target)
            if target.startswith(os.sep):
                here = os.sep
    except OSError as error:
        return f"{error.filename or path} cannot be looked at: {error.strerror}"
    return problem


if sys.platform == "win32":
    from dapkit.system.file_owner import stranger_who_owns

    def _objection_to_owner(path: str | os.PathLike[str]) -> str | None:
        """Name the owner of a file, or of a folder above it, unless that is the user or the system. For Windows."""
        place = os.path.realpath(path)
        while True:
            try:
                if (owner := stranger_who_owns(place)) is not None:
                    return f"{place} belongs to user {owner}"
            except OSError as error:
                return f"{place} cannot be looked at: {error.strerror}"
            above = os.path.dirname(place)
            if above == place:
                return None
            place = above


def is_trusted(path: str | os.PathLike[str]) -> bool:
    """Return whether something is there, and no stranger can have written it."""
    return os.path.lexists(path) and objection_to(path) is None


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a regular file of at most so many bytes; nothing else is waited for or read without end.

    Raises:
        OSError: it cannot be read, is not a regular file, or is too large.

    """
    content = read_start(path, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes", os.fspath(path))
    return content


def read_start(path: str | os.PathLike[str], most: int) -> bytes:
    """Read as many bytes of a regular file.

    Raises:
        OSError: it cannot be read, or is not a regular file.

    """
    _need_regular(path, os.stat(path))  # opening a device may do something to it
    handle = os.open(path, os.O_RDONLY | AT_ONCE | CLOSE_IN_CHILDREN)
    try:
        _need_regular(path, os.fstat(handle))
        pieces = []
        while most > 0 and (piece := os.read(handle, min(most, 1 << 20))):
            pieces.append(piece)
            most -= len(piece)
    finally:
        os.close(handle)
    return b"".join(pieces)


def _owners_on_the_way() -> set[int]:
    return {0, user(), os.lstat(os.sep).st_uid}  # in a namespace without root, its files have no owner


def _steps(path: str) -> list[str]:
    """Return the names on a way, the last one first."""
    return [name for name in reversed(path.split(os.sep)) if name not in {"", os.curdir}]


def _problem(path: str, status: os.stat_result, owners: set[int]) -> str | None:
    if status.st_uid not in owners:
        return f"{path} belongs to user {status.st_uid}"
    if stat.S_ISLNK(status.st_mode) or (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX):
        return None
    if status.st_mode & stat.S_IWOTH:
        return f"everybody can write to {path}"
    if status.st_mode & stat.S_IWGRP and not _is_ours_alone(path, status.st_gid):
        return f"group {status.st_gid} can write to {path}"
    return None


def _has_access_list(path: str) -> bool:
    """Return whether a file may have an access control list; the standard library shows only Linux's."""
    if sys.platform == "linux" and NAME == LINUX:
        return "system.posix_acl_access" in os.listxattr(path)
    return True


def _is_ours_alone(path: str, group: int) -> bool:
    """Say whether a group has no member but the user and root, as the group has that many systems make for each user.

    A file with an access control list shows the rights of others as the rights of its group.
    """
    if IS_WINDOWS:
        return False
    import grp
    import pwd

    try:
        name, _, _, members = grp.getgrgid(group)
        own = pwd.getpwuid(user()).pw_name
        has_list = _has_access_list(path)
    except (KeyError, OSError):
        return False
    alone = set(members) <= {own, "root"} and (group == 0 or name == own)
    return alone and not has_list


def _need_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, expected a regular file", os.fspath(path))
