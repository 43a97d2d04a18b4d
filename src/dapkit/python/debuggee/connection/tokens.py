"""Tokens of ports: made, compared, and kept in files that only our own user can reach.

The folder and the name of a file follow the rule of the adapter (`dapkit.transport.private`), so that each
finds what the other has left.
"""

import os
import stat
from _operator import _compare_digest  # the C half of `hmac.compare_digest`
from binascii import b2a_base64
from fcntl import LOCK_EX, LOCK_NB, flock

from .. import limits


def make() -> str:
    """Make a secret that cannot be guessed."""
    text = b2a_base64(os.urandom(32), newline=False).decode()
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def same(shown: object, token: str) -> bool:
    """Compare a token with the right one, in a time that does not depend on how much of it is right."""
    return isinstance(shown, str) and _compare_digest(shown.encode("utf-8", "surrogatepass"), token.encode())


def file_of(port: int) -> str:
    """Return where the token of a port is.

    Raises:
        ValueError: others can reach the folder.

    """
    return os.path.join(_folder(), f"port-{port}.token")


def leave(token: str, port: int) -> tuple[str, int]:
    """Leave a token for processes of our user that connect to a port; return the file, open and locked.

    It stays so for as long as it is of use: files that are not locked were left by programs that were killed, and
    are removed here.
    """
    path = file_of(port)
    folder = os.path.dirname(path)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flock(lock, LOCK_EX)
        for name in os.listdir(folder):
            if name.startswith("port-") and name.endswith(".token"):
                _remove_unless_held(os.path.join(folder, name))
        if os.path.lexists(path):
            os.unlink(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        flock(handle, LOCK_EX)
    finally:
        os.close(lock)
    os.write(handle, token.encode())
    return path, handle


def read(path: str) -> str:
    """Return the token in a file.

    Raises:
        ValueError: others can read the file, or it holds none.
        OSError: it cannot be read.

    """
    handle = os.open(path, os.O_RDONLY)
    try:
        _need_private(path, os.fstat(handle))
        text = os.read(handle, limits.TOKEN_MESSAGE_BYTES)
    finally:
        os.close(handle)
    token = text.decode("ascii", "replace").strip()
    if not token or not token.isascii():
        raise ValueError(f"{path} holds no token: expected one line of ASCII")
    return token


def _remove_unless_held(path: str) -> None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # its owner has just removed it
        return
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        os.unlink(path)
    except OSError:  # the program that left it still runs, or has just removed it
        return
    finally:
        os.close(handle)


def _folder() -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK | os.X_OK):
        folder = os.path.join(runtime, "dapkit")
    else:
        folder = os.path.join(_temporary(), f"dapkit-{os.geteuid()}")
    if not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise ValueError(f"{folder} has to be a folder, and is none (or a link to one)")
    _need_private(folder, found)
    return folder


def _temporary() -> str:
    """Return the folder for temporary files, as `tempfile` finds it."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for folder in (*named, "/tmp", "/var/tmp", "/usr/tmp"):  # noqa: S108 - in there the folder is checked
        if folder and os.access(folder, os.W_OK | os.X_OK):
            return os.path.abspath(folder)
    return os.getcwd()


def _need_private(path: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise ValueError(f"{path} belongs to user {found.st_uid}, expected user {os.geteuid()}")
    if found.st_mode & 0o077:
        raise ValueError(f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o}); only we may reach it")
