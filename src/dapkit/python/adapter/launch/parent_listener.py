"""The way of a program's parent to the adapter: a socket of its own, for the first that comes."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

import anyio
from anyio.abc import ByteStream

from dapkit.python.adapter.engine.link import NeverCame
from dapkit.transport import listen_unix, private_folder, remove_dead_sockets
from dapkit.transport.port_file import remove
from dapkit.transport.sockets import SocketStream

type Arrival = Callable[[float], Awaitable[SocketStream]]
"""Waits so many seconds for the parent, and returns the connection to it, or raises NeverCame."""


@asynccontextmanager
async def awaiting_parent(where: str) -> AsyncIterator[tuple[str, Arrival]]:
    """Listen for a parent; yield the place that it is to be given, and the function that waits for it.

    Args:
        where: where it is started, for the error that it does not come.

    """
    send, arrivals = anyio.create_memory_object_stream[ByteStream](1)

    async def take(stream: ByteStream) -> None:
        await send.send(stream)
        await anyio.sleep_forever()  # the stream is closed when this returns

    async def arrival(patience: float) -> SocketStream:
        try:
            with anyio.fail_after(patience):
                stream = await arrivals.receive()
        except TimeoutError:
            raise NeverCame(f"nothing was started {where} within {patience:g} s") from None
        remove(path)  # no other is expected, and nothing stays behind if we are killed
        return cast("SocketStream", stream)  # the connection of a listener of ours

    folder = private_folder()
    remove_dead_sockets(folder, "parent-*")  # of adapters that were killed before it came
    path = folder / f"parent-{os.urandom(8).hex()}"
    with send, arrivals:
        async with listen_unix(path, take, max_connections=1):
            yield f"unix:{path}", arrival
