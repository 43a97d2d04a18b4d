"""Facts about processes from /proc, for which the standard library has no function.

A process may end at any moment, another user's tells little, and other systems than Linux have nothing of it: where
there is nothing to read, an answer is empty.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dapkit.system.selection import LINUX, NAME

KIBIBYTE = 1024
LISTEN, ESTABLISHED = "0A", "01"
"""States of TCP sockets as `/proc/net/tcp` shows them (net/tcp_states.h)."""


class TcpSocket(NamedTuple):
    """A row of `/proc/net/tcp`: addresses as hexadecimal `WORD:PORT`, and the number of the socket's inode."""

    local: str
    remote: str
    state: str
    inode: str

    @property
    def link(self) -> str:
        """The target of a descriptor of this socket, as `sockets_of` has it."""
        return f"socket:[{self.inode}]"


def status_of(pid: int) -> dict[str, str]:
    """Return the fields of `/proc/PID/status`."""
    fields = (line.partition(":") for line in _lines(Path(f"/proc/{pid}/status")))
    return {name: value.strip() for name, _, value in fields}


def pids() -> Iterator[int]:
    """Yield the numbers of all processes that can be seen."""
    for name in os.listdir("/proc") if NAME == LINUX else ():
        if name.isdecimal():
            yield int(name)


def stat_of(pid: int) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` that follow the name of the process: its state, its parent and so on."""
    if NAME != LINUX:
        return []
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:  # it has ended
        return []


def mapped_files(pid: int) -> dict[str, int]:
    """Return the files that a process has mapped, with their bytes in its memory."""
    sizes: dict[str, int] = {}
    for line in _lines(Path(f"/proc/{pid}/maps")):
        span, *_, path = line.split(maxsplit=5)
        if path.startswith("/"):
            begin, end = (int(part, 16) for part in span.split("-"))
            sizes[path] = sizes.get(path, 0) + end - begin
    return sizes


def memory_sizes(pid: int) -> dict[str, int]:
    """Return the bytes of a process's memory by kind, such as `Rss`, and `Pss`, which divides shared memory."""
    fields = (line.partition(":") for line in _lines(Path(f"/proc/{pid}/smaps_rollup"))[1:])
    return {name: int(value.split()[0]) * KIBIBYTE for name, _, value in fields}


def tcp_sockets(folder: Path = Path("/proc/net")) -> Iterator[TcpSocket]:
    """Yield the TCP sockets of a network namespace, by default ours."""
    for table in ("tcp", "tcp6"):
        for line in _lines(folder / table)[1:]:
            _, local, remote, state, *_ = fields = line.split()
            yield TcpSocket(local, remote, state, fields[9])


def sockets_of(pid: int) -> set[str]:
    """Return the targets of the descriptors of a process that are sockets."""
    links: set[str] = set()
    if NAME != LINUX:
        return links
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # it was closed meanwhile
                links.add(str(file.readlink()))
    return {link for link in links if link.startswith("socket:")}


def _lines(file: Path) -> list[str]:
    if NAME != LINUX:
        return []
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []
