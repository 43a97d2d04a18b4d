"""A request beyond the specification about locks that are taken, as dapkit's Python adapter answers it."""

from typing import Final

from dapkit.protocol.base import Arguments, ProtocolObject

LOCKS: Final = "dapkit/locks"


class LockPlace(ProtocolObject, frozen=True, kw_only=True):
    """A call whose variables lead to a lock.

    Attributes:
        thread_id: of the call.
        expression: that leads from its variables to the lock.

    """

    thread_id: int
    function: str
    path: str
    line: int
    expression: str


class TakenLock(ProtocolObject, frozen=True, kw_only=True):
    """A lock that is taken.

    Attributes:
        kind: `Lock` or `RLock`; only the latter knows its owner.
        count: how many times its owner has taken it.
        places: calls that know it, the newest of each thread first.
        owner_id: the thread that has taken it, if that is known and lives.
        ended_owner: identity of the thread that has taken it, if it has ended.

    """

    kind: str
    count: int
    places: list[LockPlace]
    owner_id: int | None = None
    ended_owner: int | None = None


class LocksBody(ProtocolObject, frozen=True, kw_only=True):
    """The locks that are taken and that variables of running calls lead to."""

    locks: list[TakenLock]


class LocksArguments(Arguments[LocksBody], frozen=True, kw_only=True):
    """Asks for the locks that are taken; the program may run."""

    command = LOCKS
