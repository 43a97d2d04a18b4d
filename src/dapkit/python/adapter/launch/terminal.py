"""The debugged program in a terminal of the client's.

The client runs the program's supervisor there, which connects to the adapter and starts the program: so the adapter
controls it as much as a program that it started itself, but has none of its output. The client may run a shell, or a
terminal program that hands over to another and ends at once.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

import anyio
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream

from dapkit.python import limits
from dapkit.python.adapter.engine.link import NeverCame
from dapkit.python.adapter.launch.command import Command
from dapkit.python.adapter.launch.launched_program import LaunchedProgram, attended
from dapkit.python.adapter.launch.supervisor import ProgramParent, parent_command
from dapkit.transport import listen_unix, private_folder, remove_dead_sockets
from dapkit.transport.sockets import SocketStream

type RunInTerminal = Callable[[list[str]], Awaitable[object]]
"""Has the client run a command in a terminal."""


@asynccontextmanager
async def started_in_terminal(command: Command, run: RunInTerminal) -> AsyncIterator[LaunchedProgram]:
    """Let the client start a program; leaving the block ends it as `LaunchedProgram.close` describes.

    Raises:
        RequestFailed: the client, or the operating system, refused.
        NeverCame: nothing was started within `limits.LINK_SECONDS`, or `limits.PASSWORD_SECONDS` as root.

    """
    send, arrivals = anyio.create_memory_object_stream[ByteStream](1)

    async def take(stream: ByteStream) -> None:
        await send.send(stream)
        await anyio.sleep_forever()  # the stream is closed when this returns

    folder = private_folder()
    remove_dead_sockets(folder, "parent-*")  # of adapters that were killed before it came
    path = folder / f"parent-{os.urandom(8).hex()}"
    with send, arrivals:
        async with listen_unix(path, take, max_connections=1):
            await run([*command.as_root, *parent_command(f"unix:{path}")])
            patience = limits.PASSWORD_SECONDS if command.as_root else limits.LINK_SECONDS
            parent = ProgramParent(await _first(arrivals, patience))
            path.unlink()  # no other is expected, and nothing stays behind if we are killed
            program = LaunchedProgram(parent)
            async with attended(program, parent, command):
                yield program


async def _first(arrivals: MemoryObjectReceiveStream[ByteStream], patience: float) -> SocketStream:
    try:
        with anyio.fail_after(patience):
            return cast("SocketStream", await arrivals.receive())  # the connection of a listener on a unix socket
    except TimeoutError:
        raise NeverCame(f"nothing was started in the terminal within {patience:g} s") from None
