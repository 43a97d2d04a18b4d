"""Waiting for a condition over plain state.

The state changes in one place and `notify` is called after each change; a task
that waits looks at the state again. No wait can miss a change, since nothing happens
between looking and waiting.
"""

from collections.abc import Callable

import anyio


class StateChange:
    """Wakes everybody who waits for a condition."""

    def __init__(self) -> None:
        self._next: anyio.Event | None = None  # made by the first task that waits: usually none does

    def notify(self) -> None:
        """Let every waiter look again."""
        if self._next is not None:
            self._next.set()
            self._next = None

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds."""
        while not condition():
            if self._next is None:
                self._next = anyio.Event()
            await self._next.wait()
