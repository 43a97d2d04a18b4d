"""The part of a breakpoint on another machine: bytes between standard input and output and the engine of a member.

    python -m dapkit.cluster.relay --socket PATH    it listens there; % and two digits stand for a character
    python -m dapkit.cluster.relay --pid N          it is this process, which is entered; 0: the program of a container

The root of a job starts it by a command of the user's (`--via 'ssh {host}'`), as it does `dapkit.cluster.node`. It ends
when either end does, with 1 and a sentence on standard error if it cannot connect.
"""

import os
import socket
import sys
from contextlib import suppress
from threading import Thread
from typing import Final
from urllib.parse import unquote

from dapkit.cluster.errors import JobError
from dapkit.protocol import DapkitError
from dapkit.system.this_system import SYSTEM

_PART: Final = 64 * 1024


def main() -> None:
    """Connect, and carry bytes until one side ends."""
    try:
        match sys.argv[1:]:
            case ["--socket", text]:
                engine = _connected(unquote(text))
            case ["--pid", number] if number.isdecimal():
                engine = _connected_with(int(number))
            case words:
                sys.exit(f"dapkit.cluster.relay: expected --socket PATH or --pid NUMBER, got {' '.join(words)}")
    except DapkitError as error:
        sys.exit(str(error))
    Thread(target=_send, args=(engine,), daemon=True).start()
    while data := engine.recv(_PART):
        _write(data)


def _connected_with(pid: int) -> socket.socket:
    """Connect to the engine of a process, which is entered if needed. Raises: JobError, RequestFailed."""
    import asyncio

    from dapkit.cluster.entering import entered_socket, listen_in  # for most members all this is not needed
    from dapkit.cluster.node import program_here

    pid = pid or program_here()
    with suppress(JobError):
        return _connected(str(entered_socket(pid)))
    return _connected(str(asyncio.run(listen_in(pid))))


def _connected(path: str) -> socket.socket:
    """Connect to an engine of our user that listens at a path. Raises: JobError."""
    engine = socket.socket(socket.AF_UNIX)
    try:
        engine.connect(path)
    except OSError as error:
        engine.close()
        raise JobError(f"no engine listens at {path} of {os.uname().nodename}: {error.strerror}") from error
    user = SYSTEM.peer_of(engine)[1]
    if user not in {0, os.geteuid()}:
        engine.close()
        raise JobError(f"user {user} listens at {path}, expected user {os.geteuid()}")
    return engine


def _send(engine: socket.socket) -> None:
    """Carry bytes to the engine; when there are no more, it is to let the program go."""
    while data := os.read(0, _PART):
        engine.sendall(data)
    engine.shutdown(socket.SHUT_RDWR)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
