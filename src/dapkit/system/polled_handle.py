"""Handles of processes on POSIX systems: a descriptor shows the end of a process to `poll`."""

import select
import signal

from dapkit.system.interface import ProcessHandle, override, send_unless_ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class PolledHandle(ProcessHandle):
    """A process whose descriptor shows its end to `poll`."""

    @override
    def has_ended(self, seconds: float = 0.0) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))


class KqueueHandle(PolledHandle):
    """A kqueue, of macOS and the BSDs, whose only event is the end of the process: it can be waited for itself."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        queues: Any = select  # checkers know Linux's part of it alone
        self._queue = queues.kqueue()
        self.descriptor: int = self._queue.fileno()
        end = queues.kevent(pid, filter=queues.KQ_FILTER_PROC, flags=queues.KQ_EV_ADD, fflags=queues.KQ_NOTE_EXIT)
        try:
            self._queue.control([end], 0)
        except BaseException:
            self._queue.close()
            raise

    @override
    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        send_unless_ended(self, number)

    @override
    def close(self) -> None:
        """Close the queue."""
        self._queue.close()
