"""The private line to the engine inside the program.

The engine speaks DAP, so this is our own client end of a conversation: the same
endpoint and the same pump as everywhere. The socket lies in a folder that only
the user can enter, and lets in processes of the user's. A process that connects is asked
to introduce itself: the first that does so is the engine. Other connections, such as a port scan, are answered beside
it and keep no other waiting.
"""

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from dapkit.endpoint import Endpoint, RequestFailed, Role
from dapkit.protocol import DapkitError, InitializeRequestArguments
from dapkit.python import limits
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.transport import Connection, background_tasks, listen_unix, private_folder, remove_dead_sockets
from dapkit.transport.port_file import remove

log = logging.getLogger(__name__)

type Engine = tuple[Connection, ResumeOrder]
"""A conversation, begun with `initialize`, and the order of its messages."""


class LinkListener:
    """A socket that waits for the engine.

    Attributes:
        path: of the socket.

    """

    def __init__(self, path: Path, arrivals: MemoryObjectReceiveStream[ByteStream]) -> None:
        self.path = path
        self._arrivals = arrivals
        self._send, self._engines = anyio.create_memory_object_stream[Engine](1)

    @asynccontextmanager
    async def accept(
        self, death: Callable[[], Awaitable[object]], *, patience: float = limits.LINK_SECONDS
    ) -> AsyncIterator[Engine]:
        """Converse with the engine, the first peer that introduces itself.

        Args:
            death: returns when no engine will come any more, since the program has ended; it may raise why.
            patience: seconds to wait for it.

        Raises:
            NeverCame: none came in time, or before `death`.

        """
        with self._send, self._engines:
            async with background_tasks() as visits:
                visits.start_soon(self._receive, visits)
                yield await self._first(death, patience)

    async def _receive(self, visits: TaskGroup) -> None:
        async for stream in self._arrivals:
            visits.start_soon(self._ask_who_it_is, stream)

    async def _ask_who_it_is(self, stream: ByteStream) -> None:
        """Converse with a peer that has connected; with the engine as long as the block of `accept` lasts."""
        order = ResumeOrder()
        async with Connection(stream, Endpoint(Role.CLIENT), watch=order.observe) as link:
            try:
                await link.request(
                    InitializeRequestArguments(adapter_id="dapkit"), deadline=limits.INTRODUCTION_SECONDS
                )
                self._send.send_nowait((link, order))
            except DapkitError as error:
                log.info("the peer at %s is not an engine: %s", self.path.name, error)
            except (anyio.WouldBlock, anyio.BrokenResourceError):
                log.info("another engine has come to %s before", self.path.name)
            else:
                await close_at_end(link, stream)
                await anyio.sleep_forever()

    async def _first(self, death: Callable[[], Awaitable[object]], patience: float) -> Engine:
        async def give_up() -> None:
            await death()
            raise NeverCame("the program ended before it could be debugged")

        with anyio.move_on_after(patience):
            async with background_tasks() as tasks:
                tasks.start_soon(give_up)
                engine = await self._engines.receive()
                self._engines.close()
                remove(self.path)  # no other is expected, and nothing stays behind if we are killed
                return engine
        raise NeverCame(f"the program did not connect to the debugger within {patience:g} s")


async def close_at_end(link: Connection, stream: ByteStream) -> None:
    """Close the connection to an engine that has sent its last; at a port, the end of the program waits for that."""
    await link.wait_ended()
    await stream.aclose()


class NeverCame(RequestFailed):
    """The program ended, or did not start, before it could be debugged."""


def _remove_leftovers(folder: Path) -> None:
    """Remove the files of adapters that were killed."""
    for pattern in ("engine-*", "past-*", "branch-*"):
        remove_dead_sockets(folder, pattern)
    for file in folder.glob("engine-*.*"):  # for a program that was to come to a socket
        if not file.with_suffix("").exists():
            file.unlink(missing_ok=True)


@asynccontextmanager
async def listening() -> AsyncIterator[LinkListener]:
    """Wait for one engine on a socket of its own."""
    send, arrivals = anyio.create_memory_object_stream[ByteStream]()

    async def take(stream: ByteStream) -> None:
        await send.send(stream)
        await anyio.sleep_forever()  # the stream is closed when this returns

    folder = private_folder()
    _remove_leftovers(folder)
    path = folder / f"engine-{os.urandom(8).hex()}"
    with send, arrivals:
        async with listen_unix(path, take):
            yield LinkListener(path, arrivals)
