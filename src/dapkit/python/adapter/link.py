"""The private line to the engine inside the program.

The engine speaks DAP, so this is our own client end of a conversation: the same
endpoint and the same pump as everywhere. The socket lies in a folder that only
the user can enter, and takes one connection.
"""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import ByteStream
from anyio.abc import Listener as StreamListener

from dapkit import limits
from dapkit.endpoint import Endpoint, RequestFailed, Role
from dapkit.transport import Connection


class Listener:
    """A socket that waits for the engine.

    Attributes:
        path: of the socket.

    """

    def __init__(self, path: Path, socket: StreamListener[ByteStream]) -> None:
        self.path = path
        self._socket = socket

    @asynccontextmanager
    async def accept(self, death: Callable[[], Awaitable[object]]) -> AsyncIterator[Connection]:
        """Converse with the engine, the one that connects first.

        Args:
            death: returns when no engine will come any more, since the program has ended.

        Raises:
            RequestFailed: none came within `limits.LINK_SECONDS`.

        """
        stream: ByteStream | None = None

        async def first(found: ByteStream) -> None:
            nonlocal stream
            stream = found
            tasks.cancel_scope.cancel()

        async def give_up() -> None:
            await death()
            tasks.cancel_scope.cancel()

        with anyio.move_on_after(limits.LINK_SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(give_up)
                await self._socket.serve(first, tasks)
        if stream is None:
            raise RequestFailed("the program ended, or did not start, before it could be debugged")
        async with Connection(stream, Endpoint(Role.CLIENT)) as link:
            yield link


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Wait for one engine on a socket of its own."""
    with tempfile.TemporaryDirectory(prefix="dapkit-") as folder:
        path = Path(folder) / "engine"
        async with await anyio.create_unix_listener(path, mode=0o600) as socket:
            yield Listener(path, socket)
