"""Unix sockets: mode 0600 in a folder of mode 0700, for processes of our own user. On Windows see `port_file`.

A socket file without a listener is replaced; one that is alive is an error. No abstract sockets, since every user of
the machine can connect to them.
"""

import contextlib
import errno
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.files import user
from dapkit.system.selection import IS_WINDOWS, SOCKET_PATH_BYTES
from dapkit.system.socket_options import UNIX
from dapkit.system.this_system import SYSTEM
from dapkit.transport.errors import NotAdmitted, Unreachable
from dapkit.transport.gate import ConnectionHandler, Gate, admit_own_user
from dapkit.transport.port_file import connect_port_file, is_alive, listen_port_file, remove
from dapkit.transport.private_files import check_private_folder, locked
from dapkit.transport.sockets import connected
from dapkit.transport.tasks import background_tasks


async def connect_unix(path: Path) -> ByteStream:
    """Connect to a listening adapter, of our own user or of root.

    Raises:
        Unreachable: no process listens there.
        NotAdmitted: a stranger listens there, who could have us run programs.

    """
    if IS_WINDOWS:
        return await connect_port_file(path)
    try:
        stream = await connected(UNIX, str(path))
    except OSError as error:
        raise Unreachable(f"no process listens at {path}: {error.strerror}") from error
    uid = SYSTEM.peer_of(stream.socket)[1]
    if uid not in {0, user()}:
        await stream.aclose()
        raise NotAdmitted(f"user {uid} listens at {path}, expected user {user()}")
    return stream


@asynccontextmanager
async def listen_unix(
    path: Path, handler: ConnectionHandler, *, max_connections: int | None = None
) -> AsyncIterator[Path]:
    """Listen, and serve each connection with a task of its own; yields the path.

    Leaving the block cancels the handlers and removes the socket file.

    Raises:
        NotPrivate: others can get into the folder of the socket (see `private_folder`).
        Unreachable: another process listens there already, or the path is not fit for a socket.

    """
    if IS_WINDOWS:
        async with listen_port_file(path, handler, max_connections=max_connections):
            yield path
        return
    check_private_folder(path.parent)
    gate = Gate(admit_own_user, handler, max_connections)
    listening, inode = _bound(path)
    with listening:
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(gate.guard, listening, tasks)
                yield path
        finally:
            _remove(path, inode)


def remove_dead_sockets(folder: Path, pattern: str) -> None:
    """Remove socket files that processes have left which were killed.

    Raises:
        NotPrivate: others can get into the folder.

    """
    check_private_folder(folder)
    with locked(folder):  # a socket of `listen_unix` listens by now, too
        for path in folder.glob(pattern):
            with contextlib.suppress(FileNotFoundError):  # its own process has removed it, without the lock
                if _is_dead(path):
                    remove(path)


def _is_dead(path: Path) -> bool:
    """Return whether a file belongs to a socket without a listener."""
    return not is_alive(path) if IS_WINDOWS else path.is_socket() and not _is_alive(path)


def _bound(path: Path) -> tuple[socket.socket, int]:
    """Make the listening socket; return it with the inode of its file."""
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise Unreachable(f"{path} is too long for a unix socket: expected at most {SOCKET_PATH_BYTES} bytes")
    listening = socket.socket(UNIX, socket.SOCK_STREAM)
    listening.setblocking(False)  # noqa: FBT003 - its only parameter
    try:
        with locked(path.parent):  # of two who find a stale file, the second must not remove the first one's socket
            if path.exists(follow_symlinks=False):
                _remove_stale(path)
            SYSTEM.bind_private(listening, str(path))
            listening.listen(limits.BACKLOG_CONNECTIONS)
            return listening, path.stat().st_ino
    except OSError as error:
        listening.close()
        raise Unreachable(f"{path} cannot be listened on: {error.strerror}") from error
    except BaseException:
        listening.close()
        raise


def _remove(path: Path, inode: int) -> None:
    with locked(path.parent), contextlib.suppress(FileNotFoundError):
        if path.stat().st_ino == inode:  # not a successor's, after another process had removed ours
            path.unlink()


def _remove_stale(path: Path) -> None:
    if not path.is_socket():
        raise Unreachable(f"{path} exists and is not a socket: it is not replaced")
    if _is_alive(path):
        raise Unreachable(f"another process listens at {path} already")
    path.unlink()


def _is_alive(path: Path) -> bool:
    """Whether a socket file has a socket; who listens there is not told of the question.

    A connection would take the place of one that is waited for.
    """
    with socket.socket(UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError as error:
            if error.errno != errno.EPROTOTYPE:  # unix(7): it exists, and is not for datagrams
                raise
    return True
