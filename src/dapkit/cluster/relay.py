"""The part of breakpoints on another machine: it connects a job to the engines of all its members there.

`python -m dapkit.cluster.relay` has the channels (`dapkit.cluster.channels`) on its standard input and output. The root
of a job starts it by a command of the user's (`--via 'ssh {host}'`), as it does `dapkit.cluster.node`. It ends with its
input, and the engines let go of their programs then.
"""

import asyncio
import os
import socket
import sys
from contextlib import suppress

from dapkit.cluster.channels import DATA, END, GREETING, OPEN, OPENED, Channels, is_unread
from dapkit.cluster.errors import JobError
from dapkit.protocol import DapkitError
from dapkit.system.this_system import SYSTEM


class Relay:
    """The channels of one machine, and the engines that they lead to."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels
        self._engines: dict[int, asyncio.StreamWriter | None] = {}  # None until it is connected
        self._members: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Serve until the input ends. Raises: JobError."""
        while (frame := await self._channels.receive()) is not None:
            if frame.kind == OPEN:
                self._engines[frame.channel] = None
                member = asyncio.create_task(self._serve_member(frame.channel, os.fsdecode(frame.data)))
                self._members.add(member)
                member.add_done_callback(self._members.discard)
            elif frame.kind == DATA:
                self._send(frame.channel, frame.data)
            elif frame.kind == END:
                self._end(frame.channel)
        for channel in list(self._engines):
            self._end(channel)

    async def _serve_member(self, channel: int, target: str) -> None:
        try:
            connection = await asyncio.to_thread(_engine_of, target)
            reader, engine = await asyncio.open_unix_connection(sock=connection)
        except (DapkitError, OSError) as error:
            if self._engines.pop(channel, self) is None:
                self._channels.send_now(channel, END, str(error))
            return
        if channel not in self._engines:  # the other end has given up
            engine.close()
            return
        self._engines[channel] = engine
        self._channels.send_now(channel, OPENED)
        await self._channels.carry(channel, reader)
        if self._engines.pop(channel, None) is not None:
            engine.close()
            self._channels.send_now(channel, END)

    def _send(self, channel: int, data: bytes) -> None:
        engine = self._engines.get(channel)
        if engine is None:
            return
        engine.write(data)
        if is_unread(engine):
            self._channels.send_now(channel, END, "its engine does not read the requests that it is sent")
            del self._engines[channel]
            engine.transport.abort()

    def _end(self, channel: int) -> None:
        engine = self._engines.pop(channel, None)
        if engine is not None:
            engine.close()


def _engine_of(target: str) -> socket.socket:
    """Connect to the engine of a member. Raises: JobError, RequestFailed."""
    match target.partition(" "):
        case "socket", _, path:
            return _connected(path)
        case "pid", _, number if number.isdecimal():
            return _connected_with(int(number))
    raise JobError(f"the member is {target!r:.80}, expected a socket or a process")


def _connected_with(pid: int) -> socket.socket:
    """Connect to the engine of a process, which is entered if needed. Raises: JobError, RequestFailed."""
    from dapkit.cluster.entering import entered_socket, listen_in  # for most members all this is not needed
    from dapkit.cluster.node import program_here

    pid = pid or program_here()
    with suppress(JobError):
        return _connected(str(entered_socket(pid)))
    return _connected(str(asyncio.run(listen_in(pid))))


def _connected(path: str) -> socket.socket:
    """Connect to an engine of our user that listens at a path. Raises: JobError."""
    engine = socket.socket(socket.AF_UNIX)
    try:
        engine.connect(path)
    except OSError as error:
        engine.close()
        raise JobError(f"no engine listens at {path} of {os.uname().nodename}: {error.strerror}") from error
    user = SYSTEM.peer_of(engine)[1]
    if user not in {0, os.geteuid()}:
        engine.close()
        raise JobError(f"user {user} listens at {path}, expected user {os.geteuid()}")
    return engine


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout.buffer
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    writer.write(GREETING)
    await Relay(Channels(reader, writer)).serve()


async def _serve_to_the_end() -> None:
    """End the process with the input: a member that is just being entered is not waited for."""
    try:
        await _serve()
    except JobError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_serve_to_the_end())
