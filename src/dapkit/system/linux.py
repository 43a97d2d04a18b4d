"""Linux: process descriptors, and /proc."""

import os
import signal
import socket
import sys

from dapkit.system.interface import ProcessHandle, override
from dapkit.system.polled_handle import PolledHandle
from dapkit.system.posix_processes import PosixProcesses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


assert sys.platform == "linux"  # noqa: S101 - and so the types of Linux hold below

_PEER_BYTES = 12
"""struct ucred of sys/socket.h: process, user, group, of 4 bytes each."""
_PF_EXITING = 0x4
"""linux/sched.h: set in each thread before the process's files are closed."""


class _Pidfd(PolledHandle):
    """A descriptor of the process: no other process can be taken for it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.descriptor = os.pidfd_open(pid)

    @override
    def send(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self.descriptor, number)

    @override
    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Linux(PosixProcesses):
    """The answers of Linux."""

    @override
    def open_process(self, pid: int) -> ProcessHandle:
        return _Pidfd(pid)

    @override
    def exit_code(self, pid: int) -> int | None:
        status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    @override
    def reap(self, pid: int) -> None:
        os.waitpid(pid, 0)  # it has ended: there is nothing to wait for

    @override
    def exists(self, pid: int) -> bool:
        return os.path.exists(f"/proc/{pid}")

    @override
    def pids(self) -> "Iterator[int]":
        from dapkit.system import procfs

        return procfs.pids()

    @override
    def parents(self) -> dict[int, int]:
        from dapkit.system import procfs

        return {pid: int(fields[1]) for pid in procfs.pids() if (fields := procfs.stat_of(pid))}

    @override
    def is_exiting(self, pid: int) -> bool:
        from dapkit.system import procfs

        fields = procfs.stat_of(pid)
        return not fields or bool(int(fields[6]) & _PF_EXITING)

    @override
    def is_suspended(self, pid: int) -> bool:
        from dapkit.system import procfs

        return procfs.stat_of(pid)[:1] == [b"T"]

    @override
    def folder_of(self, pid: int) -> str:
        return os.readlink(f"/proc/{pid}/cwd")

    @override
    def executable_of(self, pid: int) -> str:
        return os.readlink(f"/proc/{pid}/exe")

    @override
    def program_file(self, pid: int) -> str:
        return f"/proc/{pid}/exe"

    @override
    def command_of(self, pid: int) -> list[str]:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")

    @override
    def has_in_environment(self, pid: int, text: bytes) -> bool:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return text in file.read()

    @override
    def shares_files(self, pid: int) -> bool:
        try:
            return os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
        except OSError:  # of another user
            return True

    @override
    def started_at(self, pid: int) -> float:
        import time

        from dapkit.system import procfs

        fields = procfs.stat_of(pid)
        if not fields:
            raise ProcessLookupError(f"process {pid} has ended")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - age

    @override
    def limit_sizes(self, pid: int, *, file: int, memory: int) -> None:
        import resource

        resource.prlimit(pid, resource.RLIMIT_FSIZE, (file, file))
        resource.prlimit(pid, resource.RLIMIT_DATA, (memory, memory))

    @override
    def usable_cpus(self) -> int:
        return len(os.sched_getaffinity(0))

    @override
    def memory_of(self, pid: int) -> tuple[int | None, int | None]:
        from dapkit.system import procfs

        sizes = procfs.memory_sizes(pid)
        return sizes.get("Rss"), sizes.get("Pss")

    @override
    def memory_sizes(self) -> tuple[int, int]:
        with open("/proc/meminfo", "rb") as file:
            kibibytes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(b":") for line in file)}
        return kibibytes[b"MemTotal"] * 1024, kibibytes[b"MemAvailable"] * 1024

    @override
    def shared_memory(self, name: str, size: int) -> int | None:
        import fcntl

        descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        # A process that made it smaller would end us at our next look.
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return descriptor

    @override
    def peer_of(self, connected: socket.socket) -> tuple[int, int]:
        credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_BYTES)
        return int.from_bytes(credentials[:4], sys.byteorder), int.from_bytes(credentials[4:8], sys.byteorder)

    @override
    def bind_private(self, listening: socket.socket, path: str) -> None:
        os.fchmod(listening.fileno(), 0o600)  # bind makes the file with the mode of the socket
        listening.bind(path)

    @override
    def is_held_by_session(self, connected: socket.socket, session: int) -> bool | None:
        from dapkit.system.tcp_table import is_held_by_session

        return is_held_by_session(connected, session)

    @override
    def process_listening_on(self, port: int) -> int | None:
        from dapkit.system.tcp_table import process_listening_on

        return process_listening_on(port)

    @override
    def listening_ports(self, pid: int) -> set[int]:
        from dapkit.system.tcp_table import listening_ports

        return listening_ports(pid)

    @override
    def own_file(self, descriptor: int) -> int | None:
        # Opened anew it is an open file of our own, with a flag of our own.
        try:
            return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:  # a pipe of another user, no /proc
            return None
