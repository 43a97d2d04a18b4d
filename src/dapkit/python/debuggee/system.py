"""The differences between Linux and other POSIX systems inside the program; the standard library alone.

`DAPKIT_SYSTEM=posix` has Linux taken for another of them, as in `dapkit.system.selection`.
"""

import _socket
import os
import sys
from typing import Final

IS_LINUX: Final = sys.platform == "linux" and os.environ.get("DAPKIT_SYSTEM") != "posix"

DESCRIPTORS: Final = "/proc/self/fd" if IS_LINUX else "/dev/fd"
"""The folder with the open files of this process; on Linux `/dev` may lack its own."""

NO_SIGNAL: Final = _socket.MSG_NOSIGNAL if IS_LINUX else 0
"""The flag by which a connection that has ended is an error, and no signal. macOS has an option for it instead."""

_SO_NOSIGPIPE: Final = 0x1022
"""sys/socket.h of macOS."""
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 128
"""sys/un.h of macOS and FreeBSD: version, user and more, of 4 bytes each."""


def without_signal(connection: _socket.socket) -> None:
    """Let sending on an ended connection raise an error and no signal, on systems where that is an option of it."""
    if sys.platform == "darwin":
        connection.setsockopt(_socket.SOL_SOCKET, _SO_NOSIGPIPE, 1)


def user_behind(connection: _socket.socket) -> int:
    """Return the user at the other end of a unix socket."""
    if sys.platform != "linux":
        credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
    elif IS_LINUX:
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:  # in tests: the folder of the socket admits our user alone
        return os.geteuid()
    return int.from_bytes(credentials[4:8], sys.byteorder)


def bind_private(listening: _socket.socket, path: str) -> None:
    """Bind a unix socket to a file that only our user can connect to. Raises: OSError."""
    if IS_LINUX:
        os.fchmod(listening.fileno(), 0o600)  # bind makes the file with the mode of the socket
        listening.bind(path)
    else:
        listening.bind(path)
        os.chmod(path, 0o600)  # until now the folder protects it


def memory_file(name: str) -> int:
    """Make a file in memory. Raises: OSError, also on other systems than Linux."""
    if sys.platform == "linux":
        return os.memfd_create(name)
    raise OSError("only Linux has files in memory")
