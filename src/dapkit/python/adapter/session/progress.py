"""Long work is shown to the client as a progress, which it may cancel.

A client that cannot show one waits without a word, and cancels by the number of its request.
"""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import anyio

from dapkit.adapter import Adapter, RequestFailed
from dapkit.python import limits
from dapkit.transport import background_tasks


async def with_progress[T](host: Adapter[Any, Any], title: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do something for a request; show it once it has taken `limits.PROGRESS_SECONDS`.

    Raises:
        RequestFailed: the client has cancelled the progress.

    """
    if not host.client.supports_progress_reporting:
        return await work()
    with anyio.CancelScope() as scope:
        async with background_tasks() as tasks:
            tasks.start_soon(_show, host, title, scope)
            return await work()
    raise RequestFailed("cancelled", message="cancelled")


async def _show(host: Adapter[Any, Any], title: str, scope: anyio.CancelScope) -> None:
    await anyio.sleep(limits.PROGRESS_SECONDS)
    async with host.progress(title, cancellable=True) as progress:
        for rounds in count(2):
            await anyio.sleep(limits.PROGRESS_SECONDS)
            await progress.update(f"{rounds * limits.PROGRESS_SECONDS:g} s")
    scope.cancel()
