"""A job whose processes were started by `dapkit.cluster.run`: its members have registered in a folder.

The folder tells who has been there, so that a member that is killed is known as gone. A rank that has registered
again, as torchrun's elastic restarts do, replaces the earlier one.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dapkit.cluster.engines.engine import QuietEngine
from dapkit.cluster.errors import UnknownTarget
from dapkit.cluster.members import Member, MemberState
from dapkit.cluster.registrations import Registration, read_all
from dapkit.system import procfs
from dapkit.system.this_system import SYSTEM


class JobFolder(QuietEngine):
    """The job whose members register in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def members(self) -> list[Member]:
        """Return the members of the newest run. Raises: UnknownTarget."""
        return members_in(self._folder)


def members_in(folder: Path) -> list[Member]:
    """Return the members of the job in a folder: of its newest run, on each machine.

    Raises:
        UnknownTarget: the folder has no registrations, or cannot be trusted.

    """
    try:
        registrations = read_all(folder)
    except PermissionError as error:
        raise UnknownTarget(str(error)) from None
    except OSError as error:
        raise UnknownTarget(f"{folder} cannot be read: {error.strerror}") from None
    if not registrations:
        raise UnknownTarget(
            f"no process has registered in {folder}: start each by `python -m dapkit.cluster.run -- PROGRAM`, or name "
            "the process id of the launcher"
        )
    newest = {registration["host"]: registration["run"] for registration in registrations}
    of_run = [each for each in registrations if each["run"] == newest[each["host"]]]
    members = [_member(registration) for registration in of_run]
    return sorted(_with_replaced(members, of_run), key=lambda member: (member.rank, member.pid))


def _member(registration: Registration) -> Member:
    rank, pid = registration["rank"], registration["pid"]
    member = Member(
        name=str(rank if rank >= 0 else pid),
        rank=rank,
        host=registration["host"],
        pid=pid,
        size=registration["size"],
        command=registration["command"],
        socket=registration["socket"],
    )
    is_here = member.host == os.uname().nodename
    lives = is_here and _lives(pid, registration["started"])
    if "code" in registration:
        error = registration.get("error", "")
        note = f"exit code {registration['code']}" + (f": {error}" if error else "")
        state = MemberState.RUNNING if lives else MemberState.ENDED
        return replace(member, state=state, note=note, failed=registration["code"] != 0)
    if is_here and not lives:
        return replace(member, state=MemberState.GONE, note="its process does not exist, and has left no word")
    return member


def _lives(pid: int, registered: float) -> bool:
    """Return whether the process exists that has registered at a time, and not a later one of the same number."""
    state = procfs.status_of(pid).get("State", "")
    if not state or state.startswith(("Z", "X")):
        return False
    try:
        return SYSTEM.started_at(pid) < registered + 2.0
    except OSError:  # it has ended meanwhile
        return False


def _with_replaced(members: Sequence[Member], registrations: Sequence[Registration]) -> list[Member]:
    """Name those replaced whose rank another process has now; the later ones come later."""
    latest = {member.name: member for member in members}
    result = []
    for member, _ in zip(members, registrations, strict=True):
        successor = latest[member.name]
        if successor is member:
            result.append(member)
        else:
            note = f"process {successor.pid} has its rank now"
            result.append(replace(member, name=f"{member.name}@{member.pid}", state=MemberState.REPLACED, note=note))
    return result
