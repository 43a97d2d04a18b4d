"""POSIX systems other than Linux: macOS and the BSDs.

The ends of processes are noticed by kqueue; facts about other processes come from psutil. On Linux, where tests take it
for such a system, there is no kqueue: a thread waits for each process instead.
"""

import os
import select
import socket
import sys
from contextlib import suppress

from dapkit.system.interface import ProcessHandle, override
from dapkit.system.posix_processes import PosixProcesses
from dapkit.system.psutil_facts import PsutilFacts
from dapkit.system.selection import IS_MACOS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_SOL_LOCAL = 0
_LOCAL_PEERCRED, _LOCAL_PEERPID = 1, 2
"""sys/un.h of macOS and FreeBSD."""
_XUCRED_BYTES = 128
"""More than struct xucred of sys/ucred.h: version, user and more, of 4 bytes each."""


class Posix(PosixProcesses, PsutilFacts):
    """The answers of POSIX systems."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}  # of children that had to be reaped to know them

    @override
    def open_process(self, pid: int) -> ProcessHandle:
        if pid <= 0:  # to the system, a group
            raise ProcessLookupError(f"{pid} is not a process")
        if not hasattr(select, "kqueue"):
            from dapkit.system.thread_handle import ThreadHandle

            return ThreadHandle(pid)
        from dapkit.system.polled_handle import KqueueHandle

        return KqueueHandle(pid)

    @override
    def exit_code(self, pid: int) -> int | None:
        if hasattr(os, "waitid"):  # on macOS since Python 3.13
            status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if status is None:
                return None
            return int(status.si_status if status.si_code == os.CLD_EXITED else -status.si_status)
        if pid not in self._codes:
            ended, number = os.waitpid(pid, os.WNOHANG)
            if not ended:
                return None
            self._codes[pid] = os.waitstatus_to_exitcode(number)
        return self._codes[pid]

    @override
    def reap(self, pid: int) -> None:
        if self._codes.pop(pid, None) is None:
            os.waitpid(pid, 0)  # it has ended: there is nothing to wait for

    @override
    def exists(self, pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    @override
    def is_exiting(self, pid: int) -> bool:
        from dapkit.system.thread_handle import lives

        return not lives(pid)

    @override
    def is_suspended(self, pid: int) -> bool:
        import psutil

        try:
            return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
        except psutil.Error:
            return False

    @override
    def limit_sizes(self, pid: int, *, file: int, memory: int) -> None:
        pass  # only a process itself can do so

    @override
    def peer_of(self, connected: socket.socket) -> tuple[int, int]:
        if not hasattr(select, "kqueue"):
            # Linux in tests, without its own way: the folder of the socket admits our user alone.
            return 0, os.geteuid()
        credentials = connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
        user = int.from_bytes(credentials[4:8], sys.byteorder)
        if not IS_MACOS:
            return 0, user
        return int.from_bytes(connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4), sys.byteorder), user

    @override
    def bind_private(self, listening: socket.socket, path: str) -> None:
        listening.bind(path)
        os.chmod(path, 0o600)

    @override
    def is_held_by_session(self, connected: socket.socket, session: int) -> bool | None:
        import psutil

        try:
            ends = connected.getpeername()[:2], connected.getsockname()[:2]
        except OSError:  # it has gone
            return False
        for pid in psutil.pids():
            with suppress(ProcessLookupError, PermissionError, psutil.Error):
                if os.getsid(pid) == session and ends in _ends_of(pid):
                    return True
        return None  # a connection that is not accepted is not seen, as one of another user is not

    @override
    def process_listening_on(self, port: int) -> int | None:
        import psutil

        return next((pid for pid in psutil.pids() if port in self.listening_ports(pid)), None)

    @override
    def own_file(self, descriptor: int) -> int | None:
        return None  # /dev/fd duplicates a descriptor, and its flags with it


def _ends_of(pid: int) -> "Iterator[tuple[tuple[str, int], tuple[str, int]]]":
    """Yield the ends of the TCP connections of a process: its own, and the other one."""
    import psutil

    for each in psutil.Process(pid).net_connections("tcp"):
        if each.raddr:
            yield (each.laddr.ip, each.laddr.port), (each.raddr.ip, each.raddr.port)
