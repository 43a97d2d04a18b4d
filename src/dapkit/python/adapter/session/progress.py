"""Long work is shown to the client as a progress, which it may cancel.

A client that cannot show one waits without a word, and cancels by the number of its request.
"""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, NamedTuple

import anyio

from dapkit.adapter import Adapter, RequestFailed
from dapkit.python import limits
from dapkit.transport import background_tasks


class ProgressStep(NamedTuple):
    """How far some work is; the percentage is from 0 to 100."""

    message: str
    percentage: float


async def with_progress[T](
    host: Adapter[Any, Any],
    title: str,
    work: Callable[[], Awaitable[T]],
    *,
    step: Callable[[], ProgressStep] | None = None,
    result_so_far: Callable[[], T] | None = None,
) -> T:
    """Do something for a request; show it once it has taken `limits.PROGRESS_SECONDS`.

    Args:
        host: reports to the client.
        title: of the progress.
        work: is done.
        step: says how far it is; without it, the client sees for how long it has taken.
        result_so_far: is the result if the client has cancelled the progress.

    Raises:
        RequestFailed: the client has cancelled the progress.

    """
    if not host.client.supports_progress_reporting:
        return await work()
    with anyio.CancelScope() as scope:
        async with background_tasks() as tasks:
            tasks.start_soon(_show, host, title, scope, step)
            return await work()
    if result_so_far is not None:
        return result_so_far()
    raise RequestFailed("cancelled", message="cancelled")


async def _show(
    host: Adapter[Any, Any], title: str, scope: anyio.CancelScope, step: Callable[[], ProgressStep] | None
) -> None:
    await anyio.sleep(limits.PROGRESS_SECONDS)
    async with host.progress(title, cancellable=True) as progress:
        for rounds in count(2):
            await anyio.sleep(limits.PROGRESS_SECONDS)
            if step is None:
                await progress.update(f"{rounds * limits.PROGRESS_SECONDS:g} s")
            else:
                message, percentage = step()
                await progress.update(message, percentage=percentage)
    scope.cancel()
