"""Serving adapters: one client on standard input and output, or many on a socket.

Each session has an adapter of its own, made by a factory: usually the class.
"""

from collections.abc import Callable
from typing import Any

import anyio

from dapkit.adapter.adapter import Adapter
from dapkit.adapter.lifelines import end_for_certain, live
from dapkit.transport import Tap, stdio

type MakeAdapter = Callable[[], Adapter[Any, Any]]
"""Makes the adapter of one session."""


async def serve(make: MakeAdapter, *, tap: Tap | None = None) -> None:
    """Serve one client on standard input and output.

    It ends with the session, at SIGTERM, SIGINT or SIGHUP, and when the parent process dies.

    Raises:
        Exception: what a background task of the adapter raised.

    """

    async def one_session() -> None:
        over, finished = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: end_for_certain(over, finished=finished))
            try:
                await make().serve_stream(stdio(), tap=tap, over=over)
            finally:
                over.set()
                finished.set()

    await live(one_session)
