"""Files with a port of the loopback and a key, in place of unix sockets, which Python does not have on Windows.

Both ends of a connection prove that they know the key: `dapkit.python.debuggee.connection.local_socket` describes the
exchange. A file has one line: the port, the key in hexadecimal digits, and the process that listens.
"""

import os
import socket

from dapkit.system.files import open_private

PART_BYTES = 32
"""The size of each nonce, of the key, and of each proof."""


def read(path: str) -> tuple[int, bytes, int]:
    """Return port, key and process; the process is 0 if the file does not name it. Raises: OSError."""
    with open(path, encoding="ascii", errors="replace") as file:
        port, key, pid, *_ = [*file.read().split(), "", "", ""]
    if not (port.isdecimal() and len(key) == 2 * PART_BYTES):
        raise ConnectionRefusedError(0, "it has no port and key", path)
    return int(port), bytes.fromhex(key), int(pid) if pid.isdecimal() else 0


def write(path: str, port: int, key: bytes) -> None:
    """Write a file that does not exist yet. Raises: OSError."""
    descriptor = open_private(path, os.O_WRONLY | os.O_EXCL)
    try:
        os.write(descriptor, f"{port} {key.hex()} {os.getpid()}\n".encode())
    finally:
        os.close(descriptor)


def proof(key: bytes, role: bytes, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """Return the proof by which a `client` or `server` shows that it knows the key."""
    import hmac  # which loads OpenSSL, and is for Windows alone

    return hmac.digest(key, role + client_nonce + server_nonce, "sha256")


def is_same(answer: bytes, expected: bytes) -> bool:
    """Compare two proofs, in a time that does not tell where they differ."""
    import hmac

    return hmac.compare_digest(answer, expected)


def prove(connection: socket.socket, key: bytes) -> None:
    """Take the part of the client in the exchange, by a socket that blocks.

    Raises:
        ConnectionRefusedError: the other end does not know the key.
        TimeoutError, OSError: of the socket.

    """
    ours = os.urandom(PART_BYTES)
    connection.sendall(ours)
    theirs, answer = _received(connection), _received(connection)
    if not is_same(answer, proof(key, b"server", ours, theirs)):
        raise ConnectionRefusedError("the other end does not know the key of the port")
    connection.sendall(proof(key, b"client", ours, theirs))


def _received(connection: socket.socket) -> bytes:
    """Return the next part of the exchange. Raises: OSError."""
    data = b""
    while len(data) < PART_BYTES:
        more = connection.recv(PART_BYTES - len(data))
        if not more:
            raise ConnectionRefusedError("the other end closed the connection before it had proved its identity")
        data += more
    return data
