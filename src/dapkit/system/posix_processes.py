"""Groups and sessions of processes, which all POSIX systems have."""

import os
import signal
import sys
from contextlib import suppress

from dapkit.system.interface import ProcessHandle, System, override

assert sys.platform != "win32"  # noqa: S101 - and so the types of POSIX hold below


class PosixProcesses(System):
    """The answers in which POSIX systems agree."""

    @override
    def signal_group(self, pid: int, number: signal.Signals) -> None:
        os.killpg(pid, number)

    @override
    def session_of(self, pid: int) -> int | None:
        try:
            return os.getsid(pid)
        except OSError:
            return None

    @override
    def group_of(self, pid: int) -> int | None:
        try:
            return os.getpgid(pid)
        except OSError:
            return None

    @override
    def kill_tree(self, process: ProcessHandle) -> None:
        with suppress(ProcessLookupError, PermissionError):
            process.send(signal.SIGSTOP)  # it starts no more of them
            for pid in self.descendants(process.pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            process.send(signal.SIGKILL)
