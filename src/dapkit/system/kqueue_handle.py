"""The end of a process, as the kqueue of macOS and the BSDs reports it."""

import select
import signal

from dapkit.system.interface import override, send_unless_ended
from dapkit.system.polled_handle import PolledHandle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class KqueueHandle(PolledHandle):
    """A kqueue in which the end of the process is the only event: the queue itself can be waited for."""

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
