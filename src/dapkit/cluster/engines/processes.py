"""A job that runs already, by the numbers of its processes on this machine: nothing needs to be in the program.

The target is a process, such as the one of mpiexec or torchrun, or several. The members are the processes below it that
a launcher has numbered; without a launcher, all that run Python. Children of a member, such as loaders of data, are not
members: they have the rank of their parent.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from dapkit.cluster.engines.engine import QuietEngine
from dapkit.cluster.errors import UnknownTarget
from dapkit.cluster.launcher_variables import Rank, rank_in
from dapkit.cluster.members import Member
from dapkit.python.adapter.injection.target import command_line
from dapkit.system import procfs
from dapkit.system.this_system import SYSTEM

_HELPERS: Final = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "hydra_pmi_proxy")
"""Words in command lines of processes that belong to a library, and not to the job."""


class RunningProcesses(QuietEngine):
    """The job of some processes, and those below them."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids

    def members(self) -> list[Member]:
        """Return the members that there are now. Raises: UnknownTarget."""
        return members_below(self._pids)


def members_below(pids: Sequence[int]) -> list[Member]:
    """Return the members among processes and those below them.

    Raises:
        UnknownTarget: none of them runs Python.

    """
    for pid in pids:
        if not SYSTEM.exists(pid):
            raise UnknownTarget(f"process {pid} does not exist: it has ended, or its id is wrong")
    candidates = list(dict.fromkeys(each for pid in pids for each in (pid, *SYSTEM.descendants(pid))))
    running = [pid for pid in candidates if _runs_python(pid)]
    ranks = {pid: rank for pid in running if (rank := rank_in(_environment(pid))) is not None}
    own = [pid for pid in running if not any(word in command_line(pid) for word in _HELPERS)]
    of_job = _topmost(ranks) if ranks else own
    if not of_job:
        listed = ", ".join(map(str, pids))
        raise UnknownTarget(f"no process below {listed} runs Python: name the launcher, or processes of the job")
    host = os.uname().nodename
    members = [_member(pid, ranks.get(pid), host) for pid in of_job]
    names = [member.name for member in members]
    if len(set(names)) < len(names):  # two jobs below one process: ranks do not tell them apart
        members = [_member(pid, None, host) for pid in of_job]
    return sorted(members, key=lambda member: (member.rank, member.pid))


def _member(pid: int, rank: Rank | None, host: str) -> Member:
    name = str(pid if rank is None else rank.rank)
    size = 0 if rank is None else rank.size
    return Member(name, -1 if rank is None else rank.rank, host, pid, size=size, command=command_line(pid))


def _topmost(ranks: Mapping[int, Rank]) -> list[int]:
    """Return the processes with a rank whose parents have another rank, or none."""
    result = []
    for pid, rank in ranks.items():
        parent = _parent(pid)
        while parent > 1 and parent not in ranks:
            parent = _parent(parent)
        if ranks.get(parent) is None or ranks[parent].rank != rank.rank:
            result.append(pid)
    return result


def _parent(pid: int) -> int:
    return int(procfs.status_of(pid).get("PPid", "0"))


def _runs_python(pid: int) -> bool:
    try:
        name = Path(f"/proc/{pid}/exe").readlink().name
    except OSError:  # of another user, of the kernel, or ended
        return False
    if name.startswith("python"):
        return True
    return any("/libpython" in path for path in procfs.mapped_files(pid))


def _environment(pid: int) -> dict[str, str]:
    try:
        content = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return dict(_pairs(content.decode(errors="replace").split("\0")))


def _pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    for word in words:
        name, _, value = word.partition("=")
        yield name, value
