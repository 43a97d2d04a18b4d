"""Sockets of this machine that only our own user can use, on Windows, where Python has no unix sockets.

A file that only our user can read has a port of the loopback and a key. Both ends prove that they know the key, so that
neither talks to a stranger: not to one that connects to the port, nor to one that has taken the port of a process
that was killed. `dapkit.python.debuggee.connection.local_socket` describes the exchange, which engines take part in.
"""

import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.keyed_port import PART_BYTES, is_same, proof, prove, read, write
from dapkit.system.this_system import SYSTEM
from dapkit.transport.errors import NotAdmitted, Unreachable
from dapkit.transport.gate import ConnectionHandler, Gate
from dapkit.transport.private_files import check_private_folder, locked
from dapkit.transport.sockets import SocketStream, connected
from dapkit.transport.tasks import background_tasks
from dapkit.transport.tcp import listening_socket

_REMOVALS, _REMOVAL_SECONDS = 50, 0.02


async def connect_port_file(path: Path) -> ByteStream:
    """Connect to the process that has written a file.

    Raises:
        Unreachable: no process listens there.
        NotAdmitted: the one that does does not know the key.

    """
    try:
        port, key, _ = read(str(path))
        stream = await connected(socket.AF_INET, ("127.0.0.1", port))
    except OSError as error:
        raise Unreachable(f"no process listens at {path}: {error.strerror}") from error
    try:
        ours = os.urandom(PART_BYTES)
        with anyio.fail_after(limits.TOKEN_SECONDS):
            await stream.send(ours)
            theirs, answer = await _received(stream), await _received(stream)
            _need(answer, proof(key, b"server", ours, theirs))
            await stream.send(proof(key, b"client", ours, theirs))
    except (TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
        await stream.aclose()
        raise Unreachable(f"no process of ours listens at {path}: it does not answer as one") from error
    except BaseException:
        await stream.aclose()
        raise
    return stream


@asynccontextmanager
async def listen_port_file(
    path: Path, handler: ConnectionHandler, *, max_connections: int | None = None
) -> AsyncIterator[Path]:
    """Listen, and serve each connection with a task of its own; yields the path.

    Leaving the block cancels the handlers and removes the file.

    Raises:
        NotPrivate: others can get into the folder of the file.
        Unreachable: another process listens there already.

    """
    check_private_folder(path.parent)
    key = os.urandom(PART_BYTES)

    async def admit(stream: SocketStream) -> ByteStream:
        try:
            with anyio.fail_after(limits.TOKEN_SECONDS):
                theirs, ours = await _received(stream), os.urandom(PART_BYTES)
                await stream.send(ours + proof(key, b"server", theirs, ours))
                _need(await _received(stream), proof(key, b"client", theirs, ours))
        except (TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise NotAdmitted("it does not prove that it knows the key of the file") from error
        return stream

    gate = Gate(admit, handler, max_connections)
    with listening_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        _write(path, port, key)
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(gate.guard, listening, tasks)
                yield path
        finally:
            _remove(path, port, key)


def is_alive(path: Path) -> bool:
    """Return whether a process listens at the port in a file; the question does not reach it."""
    try:
        port, _, _ = read(str(path))
        with listening_socket("127.0.0.1", port):
            return False
    except Unreachable:  # the port is in use
        return True
    except OSError:
        return False


def remove(path: Path) -> None:
    """Remove a file, also if another process just reads it, for which Windows makes us wait."""
    for _ in range(_REMOVALS):
        with contextlib.suppress(PermissionError):
            path.unlink(missing_ok=True)
            return
        time.sleep(_REMOVAL_SECONDS)
    path.unlink(missing_ok=True)


def _write(path: Path, port: int, key: bytes) -> None:
    """Write port and key, in place of old ones, whose process has ended. Raises: Unreachable."""
    with locked(path.parent):
        if path.exists():
            if is_alive(path) and _answers(path):
                raise Unreachable(f"another process listens at {path} already")
            remove(path)
        write(str(path), port, key)


def _answers(path: Path) -> bool:
    """Return whether the process at a port knows the key: a port that was free again may be another program's."""
    try:
        port, key, pid = read(str(path))
        if pid == os.getpid():
            return True
        if pid and SYSTEM.is_exiting(pid):  # Wine may keep the socket of a process that was killed
            return False
        with socket.create_connection(("127.0.0.1", port), limits.TOKEN_SECONDS) as connection:
            prove(connection, key)
    except TimeoutError:  # it hangs, and may be ours
        return True
    except OSError:
        return False
    return True


def _remove(path: Path, port: int, key: bytes) -> None:
    with locked(path.parent), contextlib.suppress(OSError):
        if read(str(path))[:2] == (port, key):  # not a successor's
            remove(path)


def _need(answer: bytes, expected: bytes) -> None:
    """Refuse a proof that is wrong. Raises: NotAdmitted."""
    if not is_same(answer, expected):
        raise NotAdmitted("the other end does not know the key of the file")


async def _received(stream: ByteStream) -> bytes:
    """Return the next part of the exchange."""
    data = b""
    while len(data) < PART_BYTES:
        data += await stream.receive(PART_BYTES - len(data))
    return data
