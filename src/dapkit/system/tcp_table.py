"""Whose a TCP socket is within this machine, by Linux's table of sockets."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

from dapkit.system import procfs

_MAPPED = "0000000000000000FFFF0000"
"""The prefix of an address of IPv4 in the table of IPv6."""


def is_held_by_session(connected: socket.socket, session: int) -> bool | None:
    """Return whether a process of a session has the other end, as `System` says."""
    try:
        ends = f"{_in_table(connected.getpeername())} {_in_table(connected.getsockname())}"
    except OSError:  # it has gone
        return False
    inodes = list(_inodes(ends))
    if inodes == ["0"]:
        return None
    sockets = {f"socket:[{inode}]" for inode in inodes}
    return any(not sockets.isdisjoint(procfs.sockets_of(process)) for process in _processes_of(session))


def process_listening_on(port: int) -> int | None:
    """Return the process that listens on a port, as `System` says."""
    sockets = {row.link for row in procfs.tcp_sockets() if row.state == procfs.LISTEN and _port(row) == port}
    if not sockets:
        return None
    return next((pid for pid in procfs.pids() if not sockets.isdisjoint(procfs.sockets_of(pid))), None)


def listening_ports(pid: int) -> set[int]:
    """Return the ports at which a process listens, as `System` says."""
    sockets = procfs.sockets_of(pid)
    return {_port(row) for row in procfs.tcp_sockets() if row.state == procfs.LISTEN and row.link in sockets}


def _port(row: procfs.TcpSocket) -> int:
    return int(row.local.rpartition(":")[2], 16)


def _inodes(ends: str) -> Iterator[str]:
    """Yield the inode of the socket between these ends, unless it is closed; 0 before it is accepted."""
    for row in procfs.tcp_sockets():
        if f"{row.local} {row.remote}".replace(_MAPPED, "") == ends and row.state == procfs.ESTABLISHED:
            yield row.inode


def _in_table(address: tuple[str, int]) -> str:
    """Return an address of IPv4 as the tables show it: a word in the byte order of the machine."""
    (word,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{word:08X}:{address[1]:04X}"


def _processes_of(session: int) -> Iterator[int]:
    for pid in procfs.pids():
        with suppress(ProcessLookupError):  # it has just ended
            if os.getsid(pid) == session:
                yield pid
