"""Which members wait for which in a collective operation, as PyTorch's flight recorders tell.

Each rank numbers the collectives that it begins in a process group. Ranks that wait in the newest one wait for those
of the group that have not begun it, or that have begun another operation in its place.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dapkit.cluster.engines.engine import JobWait
from dapkit.cluster.members import set_text
from dapkit.protocol import ProtocolObject


class Collective(ProtocolObject, frozen=True, kw_only=True):
    """The last collective that a rank has begun in one process group.

    Attributes:
        group: name of the group.
        title: description of the group, such as `default_pg`; else its name.
        number: of the collective in the group.
        operation: such as broadcast.
        waits: whether the rank has begun it and not left it.
        seconds: since it was begun.

    """

    group: str
    title: str
    number: int
    operation: str
    waits: bool
    seconds: float


class FlightRecords(ProtocolObject, frozen=True, kw_only=True):
    """The flight recorders of a job at one moment.

    Attributes:
        collectives: by rank, of the ranks that have answered.
        groups: ranks of the process groups, by their names, as far as they are known.
        silent: ranks that have not answered for one of the backends, or have no records: their recorder may be off.

    """

    collectives: dict[int, list[Collective]]
    groups: dict[str, list[int]]
    silent: list[int]


def waits_in(records: FlightRecords, names: Mapping[int, str]) -> list[JobWait]:
    """Return which members wait for which, the longest wait first.

    Args:
        records: of all ranks.
        names: of the members, by rank.

    """
    of_group: defaultdict[str, dict[int, Collective]] = defaultdict(dict)
    for rank, collectives in records.collectives.items():
        for collective in collectives:
            of_group[collective.group][rank] = collective
    waits = [
        wait
        for group, by_rank in of_group.items()
        if any(collective.waits for collective in by_rank.values())
        for wait in _waits_in_group(by_rank, records.groups.get(group), records.silent, names)
    ]
    return sorted(waits, key=lambda wait: -wait.seconds)


def _waits_in_group(
    by_rank: Mapping[int, Collective], ranks: Sequence[int] | None, silent: Sequence[int], names: Mapping[int, str]
) -> list[JobWait]:
    newest = max(collective.number for collective in by_rank.values() if collective.waits)
    waiting = {rank: each for rank, each in by_rank.items() if each.waits and each.number == newest}
    operations: defaultdict[str, list[int]] = defaultdict(list)
    for rank, collective in waiting.items():
        operations[collective.operation].append(rank)
    absent = [rank for rank in ranks or by_rank if rank not in by_rank or by_rank[rank].number < newest]
    behind = [rank for rank in absent if rank not in silent]
    unheard = [rank for rank in absent if rank in silent]
    by_size = sorted(operations, key=lambda operation: -len(operations[operation]))
    if len(by_size) > 1:
        return [
            _wait(waiting, by_size[0], names, f"{_members(operations[other], names)}, which began {other} there")
            for other in by_size[1:]
        ]
    if behind:
        awaited = f"{_members(behind, names)}, which {_has(behind)} not begun it"
    elif unheard:
        awaited = f"{_members(unheard, names)} perhaps, of which PyTorch's debug server has no record"
    elif ranks is None:
        awaited = "members of that group that have not begun it; PyTorch does not tell which"
    else:
        awaited = "its end, which all members of that group have begun"
    return [_wait(waiting, by_size[0], names, awaited)]


def _wait(waiting: Mapping[int, Collective], operation: str, names: Mapping[int, str], awaited: str) -> JobWait:
    ranks = [rank for rank, collective in waiting.items() if collective.operation == operation]
    any_of_them = waiting[ranks[0]]
    return JobWait(
        waiting=f"{_members(ranks, names)} in {operation} {any_of_them.number} of {any_of_them.title}",
        count=1,
        on=awaited,
        seconds=max(waiting[rank].seconds for rank in ranks),
    )


def _members(ranks: Sequence[int], names: Mapping[int, str]) -> str:
    return f"member{'s' if len(ranks) > 1 else ''} {set_text(names.get(rank, str(rank)) for rank in ranks)}"


def _has(ranks: Sequence[int]) -> str:
    return "has" if len(ranks) == 1 else "have"
