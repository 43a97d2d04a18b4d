"""The progress of something that takes long, shown by clients that can show it.

One `progressStart`, any number of updates and one `progressEnd` carry the same
id, however the work ends. A client that did not announce
`supportsProgressReporting` gets no reports, and the work is done all the same.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel

from dapkit.protocol import EventBody, ProgressEndEvent, ProgressStartEvent, ProgressUpdateEvent


class Progress:
    """One shown operation; an async context manager around the work.

    If the client cancels it, the block is left at its next wait, and the
    coroutine goes on behind the block, with `cancelled` set.

    Attributes:
        cancelled: whether the client asked to end the operation.
        result: the message shown at the end, if the block sets it; otherwise clients show the last message.

    Invariant: while the block runs, `running` has this progress under its id.

    """

    def __init__(
        self,
        start: ProgressStartEvent,
        *,
        tell: Callable[[EventBody], bool],
        running: dict[str, "Progress"],
    ) -> None:
        self.cancelled = False
        self.result: str | None = None
        self._start = start
        self._tell = tell
        self._running = running
        self._scope = anyio.CancelScope()

    async def __aenter__(self) -> Self:
        """Announce the operation."""
        self._tell(self._start)
        self._running[self._start.progress_id] = self
        self._scope.__enter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Announce its end, whichever way it ended."""
        del self._running[self._start.progress_id]
        self._tell(ProgressEndEvent(progress_id=self._start.progress_id, message=self.result))
        return bool(self._scope.__exit__(kind, error, trace))

    async def update(self, message: str | None = None, *, percentage: float | None = None) -> None:
        """Tell how far it is, from 0 to 100 percent; this is a place where it can be cancelled."""
        self._tell(ProgressUpdateEvent(progress_id=self._start.progress_id, message=message, percentage=percentage))
        await anyio.lowlevel.checkpoint()

    def cancel(self) -> None:
        """End the operation because the client asked for it."""
        self.cancelled = True
        self._scope.cancel()
