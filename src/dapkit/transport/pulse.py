"""Waiting for a condition over plain state.

The state changes in one place and `beat` is called after each change; whoever
waits looks at the state again. No wait can miss a change, since nothing happens
between looking and waiting.
"""

from collections.abc import Callable

import anyio


class Pulse:
    """Wakes everybody who waits for a condition."""

    def __init__(self) -> None:
        self._next = anyio.Event()

    def beat(self) -> None:
        """Let every waiter look again."""
        self._next.set()
        self._next = anyio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds."""
        while not condition():
            await self._next.wait()
