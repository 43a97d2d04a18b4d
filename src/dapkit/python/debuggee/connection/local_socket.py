"""Sockets of this machine that only processes of our own user can use, by the path of a file.

They are unix sockets. Python has no such sockets on Windows: there the file, in a folder that only our user can enter,
has a port of the loopback and a key, and both ends prove that they know the key (`dapkit.transport.port_file` is the
adapter's half):

    client    32 bytes: its nonce
    server    32 bytes: its own, and 32 bytes: the HMAC with SHA-256 of "server" and both nonces
    client    32 bytes: the HMAC of "client" and both
"""

import _socket
import os
from typing import Final

from ..interpreter import limits
from ..system import IS_WINDOWS, READ_ONLY, REUSE_OPTION, bind_private, user, user_behind
from . import tokens

_PART_BYTES: Final = 32
_keys: dict[int, bytes] = {}
"""The keys of the ports at which this process listens."""


def connect(path: str, seconds: float | None = None) -> _socket.socket:
    """Connect; `user_of` returns whose that is.

    Raises:
        OSError: no process listens there, or one that does not know the key, or not within these seconds.

    """
    if IS_WINDOWS:
        return connect_by_key(path)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(path)
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection


def listen(path: str) -> _socket.socket:
    """Listen at a path that no file has yet. Raises: OSError."""
    if IS_WINDOWS:
        return listen_by_key(path)
    listening = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listening.setblocking(False)  # noqa: FBT003 - takes no keywords
    try:
        bind_private(listening, path)
        listening.listen(limits.BACKLOG_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    return listening


def user_of(connection: _socket.socket) -> int:
    """Return the user at the other end, of a connection that was accepted or made here.

    On Windows it proves to be ours, within `limits.TOKEN_SECONDS`.

    Raises:
        OSError: it has gone, or does not.

    """
    if not IS_WINDOWS:
        return user_behind(connection)
    key = _keys.get(connection.getsockname()[1])
    if key is not None:
        check_key(connection, key)
    return user()


def connect_by_key(path: str) -> _socket.socket:
    """Connect to the process that has written a file. Raises: OSError."""
    handle = os.open(path, READ_ONLY)
    try:
        port, digits, *_ = [*os.read(handle, 256).decode("ascii", "replace").split(), "", ""]
    finally:
        os.close(handle)
    if not (port.isdecimal() and len(digits) == 2 * _PART_BYTES):
        raise ConnectionRefusedError(f"{path} has no port and key")
    key = tokens.Keyed(bytes.fromhex(digits))
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(limits.TOKEN_SECONDS)
        connection.connect(("127.0.0.1", int(port)))
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        ours = os.urandom(_PART_BYTES)
        connection.sendall(ours)
        theirs, proof = _received(connection), _received(connection)
        _need_same(proof, key.digest(b"server", ours, theirs))
        connection.sendall(key.digest(b"client", ours, theirs))
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection


def listen_by_key(path: str) -> _socket.socket:
    """Listen, and write the file. Raises: OSError."""
    key = os.urandom(_PART_BYTES)
    listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listening.setblocking(False)  # noqa: FBT003 - takes no keywords
    try:
        listening.setsockopt(_socket.SOL_SOCKET, REUSE_OPTION, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen(limits.BACKLOG_CONNECTIONS)
        port = listening.getsockname()[1]
        _keys[port] = key
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, f"{port} {key.hex()}\n".encode())
        finally:
            os.close(handle)
    except BaseException:
        listening.close()
        raise
    return listening


def check_key(connection: _socket.socket, key: bytes) -> None:
    """See that a client knows a key. Raises: OSError."""
    keyed = tokens.Keyed(key)
    before = connection.gettimeout()
    connection.settimeout(limits.TOKEN_SECONDS)
    theirs, ours = _received(connection), os.urandom(_PART_BYTES)
    connection.sendall(ours + keyed.digest(b"server", theirs, ours))
    _need_same(_received(connection), keyed.digest(b"client", theirs, ours))
    connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    connection.settimeout(before)


def _need_same(proof: bytes, expected: bytes) -> None:
    if not tokens.same(proof.hex(), expected.hex()):
        raise ConnectionRefusedError("the other end does not know the key of the socket")


def _received(connection: _socket.socket) -> bytes:
    """Return the next part. Raises: OSError."""
    data = b""
    while len(data) < _PART_BYTES:
        more = connection.recv(_PART_BYTES - len(data))
        if not more:
            raise ConnectionResetError("the other end closed the connection before it had proved that it knows the key")
        data += more
    return data
