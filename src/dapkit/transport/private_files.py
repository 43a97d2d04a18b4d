"""Files that only the user can reach: folders, sockets in them, and tokens in files.

A secret stands in a file of mode 0600 in a folder of mode 0700, never in a
command line, an environment variable or a log, which others can read.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dapkit import limits
from dapkit.system import runtime_folder
from dapkit.system.files import AT_ONCE, CLOSE_IN_CHILDREN, NO_LINK, lock, open_private, open_to_lock, user
from dapkit.system.selection import IS_WINDOWS
from dapkit.transport.errors import NotPrivate

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Hosts that are this machine."""

_FOR_OTHERS = 0o077


def private_folder() -> Path:
    """Return our folder for sockets, the first usable one (`dapkit.system.runtime_folder`); create it if missing.

    Raises:
        NotPrivate: none can be used.

    """
    try:
        return Path(runtime_folder.private_folder())
    except runtime_folder.NoPrivateFolder as error:
        raise NotPrivate(str(error)) from error


def check_private_folder(folder: Path) -> None:
    """Refuse a folder in which others could put or reach a socket, or in whose place they could put another.

    Raises:
        NotPrivate: it is one.
        OSError: it cannot be looked at.

    """
    if (problem := runtime_folder.openness(os.fspath(folder))) is not None:
        raise NotPrivate(problem)


def new_token() -> str:
    """Make a secret that cannot be guessed."""
    import secrets

    return secrets.token_urlsafe(32)


def read_token(path: Path) -> str:
    """Read a token from a file that only we can read.

    Raises:
        NotPrivate: the file belongs to another user, or others can read it, or it holds no token.

    """
    with open(os.open(path, os.O_RDONLY | AT_ONCE | CLOSE_IN_CHILDREN), "rb") as file:  # noqa: PTH123 - not to wait
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotPrivate(f"{path} is not a regular file")
        if not IS_WINDOWS:  # where its folder protects it
            _check_owner(path, status)
        if not IS_WINDOWS and status.st_mode & _FOR_OTHERS:
            raise NotPrivate(f"{path} is open to others (mode {stat.S_IMODE(status.st_mode):04o}): chmod it to 0600")
        text = file.read(limits.TOKEN_MESSAGE_BYTES)
    try:
        token = text.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not token:
        raise NotPrivate(f"{path} holds no token: expected one line of ASCII")
    return token


@contextmanager
def left_token(token: str, port: int, host: str = "127.0.0.1") -> Iterator[Path]:
    """Keep the token of an address and port in its file for a while, where processes of the user look for it.

    It is locked meanwhile: an unlocked file was left by a process that was killed, and is removed by the next one that
    leaves a token.
    """
    file = token_file(port, host)
    with locked(file.parent):
        for other in file.parent.glob("port-*.token"):
            if not _is_held(other):
                other.unlink(missing_ok=True)
        file.unlink(missing_ok=True)
        descriptor = open_private(file, os.O_WRONLY | os.O_EXCL)
        lock(descriptor)
    try:
        os.write(descriptor, token.encode())
        yield file
    finally:
        if IS_WINDOWS:  # which removes no file that is open
            os.close(descriptor)
        file.unlink(missing_ok=True)
        if not IS_WINDOWS:
            os.close(descriptor)


def token_file(port: int, host: str = "127.0.0.1") -> Path:
    """Return where the token of an address and port is."""
    return private_folder() / _name(host, port)


def _name(address: str, port: int) -> str:
    """Return the name of the file; the engine (`connection.tokens`) has the same rule."""
    where = "" if address in ("127.0.0.1", "localhost") else f"-{address.replace(':', '_')}"
    return f"port-{port}{where}.token"


def token_left_for(host: str, port: int) -> str | None:
    """Return the token that a process of ours has left for a port of this machine; None if none listens there."""
    if host not in LOOPBACK:
        return None
    for folder in runtime_folder.private_folders():
        for address in (host, "::" if ":" in host else "0.0.0.0"):  # noqa: S104 - it listens at all addresses
            file = Path(folder, _name(address, port))
            if file.exists() and _is_held(file):
                return read_token(file)
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other process puts files into it or removes dead ones."""
    fd = open_to_lock(os.fspath(folder))
    try:
        lock(fd)
        yield
    finally:
        os.close(fd)


def _is_held(file: Path) -> bool:
    """Return whether the process that has left a token lives."""
    try:
        fd = os.open(file, os.O_RDONLY | NO_LINK | CLOSE_IN_CHILDREN)
    except OSError:  # its owner has just removed it
        return False
    try:
        return not lock(fd, waits=False, shared=True)
    finally:
        os.close(fd)


def _check_owner(path: Path, status: os.stat_result) -> None:
    if status.st_uid != user():
        raise NotPrivate(f"{path} belongs to user {status.st_uid}, expected user {user()}")
