"""Where all threads of a program stand, and the locks that they wait for."""

from dapkit.agent.results.snapshot import OfSession
from dapkit.agent.results.values import FrameRow
from dapkit.protocol import ProtocolObject


class StackGroup(ProtocolObject, frozen=True, kw_only=True):
    """Threads, goroutines or tasks with the same stack.

    Attributes:
        threads: names of the first ones.
        count: how many they are.
        frames: innermost first.
        own: which of the frames are the user's own code, by index.
        more: whether there are further frames.
        problem: why their frames could not be read.

    """

    threads: list[str]
    count: int
    frames: list[FrameRow]
    own: list[int]
    more: bool = False
    problem: str | None = None


class LockWait(ProtocolObject, frozen=True, kw_only=True):
    """A lock for which threads wait, or whose owner has ended.

    Attributes:
        lock: the expression that leads to it.
        kind: `Lock` or `RLock`.
        waiting: threads that wait for it, each with the place.
        holder: the thread that has it: by the lock itself, or by its source.
        ended_owner: identity of a thread that has taken it and has ended.
        is_strange: whether no variable of the holder leads to it: another thread, which has ended, may have had the
            identity of the holder.

    """

    lock: str
    kind: str
    waiting: list[str]
    holder: str | None = None
    ended_owner: int | None = None
    is_strange: bool = False


class StacksResult(OfSession, frozen=True, kw_only=True):
    """The stacks of all threads.

    Attributes:
        groups: those in the user's own code first.
        locks: absent if the adapter cannot say anything of locks.
        deadlock: threads that wait for each other in a circle.
        paused: whether the program was stopped for it, and let run again.
        more: how many threads are not shown.

    """

    groups: list[StackGroup]
    more: int
    paused: bool
    locks: list[LockWait] | None = None
    deadlock: list[str] | None = None
