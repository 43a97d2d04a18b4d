"""The private line to the engine inside the program.

The engine speaks DAP, so this is our own client end of a conversation: the same
endpoint and the same pump as everywhere. The socket lies in a folder that only
the user can enter, and takes one connection, from a process of the user's.
"""

import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream

from dapkit import limits
from dapkit.endpoint import Endpoint, RequestFailed, Role
from dapkit.transport import Connection, background_tasks, listen_unix, private_folder, remove_dead_sockets
from dapkit.transport.sockets import SocketStream

_PEER = struct.Struct("3i")  # struct ucred


class Listener:
    """A socket that waits for the engine.

    Attributes:
        path: of the socket.

    """

    def __init__(self, path: Path, arrivals: MemoryObjectReceiveStream[ByteStream]) -> None:
        self.path = path
        self._arrivals = arrivals

    @asynccontextmanager
    async def accept(self, death: Callable[[], Awaitable[object]]) -> AsyncIterator[tuple[Connection, int]]:
        """Converse with the engine, the one that connects first; its process is told too.

        Args:
            death: returns when no engine will come any more, since the program has ended.

        Raises:
            NeverCame: none came within `limits.LINK_SECONDS`, or before `death`.

        """
        stream = await self._first(death)
        async with Connection(stream, Endpoint(Role.CLIENT)) as link:
            yield link, _process_of(stream)

    async def _first(self, death: Callable[[], Awaitable[object]]) -> ByteStream:
        async def give_up() -> None:
            await death()
            raise NeverCame("the program ended before it could be debugged")

        with anyio.move_on_after(limits.LINK_SECONDS):
            async with background_tasks() as tasks:
                tasks.start_soon(give_up)
                stream = await self._arrivals.receive()
                self.path.unlink()  # nobody else is expected, and nothing stays behind if we are killed
                return stream
        raise NeverCame(f"the program did not connect to the debugger within {limits.LINK_SECONDS:g} s")


def _process_of(stream: ByteStream) -> int:
    connected = cast("SocketStream", stream).socket  # what a listener on a unix socket hands out
    pid, _uid, _gid = _PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(pid)


class NeverCame(RequestFailed):
    """The program ended, or did not start, before it could be debugged."""


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Wait for one engine on a socket of its own."""
    send, arrivals = anyio.create_memory_object_stream[ByteStream](1)

    async def take(stream: ByteStream) -> None:
        await send.send(stream)
        await anyio.sleep_forever()  # the stream is closed when this returns

    folder = private_folder()
    remove_dead_sockets(folder, "engine-*")  # of adapters that were killed before their engine came
    path = folder / f"engine-{os.urandom(8).hex()}"
    with send, arrivals:
        async with listen_unix(path, take, max_connections=1):
            yield Listener(path, arrivals)
