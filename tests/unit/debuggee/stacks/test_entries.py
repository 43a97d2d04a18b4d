"""Entries of a stack are looked for as far as a client wants to see them."""

import inspect
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from types import FrameType

from dapkit.python.debuggee.execution.parked_thread import StackEntry
from dapkit.python.debuggee.stacks.frames import StackEntries
from operations import operations


class DeepStack:
    """A stack of one frame, many times over, that counts how often it was gone through and how far."""

    def __init__(self, frame: FrameType, depth: int) -> None:
        self.depth = depth
        self.gone_through = 0
        self._frame = frame

    def entries(self) -> Iterator[StackEntry]:
        """Go through it."""
        for entry in repeat((self._frame, 0), self.depth):
            self.gone_through += 1
            yield entry


def made(depth: int) -> DeepStack:
    frame = inspect.currentframe()
    assert frame is not None
    return DeepStack(frame, depth)


def test_a_page_is_as_much_work_on_a_deep_stack_as_on_a_shallow_one() -> None:
    shallow, deep = made(100), made(100_000)
    work = [operations(partial(StackEntries(stack.entries).page, 10, 20)) for stack in (shallow, deep)]
    assert work[0] == work[1]
    assert deep.gone_through == 30


def test_the_entries_are_counted_once() -> None:
    deep = made(1_000)
    counts: list[int] = []
    entries = StackEntries(deep.entries, -1, counts.append)
    assert [entries.count(), entries.count()] == [1_000, 1_000]
    assert counts == [1_000]
    assert StackEntries(deep.entries, counts[0]).count() == 1_000
    assert deep.gone_through == 1_000
    assert len(entries.page(990, 0)) == 10
