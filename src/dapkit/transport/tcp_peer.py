"""Whether a process of ours is at the other end of a TCP connection.

A foreign adapter on a port knows no token, and any user of the machine could be quicker than it. The kernel names the
socket at the other end of a connection, and the open sockets of the child and its descendants: if it is one of these,
it is the adapter. The table of connections alone proves nothing, since it has rows of closed sockets, whose owner it
does not know.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

_ESTABLISHED = "01"  # net/tcp_states.h

_MAPPED = "0000000000000000FFFF0000"
"""The prefix of an address of IPv4 in the table of IPv6."""


def is_held(connected: socket.socket, session: int) -> bool | None:
    """Return whether a process of a session has the other end of a connection within this machine.

    None: the connection has not been accepted yet.
    """
    try:
        ends = f"{_in_table(connected.getpeername())} {_in_table(connected.getsockname())}"
    except OSError:  # it has gone
        return False
    inodes = list(_inodes(ends))
    if inodes == ["0"]:
        return None
    sockets = {f"socket:[{inode}]" for inode in inodes}
    return any(not sockets.isdisjoint(_sockets_of(process)) for process in _processes_of(session))


def _inodes(ends: str) -> Iterator[str]:
    """Yield the inode of the socket between these ends, unless it is closed; 0 before it is accepted."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:  # there is no IPv6
            continue
        for line in lines:
            fields = line.split()
            if f"{fields[1]} {fields[2]}".replace(_MAPPED, "") == ends and fields[3] == _ESTABLISHED:
                yield fields[9]


def _in_table(address: tuple[str, int]) -> str:
    """Return an address of IPv4 as the tables show it: a word in the byte order of the machine."""
    (word,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{word:08X}:{address[1]:04X}"


def _processes_of(session: int) -> Iterator[Path]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is needed
        try:
            if name.isdigit() and os.getsid(int(name)) == session:
                yield Path("/proc", name)
        except ProcessLookupError:  # it has just ended
            continue


def _sockets_of(process: Path) -> set[str]:
    sockets: set[str] = set()
    with contextlib.suppress(OSError):  # it has just ended, or has closed one
        for file in (process / "fd").iterdir():
            sockets.add(str(file.readlink()))
    return sockets
