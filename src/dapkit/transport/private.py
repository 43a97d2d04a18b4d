"""What only our own user can reach: folders, sockets in them, and tokens in files.

A secret stands in a file of mode 0600 in a folder of mode 0700, never in a
command line, an environment variable or a log, which others can read.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dapkit import limits
from dapkit.transport.errors import NotPrivate

_FOR_OTHERS = 0o077


def private_folder() -> Path:
    """Our folder for sockets, made if missing: in XDG_RUNTIME_DIR, or in the folder for temporary files.

    The latter serves where the former is not set, does not exist (in containers), or is another user's (after `su`).

    Raises:
        NotPrivate: it belongs to somebody else, or others can look into it.

    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK | os.X_OK):
        folder = Path(runtime, "dapkit")
    else:
        folder = Path(_temporary(), f"dapkit-{os.geteuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    check_private_folder(folder)
    return folder


def _temporary() -> Path:
    """Find the folder for temporary files as `tempfile` does, which is large and imported for nothing else here."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for folder in (*named, "/tmp", "/var/tmp", "/usr/tmp"):  # noqa: S108 - in there the folder is checked
        if folder and os.access(folder, os.W_OK | os.X_OK):
            return Path(folder).absolute()
    return Path.cwd()


def check_private_folder(folder: Path) -> None:
    """Refuse a folder in which others could put or reach a socket."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):  # a link could be pointed elsewhere later
        raise NotPrivate(f"{folder} has to be a folder, and is none (or a link to one)")
    _check_owner(folder, found)
    if found.st_mode & _FOR_OTHERS:
        raise NotPrivate(f"{folder} is open to others (mode {stat.S_IMODE(found.st_mode):04o}): chmod it to 0700")


def new_token() -> str:
    """Make a secret that cannot be guessed."""
    import secrets

    return secrets.token_urlsafe(32)


def read_token(path: Path) -> str:
    """Read a token from a file that only we can read.

    Raises:
        NotPrivate: the file belongs to somebody else, or others can read it, or it holds no token.

    """
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        _check_owner(path, found)
        if found.st_mode & _FOR_OTHERS:
            raise NotPrivate(f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o}): chmod it to 0600")
        text = file.read(limits.TOKEN_MESSAGE_BYTES)
    try:
        token = text.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not token:
        raise NotPrivate(f"{path} holds no token: expected one line of ASCII")
    return token


@contextmanager
def left_token(token: str, port: int) -> Iterator[Path]:
    """Have the token of a port in its file for a while, where processes of our user look for it.

    It is locked meanwhile: a file that nobody has locked was left by a process that was killed, and is removed by the
    next one that leaves a token.
    """
    file = token_file(port)
    with locked(file.parent):
        for other in file.parent.glob("port-*.token"):
            _remove_unless_held(other)
        file.unlink(missing_ok=True)
        held = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
    try:
        os.write(held, token.encode())
        yield file
    finally:
        file.unlink(missing_ok=True)
        os.close(held)


def token_file(port: int) -> Path:
    """Return where the token of a port is; the engine (`connection.tokens`) has the same rule."""
    return private_folder() / f"port-{port}.token"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only one who puts files into a folder, or takes dead ones away."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _remove_unless_held(file: Path) -> None:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # its owner has just removed it
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.unlink(missing_ok=True)
    except BlockingIOError:  # the process that left it lives
        return
    finally:
        os.close(fd)


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise NotPrivate(f"{path} belongs to user {found.st_uid}, expected user {os.geteuid()}")
