"""The members that a job may wait for, from their states and stacks: the fewer a finding has, the earlier it comes.

A job that hangs waits in one place with most of its members; the others are the findings (`late`). Where no group has
more than half of the members, that rule says nothing, and neither do we. Over several rounds the member that was late
most often is a straggler; if others are late in each round, some step is slow, and no member.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from dapkit.cluster.members import Member, MemberState
from dapkit.cluster.stack_groups import MAIN, GroupedCall, MemberGroup
from dapkit.protocol import ProtocolObject, changed

_STRAGGLER: Final = 0.6
"""Part of the rounds in which a straggler is late, at least."""


class FindingKind(StrEnum):
    """Why members are named."""

    GONE = "gone"
    """Their processes do not exist any more."""
    ENDED = "ended"
    """Their programs have ended, while others run."""
    ABSENT = "absent"
    """The launcher counts them, and no process has their rank."""
    UNREADABLE = "unreadable"
    """Their stacks could not be read."""
    SUSPENDED = "suspended"
    """A signal has stopped their processes."""
    TEARDOWN = "teardown"
    """Their programs' code has ended, and their processes have not."""
    KERNEL = "kernel"
    """They are in a call of the system that cannot be interrupted, such as one to a disk."""
    INTERPRETER = "interpreter"
    """A thread of theirs holds the lock of the interpreter, for which their main threads wait."""
    LATE = "late"
    """They are elsewhere than more than half of the members."""
    STOPPED = "stopped"
    """They are elsewhere, since a breakpoint or a step of ours has stopped them."""
    STRAGGLER = "straggler"
    """They were late in most rounds."""


class JobFinding(ProtocolObject, frozen=True, kw_only=True):
    """Members that the job may wait for.

    Attributes:
        kind: why.
        members: their names.
        calls: their stack, the innermost first, if it was read.
        note: further facts.
        rounds: in how many rounds it was seen, of a straggler.

    """

    kind: str
    members: list[str]
    calls: list[GroupedCall]
    note: str = ""
    rounds: int = 0


def majority(groups: Sequence[MemberGroup]) -> MemberGroup | None:
    """Return the group of main threads that has more than half of the members; None if no group has."""
    mains = [group for group in groups if group.thread == MAIN]
    largest = max(mains, key=lambda group: len(group.members), default=None)
    if largest is None or 2 * len(largest.members) <= sum(len(group.members) for group in mains):
        return None
    return largest


def late(groups: Sequence[MemberGroup]) -> set[str]:
    """Return the members whose main threads are not where more than half of them are."""
    most = majority(groups)
    if most is None:
        return set()
    return {name for group in groups if group.thread == MAIN and group is not most for name in group.members}


def absent_ranks(members: Sequence[Member]) -> list[str]:
    """Return the ranks that the launcher counts and that no member of the whole job has."""
    size = max((member.size for member in members), default=0)
    ranks = {member.rank for member in members}
    return [str(rank) for rank in range(size) if rank not in ranks]


def findings_of(
    members: Sequence[Member],
    groups: Sequence[MemberGroup],
    *,
    problems: Mapping[str, str],
    suspended: Sequence[str],
    absent: Sequence[str],
) -> list[JobFinding]:
    """Return the findings of one look.

    Args:
        members: of the job.
        groups: of their stacks.
        problems: why the stacks of some could not be read.
        suspended: those that a signal has stopped.
        absent: ranks without a process.

    """
    result = list(_without_process(members))
    if absent:
        size = max(member.size for member in members)
        note = f"the launcher counts {size} ranks"
        result.append(JobFinding(kind=FindingKind.ABSENT, members=[*absent], calls=[], note=note))
    if suspended:
        stacks = {name: group.calls for group in groups if group.thread == MAIN for name in group.members}
        result += [
            JobFinding(kind=FindingKind.SUSPENDED, members=[name], calls=stacks.get(name, [])) for name in suspended
        ]
    apart = set(suspended)
    most = majority(groups)
    result += _by_stack(groups, most, apart, {member.name: member for member in members})
    return [*result, *_without_stack(members, problems)]


def with_stragglers(findings: Sequence[JobFinding], rounds: Sequence[Sequence[MemberGroup]]) -> list[JobFinding]:
    """Return the findings of the last of several rounds, with the stragglers first."""
    if len(rounds) < 2:
        return list(findings)
    slow = _stragglers(rounds)
    names = {name for finding in slow for name in finding.members}
    others = [each for each in findings if each.kind != FindingKind.LATE or not names.issuperset(each.members)]
    return [*slow, *others]


def with_stops(findings: Sequence[JobFinding], stopped: AbstractSet[str]) -> list[JobFinding]:
    """Name the members that are elsewhere because they are stopped by us."""
    late_or_slow = (FindingKind.LATE, FindingKind.STRAGGLER)
    return [
        changed(finding, kind=FindingKind.STOPPED)
        if finding.kind in late_or_slow and all(name in stopped for name in finding.members)
        else finding
        for finding in findings
    ]


def _stragglers(rounds: Sequence[Sequence[MemberGroup]]) -> list[JobFinding]:
    """Return the members that were late in most of the rounds, the most often late first."""
    times: Counter[str] = Counter()
    stacks: dict[str, list[GroupedCall]] = {}
    size = 0
    for groups in rounds:
        size = max(size, sum(len(group.members) for group in groups if group.thread == MAIN))
        apart = late(groups)
        times.update(apart)
        for group in groups:
            if group.thread == MAIN:
                stacks |= {name: group.calls for name in group.members if name in apart}
    least = max(2, _STRAGGLER * len(rounds))
    slow = [name for name, count in times.most_common() if count >= least]
    if 2 * len(slow) > size:
        return []
    return [
        JobFinding(kind=FindingKind.STRAGGLER, members=[name], calls=stacks[name], rounds=times[name]) for name in slow
    ]


def moving(rounds: Sequence[Sequence[MemberGroup]]) -> list[str]:
    """Return the members whose main threads were not at the same place in all rounds."""
    places: dict[str, set[tuple[object, ...]]] = {}
    for groups in rounds:
        for group in groups:
            if group.thread == MAIN:
                for name in group.members:
                    places.setdefault(name, set()).add(group.key)
    return [name for name, keys in places.items() if len(keys) > 1]


def _without_process(members: Sequence[Member]) -> Iterable[JobFinding]:
    kinds = {MemberState.GONE: FindingKind.GONE, MemberState.ENDED: FindingKind.ENDED}
    together: dict[tuple[FindingKind, str], list[str]] = {}
    some_live = any(member.is_live for member in members)
    for member in members:
        # Of a job that has ended, only failures matter.
        if member.state in kinds and (some_live or member.failed or member.state == MemberState.GONE):
            together.setdefault((kinds[member.state], member.note), []).append(member.name)
    for (kind, note), names in together.items():
        yield JobFinding(kind=kind, members=names, calls=[], note=note)


def _without_stack(members: Sequence[Member], problems: Mapping[str, str]) -> Iterable[JobFinding]:
    """Yield the members that could not be read: after its program's end, a process has no interpreter any more."""
    ends = {member.name: member.note for member in members}
    together: dict[tuple[FindingKind, str], list[str]] = {}
    for name, problem in problems.items():
        end = ends.get(name, "")
        key = (FindingKind.TEARDOWN, end) if end else (FindingKind.UNREADABLE, problem)
        together.setdefault(key, []).append(name)
    for (kind, note), names in together.items():
        yield JobFinding(kind=kind, members=names, calls=[], note=note)


def _by_stack(
    groups: Sequence[MemberGroup], most: MemberGroup | None, apart: set[str], members: Mapping[str, Member]
) -> Iterable[JobFinding]:
    mains = sorted((group for group in groups if group.thread == MAIN), key=lambda group: len(group.members))
    waiting = {name for group in mains if not group.running for name in group.members}
    for group in groups:
        blocked = [name for name in group.members if name in waiting and name not in apart]
        if group.thread != MAIN and group.holding == len(group.members) and blocked:
            apart.update(blocked)
            yield JobFinding(kind=FindingKind.INTERPRETER, members=blocked, calls=group.calls, note=group.thread)
    for group in mains:
        names = [name for name in group.members if name not in apart]
        if not names:
            continue
        if group.in_kernel == len(group.members):
            yield JobFinding(kind=FindingKind.KERNEL, members=names, calls=group.calls)
        elif group.ended and group is not most:
            of_note: dict[str, list[str]] = {}
            for name in names:
                of_note.setdefault(members[name].note if name in members else "", []).append(name)
            for note, together in of_note.items():
                yield JobFinding(kind=FindingKind.TEARDOWN, members=together, calls=group.calls, note=note)
        elif most is not None and group is not most:
            yield JobFinding(
                kind=FindingKind.LATE,
                members=names,
                calls=group.calls,
                note=_activity(group, [members[name].task for name in names if name in members]),
            )


def _activity(group: MemberGroup, tasks: Sequence[str]) -> str:
    """Return the work of members, as the end of a sentence about them."""
    work = f"at work on {', '.join(sorted({*filter(None, tasks)})[:3])}" if any(tasks) else ""
    return " and ".join(filter(None, (_use(group), work)))


def _use(group: MemberGroup) -> str:
    if group.holding == len(group.members):
        return "holds the interpreter" if len(group.members) == 1 else "hold the interpreter"
    if group.running == len(group.members):
        return "runs" if len(group.members) == 1 else "run"
    return ""
