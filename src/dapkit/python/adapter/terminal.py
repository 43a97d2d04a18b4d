"""The debugged program in a terminal of the client's.

The client starts it, so it is not a child of ours: we have none of its output, and
learn its exit code from the engine alone. Its process is the one that the link comes
from; what the client names may be a shell, or a terminal program that hands over to
another and ends at once.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from dapkit.python.adapter.descendants import Descendants
from dapkit.python.adapter.link import NeverCame
from dapkit.transport import Connection


class TerminalProgram:
    """A program that runs in a terminal; made by `found`."""

    returncode: None = None
    """The system reports it to the parent of a process only."""

    def __init__(self, link: Connection, pid: int, handle: int) -> None:
        self._link = link
        self._pid = pid
        self._handle = handle
        self._family = Descendants(pid)

    async def wait(self) -> None:
        """Wait until the program has ended: its engine lives as long as it does."""
        await self._link.wait_ended()

    async def report_output(self) -> None:
        """Do nothing: its output is in the terminal."""

    def interrupted(self) -> None:
        """Take note that it was asked to end."""

    def send_term(self) -> None:
        """Send it SIGTERM."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGTERM)

    async def kill(self) -> None:
        """Kill it, with the group that a shell has made for it if there is one, and all that it has started."""
        self._family.look()
        with contextlib.suppress(ProcessLookupError):
            leads_group = os.getpgid(self._pid) == self._pid
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            if leads_group:
                os.killpg(self._pid, signal.SIGKILL)
        await self._family.kill()

    def release(self) -> None:
        """Let it run on: nothing of ours keeps it from that."""


@contextmanager
def found(link: Connection, pid: int) -> Iterator[TerminalProgram]:
    """Take hold of the process at the other end of a link.

    Raises:
        NeverCame: it has ended already.

    """
    try:
        handle = os.pidfd_open(pid)
    except OSError as error:
        raise NeverCame(f"the program in the terminal cannot be reached: {error.strerror}") from error
    try:
        yield TerminalProgram(link, pid, handle)
    finally:
        os.close(handle)
