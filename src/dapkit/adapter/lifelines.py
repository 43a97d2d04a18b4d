"""What ends an adapter's process beside its client: signals, and the death of its parent.

The end of the client's input is the first death watch and belongs to the
session; these are the others. Each alone is enough to end the process, with
`closing()` called and everything released.
"""

import logging
import os
import signal
from collections.abc import Awaitable, Callable

import anyio

from dapkit import limits
from dapkit.transport import background_tasks

log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


async def live[T](work: Callable[[], Awaitable[T]]) -> T | None:
    """Do the work; cancel it when this process is told to end or its parent has gone."""
    with anyio.CancelScope() as scope:
        async with background_tasks() as tasks:
            tasks.start_soon(_cancel_on_signal, scope)
            tasks.start_soon(_cancel_without_parent, scope)
            return await work()
    return None


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    # A second signal has its usual effect again.
    with anyio.open_signal_receiver(*_SIGNALS) as signals:
        async for number in signals:
            log.info("ending because of %s", number.name)
            break
    scope.cancel()


async def _cancel_without_parent(scope: anyio.CancelScope) -> None:
    parent = os.getppid()
    if parent == 0:  # it lives outside of our container
        return None
    try:
        process = os.pidfd_open(parent)
    except ProcessLookupError:
        log.info("ending because the parent process %d has gone", parent)
        return scope.cancel()
    try:
        if os.getppid() == parent:
            await anyio.wait_readable(process)
    finally:
        os.close(process)
    log.info("ending because the parent process %d has gone", parent)
    return scope.cancel()


async def end_for_certain(over: anyio.Event, finished: anyio.Event) -> None:
    """End the process if the work is not finished soon after the session is over.

    A handler that blocks in a thread cannot be cancelled, and nobody is left to wait for it.
    """
    with anyio.CancelScope(shield=True):
        await over.wait()
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await finished.wait()
            return
        log.error("ending although a handler is still busy and does not let itself be cancelled")
        logging.shutdown()
        os._exit(1)
