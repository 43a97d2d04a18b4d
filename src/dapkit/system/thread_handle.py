"""The end of a process where no descriptor reports it: a thread looks again and again."""

import os
import signal
import threading

import psutil

from dapkit.system.interface import override, send_unless_ended
from dapkit.system.polled_handle import PolledHandle

_POLL_SECONDS = 0.02


class ThreadHandle(PolledHandle):
    """A pipe whose other end a thread closes when the process has ended."""

    def __init__(self, pid: int) -> None:
        if not psutil.pid_exists(pid):
            raise ProcessLookupError(f"process {pid} has ended")
        self.pid = pid
        self.descriptor, writing = os.pipe()
        self._closed = threading.Event()
        threading.Thread(target=self._wait, args=[writing], name=f"end of {pid}", daemon=True).start()

    def _wait(self, writing: int) -> None:
        while not self._closed.wait(_POLL_SECONDS) and lives(self.pid):
            pass
        os.close(writing)

    @override
    def has_ended(self, seconds: float = 0.0) -> bool:
        """Return whether it has ended, or does within a time."""
        return not lives(self.pid) or super().has_ended(seconds)

    @override
    def send(self, number: signal.Signals) -> None:
        send_unless_ended(self, number)

    @override
    def close(self) -> None:
        self._closed.set()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def lives(pid: int) -> bool:
    """Return whether a process exists, and has not ended."""
    try:
        return psutil.Process(pid).status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False
