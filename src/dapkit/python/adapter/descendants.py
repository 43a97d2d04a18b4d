"""Everything that a program has started, for the time when nothing of it is to be left.

Most of that is in the program's process group. A child that leads a session of its own (`setsid`) is
not, but has the program among its ancestors. What lost its parent, as a daemon has on purpose,
becomes a child of the adapter where that adopts orphans, as `python -m dapkit.python` does.
"""

import contextlib
import functools
import os
import signal
from collections.abc import Collection
from pathlib import Path

import anyio

from dapkit import limits

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

_wanted = False
_accounted: set[int] = set()
"""Children of this process that it has started itself."""


def adopt_orphans() -> None:
    """Have this process adopt whatever below it loses its parent, from the first program on.

    For a process that is nothing but an adapter.
    """
    global _wanted  # noqa: PLW0603 - as the system has it: once for the process
    _wanted = True


@functools.cache
def _adopts() -> bool:
    """Have this process adopt orphans, if possible; say whether that worked."""
    if not _wanted:
        return False
    import ctypes  # takes milliseconds, and is needed nowhere else

    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def account_for(pid: int) -> None:
    """Take note of a child of ours that is not to be taken for an orphan."""
    _accounted.add(pid)


class Descendants:
    """The descendants of a program, as far as they were seen.

    Invariant: each is held by a pidfd, so that what is killed is what was seen.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = _children_of(os.getpid()) if _adopts() else set()
        self._members: dict[int, int] = {}
        account_for(pid)

    def look(self) -> None:
        """Look which processes there are now; to be called while the program still runs."""
        for pid in _descendants({self._pid}):
            self._add(pid)

    def _add(self, pid: int) -> None:
        if pid not in self._members and pid != self._pid:
            with contextlib.suppress(ProcessLookupError):
                self._members[pid] = os.pidfd_open(pid)

    async def kill(self) -> None:
        """Kill all that were seen, and what they have started meanwhile; the program itself is not ours to kill."""
        for _ in range(limits.FAMILY_ROUNDS):
            known = set(self._members)
            for pid in _descendants(set(self._members)) | self._orphans():
                self._add(pid)
            for handle in self._members.values():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            if known == set(self._members):
                break
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            for pid, handle in self._members.items():
                await anyio.wait_readable(handle)
                with contextlib.suppress(ChildProcessError):  # only orphans are children of ours
                    os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222 - it has ended
        self.forget()

    def _orphans(self) -> set[int]:
        """Return those that were given to us since the program has started."""
        if not _adopts():
            return set()
        adopted = _children_of(os.getpid()) - self._before - _accounted
        return adopted | _descendants(adopted)

    def forget(self) -> None:
        """Let all of them be."""
        for handle in self._members.values():
            os.close(handle)
        self._members.clear()


def _children_of(pid: int) -> set[int]:
    return {child for child, parent in _parents().items() if parent == pid}


def _descendants(ancestors: Collection[int]) -> set[int]:
    """Return all processes below some."""
    parents = _parents()
    found = set(ancestors)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - set(ancestors)


def _parents() -> dict[int, int]:
    """Return the parent of every process of the machine."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - a thousand paths would be made for nothing
        if name.isdigit():
            try:
                status = Path("/proc", name, "stat").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(name)] = int(status.rpartition(b")")[2].split()[1])
    return parents
