"""A process that leads a group of its own, from its start to the end of the whole group.

Decided here: the
order of ending: it is asked, told, killed with its group, and only then reaped,
so that its pid cannot meanwhile have become another's.
"""

import logging
import signal
from collections.abc import Callable
from contextlib import suppress

import anyio

from dapkit import limits
from dapkit.system.signals import KILL
from dapkit.system.this_system import SYSTEM

log = logging.getLogger(__name__)


class ProcessGroup:
    """A child of dapkit that was started in a new session.

    Attributes:
        pid: of the leader, which also names its group and its session.

    Invariant: the leader is reaped by `end` or `reap` alone. After that nothing is sent to the group as such, since its
    number may be another's; only processes that are still in it are killed.

    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None
        self._reaped = False

    @property
    def returncode(self) -> int | None:
        """Exit code of the leader, or minus the signal that killed it; None while it runs."""
        if self._code is None:
            self._code = SYSTEM.exit_code(self.pid)
        return self._code

    async def wait(self) -> int:
        """Wait until the leader has ended and return its `returncode`."""
        if (code := self.returncode) is not None:
            return code
        with SYSTEM.open_process(self.pid) as process:
            while (code := self.returncode) is None:
                await anyio.wait_readable(process.descriptor)
            return code

    async def end(self, *signals: signal.Signals, session: bool = False) -> None:
        """End the leader and its group, and reap it.

        The leader gets `limits.CLOSE_SECONDS` to end by itself, the same again after
        each of `signals`, which go to the whole group; then the group is killed.
        With `session` other groups of its session are, too. If the leader was reaped before, the rest of its group is
        killed at once.
        """
        if self._reaped:
            self._kill_rest()
            return
        for number in signals:
            if await self._gone():
                break
            self.send(number)
        await self._gone()
        self.send(KILL)
        if session and not self._reaped:
            await self._gone()
            _kill_members(self.pid, SYSTEM.session_of)
        await self.kill()

    async def kill(self) -> None:
        """Kill the leader and its group at once, and reap it."""
        self.send(KILL)
        if await self._gone():
            self.reap()
        else:
            log.warning("process %d does not end: the kernel holds it", self.pid)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, unless the leader was reaped."""
        if self._reaped:
            return
        try:
            SYSTEM.signal_group(self.pid, number)
        except PermissionError:  # it runs as another user, as with sudo
            log.warning("process group %d may not be sent %s", self.pid, number.name)

    def reap(self) -> None:
        """Remove the ended leader from the system's list; the rest of its group continues."""
        if not self._reaped and self.returncode is not None:
            SYSTEM.reap(self.pid)
            self._reaped = True

    def _kill_rest(self) -> None:
        """Kill the processes that the reaped leader left in its group: with such, no other process gets its pid."""
        if not SYSTEM.exists(self.pid):
            _kill_members(self.pid, SYSTEM.group_of)

    async def _gone(self) -> bool:
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await self.wait()
        return self.returncode is not None


def _kill_members(leader: int, belongs_to: Callable[[int], int | None]) -> None:
    """Kill the rest of a session or group; its leader has ended, and the number is still its own."""
    killed: set[int] = set()
    while members := _members(leader, belongs_to) - killed:  # who is found may have started another meanwhile
        killed |= members
        for pid in members:
            _kill_member(pid, leader, belongs_to)


def _members(leader: int, belongs_to: Callable[[int], int | None]) -> set[int]:
    return {pid for pid in SYSTEM.pids() if pid != leader and belongs_to(pid) == leader}


def _kill_member(pid: int, leader: int, belongs_to: Callable[[int], int | None]) -> None:
    with suppress(OSError), SYSTEM.open_process(pid) as process:  # it may have ended
        if belongs_to(pid) == leader:  # and the number has not become another's
            process.send(KILL)
