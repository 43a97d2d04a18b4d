"""Other ends of an adapter's process than its client: signals, and the death of its parent.

The end of the client's input is the first death watch and belongs to the
session; these are the others. Each alone is enough to end the process, with
`closing()` called and everything released.
"""

import contextlib
import logging
import os
from collections.abc import Awaitable, Callable

import anyio

from dapkit import limits
from dapkit.system.original_parent import original_parent
from dapkit.system.this_system import SYSTEM
from dapkit.transport import background_tasks
from dapkit.transport.signals import signals_to_end

log = logging.getLogger(__name__)


async def live(work: Callable[[], Awaitable[None]]) -> None:
    """Do the work; cancel it when this process is told to end or its parent has gone."""
    finished = anyio.Event()
    with anyio.CancelScope() as scope:
        async with background_tasks() as tasks:

            async def end() -> None:
                scope.cancel()
                await _leave_unless(finished, limits.ORDERLY_END_SECONDS)

            tasks.start_soon(_wait_for_signal, end)
            tasks.start_soon(_wait_for_end_of_parent, end)
            try:
                await work()
            finally:
                finished.set()


async def end_for_certain(over: anyio.Event, finished: anyio.Event) -> None:
    """End the process if the work is not finished soon after its only session is over."""
    with anyio.CancelScope(shield=True):
        await over.wait()
    await _leave_unless(finished, limits.CLOSE_SECONDS)


async def _wait_for_signal(end: Callable[[], Awaitable[None]]) -> None:
    # A second signal has its usual effect again.
    with signals_to_end() as signals:
        async for number in signals:
            log.info("ending because of %s", number.name)
            break
    await end()


async def _wait_for_end_of_parent(end: Callable[[], Awaitable[None]]) -> None:
    parent = original_parent()
    if parent == 0:  # it lives outside of our container
        return
    with contextlib.suppress(ProcessLookupError), SYSTEM.open_process(parent) as process:
        if os.getppid() == parent:
            await anyio.wait_readable(process.descriptor)
    log.info("ending because the parent process %d has gone", parent)
    await end()


async def _leave_unless(finished: anyio.Event, seconds: float) -> None:
    """End the process if the event does not come in time.

    A handler that blocks in a thread cannot be cancelled, and no client is left to wait for it.
    """
    with anyio.move_on_after(seconds, shield=True):
        await finished.wait()
        return
    log.error("ending although a handler is still busy and does not let itself be cancelled")
    logging.shutdown()
    os._exit(1)
