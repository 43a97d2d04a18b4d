"""Handles of processes on POSIX systems."""

import select

from dapkit.system.interface import ProcessHandle, override


class PolledHandle(ProcessHandle):
    """A process whose descriptor shows its end to `poll`."""

    @override
    def has_ended(self, seconds: float = 0.0) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
