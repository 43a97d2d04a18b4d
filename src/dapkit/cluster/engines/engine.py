"""The questions that a job has for the engine that runs its processes."""

from typing import Protocol

from dapkit.cluster.members import Member
from dapkit.protocol import ProtocolObject


class JobWait(ProtocolObject, frozen=True, kw_only=True):
    """Work that waits for a member, as the engine knows it.

    Attributes:
        waiting: the work, such as the key of a task, or the first of several.
        count: how many pieces of work wait for the same.
        on: the awaited work.
        member: name of the member that does it; empty if no member does yet.
        seconds: since when; 0 if that is not known.

    """

    waiting: str
    count: int
    on: str
    member: str = ""
    seconds: float = 0.0


class JobEngine(Protocol):
    """An engine that exists, and one job of it."""

    def members(self) -> list[Member]:
        """Return the members that there are now, and those that have been. Raises: UnknownTarget."""

    def inject(self) -> None:
        """Make all members listen for us, if the engine can do that; it returns when they do. Raises: JobError."""

    def waits(self) -> list[JobWait] | None:
        """Return the work that waits, the longest wait first; None if the engine does not know."""

    def notes(self) -> list[str]:
        """Return facts that matter if members are stopped."""

    def hold(self) -> None:
        """Lift the timeouts after which the engine takes a stopped process for dead. Raises: JobError."""

    def release(self) -> None:
        """Put back the timeouts that `hold` has lifted. Raises: JobError."""

    def close(self) -> None:
        """End the connection to the engine."""


class QuietEngine:
    """The part of engines that nothing can be asked: they carry no calls, and know no waits."""

    def inject(self) -> None:
        """Do nothing: members listen already, or are entered one by one."""

    def waits(self) -> list[JobWait] | None:
        """Return that it is not known."""
        return None

    def notes(self) -> list[str]:
        """Return nothing."""
        return []

    def hold(self) -> None:
        """Do nothing: the engine has no timeout for a process."""

    def release(self) -> None:
        """Do nothing: nothing was lifted."""

    def close(self) -> None:
        """Do nothing: there is no connection."""
