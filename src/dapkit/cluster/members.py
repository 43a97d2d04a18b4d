"""Members of a job: its processes, as an engine knows them, and sets of them as texts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class MemberState(StrEnum):
    """The state of a member, as far as the engine or the system says it."""

    RUNNING = "running"
    STOPPED = "stopped"
    """At a breakpoint of ours, or by a step."""
    ENDED = "ended"
    """Its program has ended, and has left word how."""
    GONE = "gone"
    """Its process does not exist any more, and has left no word: it was killed, or has crashed."""
    REPLACED = "replaced"
    """Another process has its rank now."""


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a job.

    Attributes:
        name: unique in the job: its rank, else its worker's or pod's name, else its process id.
        rank: -1 if it has no rank.
        size: how many ranks the job has, by this member's launcher; 0 if it does not say.
        host: the machine it runs on.
        pid: of its process, there.
        command: its command line.
        task: its work, as the engine names it.
        socket: where its engine listens, on its machine; empty if it does not.
        state: its state.
        note: how it has ended, or which process has replaced it.
        failed: whether it has ended with an error.

    """

    name: str
    rank: int
    host: str
    pid: int
    size: int = 0
    command: str = ""
    task: str = ""
    socket: str = ""
    state: MemberState = MemberState.RUNNING
    note: str = ""
    failed: bool = False

    @property
    def is_live(self) -> bool:
        """Whether its process runs, or is stopped."""
        return self.state in (MemberState.RUNNING, MemberState.STOPPED)


def are_ranked(members: Iterable[Member]) -> bool:
    """Return whether the names of these members are ranks."""
    return all(member.rank >= 0 for member in members)


def set_text(names: Iterable[str], most: int = 12) -> str:
    """Return names as a short text: numbers as ranges (`0-4,6-63`), others in order.

    Args:
        names: of members.
        most: after as many ranges or names the text ends with their count.

    """
    numbers = sorted(int(name) for name in set(names) if name.isdecimal())
    others = sorted(name for name in set(names) if not name.isdecimal())
    parts = [f"{first}-{last}" if last > first else str(first) for first, last in _ranges(numbers)] + others
    if len(parts) <= most:
        return ",".join(parts)
    return f"{','.join(parts[:most])},... ({len(numbers) + len(others)} in all)"


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
