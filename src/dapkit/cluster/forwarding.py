"""Members on other machines, as if they listened here: each has a socket of ours, whose connections a relay carries.

A relay is a command of the user's (`--via 'ssh {host}'`) that runs `dapkit.cluster.relay` on a machine, for all members
there. It runs while there are connections, and ends with its input, also if we are killed.
"""

import asyncio
import itertools
import os
import shlex
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dapkit.cluster import limits
from dapkit.cluster.channels import DATA, END, GREETING, OPEN, OPENED, ChannelFrame, Channels, is_unread
from dapkit.cluster.errors import JobError
from dapkit.cluster.job import command_on
from dapkit.cluster.members import Member
from dapkit.system.this_system import SYSTEM
from dapkit.transport import private_folder

_MODULE: Final = "dapkit.cluster.relay"
_SHOWN_BYTES: Final = 4096
"""Of an error output, of which the last line is shown."""


class _Connection:
    """One channel, on our side.

    Attributes:
        opened: whether the channel leads to the member.
        end: why it has ended; empty where one end has closed it.

    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[bool] = loop.create_future()
        self.end: asyncio.Future[str] = loop.create_future()
        self._writer = writer

    def take(self, frame: ChannelFrame) -> None:
        """Take a frame from the machine."""
        if frame.kind == OPENED and not self.opened.done():
            self.opened.set_result(True)
        elif frame.kind == DATA:
            self._writer.write(frame.data)
            if is_unread(self._writer):
                self.finish("the session here does not read the messages of the member")
        elif frame.kind == END:
            self.finish(frame.data.decode(errors="replace"))

    def finish(self, reason: str) -> None:
        """End it."""
        if not self.end.done():
            self.end.set_result(reason)
        if not self.opened.done():
            self.opened.set_result(False)


class _RelayRun:
    """The command of a relay, while it runs, and the connections that it carries."""

    def __init__(self, command: Sequence[str], process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None  # noqa: S101 - as it was started
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        self.channels = Channels(process.stdout, process.stdin)
        self.connections: dict[int, _Connection] = {}
        self.is_over = False
        self._command = command
        self._process = process
        self._input, self._output = process.stdin, process.stdout
        self._error = asyncio.create_task(_last_line(process.stderr))
        self._receiving = asyncio.create_task(self._receive())

    async def carry_both(self, number: int, local: asyncio.StreamReader) -> None:
        """Carry bytes in both directions until either end has closed the connection."""
        carrying = asyncio.create_task(self.channels.carry(number, local))
        ends: set[asyncio.Future[Any]] = {carrying, self.connections[number].end}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            carrying.cancel()

    async def end(self) -> None:
        """Let the command end; it is killed if it does not, also when the caller is cancelled."""
        self.is_over = True
        self._input.close()
        killing = asyncio.get_running_loop().call_later(limits.RELAY_END_SECONDS, self._kill)
        self._receiving.add_done_callback(lambda _: killing.cancel())
        await asyncio.wait([self._receiving], timeout=2 * limits.RELAY_END_SECONDS)

    async def _receive(self) -> None:
        """Pass frames on until the command ends; then all connections end with the reason that it gives."""
        reason = ""
        try:
            await self._output.readuntil(GREETING)
            while (frame := await self.channels.receive()) is not None:
                if (connection := self.connections.get(frame.channel)) is not None:
                    connection.take(frame)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # it is not a relay; its status or its error output says more
        except JobError as error:
            reason = str(error)
        self.is_over = True
        last = await self._ended()
        for connection in self.connections.values():
            connection.finish(reason or last)

    async def _ended(self) -> str:
        """End the command, if it does not end by itself, and the processes of a shell; return its last word."""
        self._input.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), limits.RELAY_END_SECONDS)
        self._kill()
        status = await self._process.wait()
        await asyncio.wait([self._error], timeout=limits.RELAY_END_SECONDS)
        last = self._error.result() if self._error.done() else ""
        return last or f"{shlex.join(self._command[:1])} ended with status {status}"

    def _kill(self) -> None:
        """Kill the command, and the processes that a shell has started for it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@dataclass(eq=False)
class MachineRelay:
    """The connections to the members of one machine; the command runs while there are any."""

    _command: list[str]
    _run: _RelayRun | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @classmethod
    def to(cls, host: str, via: str) -> "MachineRelay":
        """Return the relay of a machine, which does not run yet."""
        return cls(command_on(host, via, _MODULE))

    async def carry(self, local: socket.socket, target: str) -> str:
        """Carry a connection to a member, to its end; return why it was lost or not made, empty if it was closed."""
        reader, writer = await asyncio.open_unix_connection(sock=local)
        try:
            run = await self._running()
        except JobError as error:
            writer.close()
            return str(error)
        connection, number = _Connection(writer), next(self._numbers)
        run.connections[number] = connection
        try:
            run.channels.send_now(number, OPEN, target)
            async with asyncio.timeout(limits.CONNECT_SECONDS):
                is_open = await connection.opened
            if is_open:
                await run.carry_both(number, reader)
            return connection.end.result() if connection.end.done() else ""
        except TimeoutError:
            return f"its machine did not connect it within {limits.CONNECT_SECONDS:g} s"
        finally:
            del run.connections[number]
            writer.close()
            if not connection.end.done():
                run.channels.send_now(number, END)
            if not run.connections:
                await run.end()

    async def _running(self) -> _RelayRun:
        """Run the command, if it does not run. Raises: JobError."""
        async with self._starting:
            if self._run is None or self._run.is_over:
                self._run = await self._start()
            return self._run

    async def _start(self) -> _RelayRun:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise JobError(f"{self._command[0]} cannot be run: {error.strerror}") from error
        return _RelayRun(self._command, process)


@dataclass(eq=False)
class ForwardedMember:
    """A socket of this machine that leads to the engine of a member elsewhere.

    Attributes:
        path: of the socket.

    """

    path: Path
    _relay: MachineRelay
    _target: str
    _listener: socket.socket
    _accepting: asyncio.Task[None] | None = None
    _carriers: set[asyncio.Task[None]] = field(default_factory=set)
    _failure: str = ""

    @classmethod
    def open(cls, member: Member, relay: MachineRelay) -> "ForwardedMember":
        """Listen for a member. Raises: OSError."""
        path = private_folder() / f"remote-{os.urandom(8).hex()}"
        target = f"socket {member.socket}" if member.socket else f"pid {member.pid}"
        listener = socket.socket(socket.AF_UNIX)
        SYSTEM.bind_private(listener, str(path))
        listener.listen()
        listener.settimeout(0)
        forwarded = cls(path, relay, target, listener)
        forwarded._accepting = asyncio.create_task(forwarded._accept())
        return forwarded

    @property
    def is_used(self) -> bool:
        """Whether anyone is connected through it."""
        return bool(self._carriers)

    async def failure(self) -> str:
        """Return why the last connection was lost or not made; empty if it was closed."""
        if self._carriers:
            await asyncio.wait(self._carriers, timeout=limits.RELAY_END_SECONDS)
        return self._failure

    async def close(self, *, keeps_connections: bool = False) -> None:
        """Listen no more; connections end, unless they are to be kept."""
        if self._accepting is not None:
            self._accepting.cancel()
        self._listener.close()
        self.path.unlink(missing_ok=True)
        if self._carriers and not keeps_connections:
            _, remaining = await asyncio.wait(self._carriers, timeout=limits.RELAY_END_SECONDS)
            for carrier in remaining:
                carrier.cancel()
            if remaining:
                await asyncio.wait(remaining)

    async def _accept(self) -> None:
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
            carrier = asyncio.create_task(self._carry(connection))
            self._carriers.add(carrier)
            carrier.add_done_callback(self._carriers.discard)

    async def _carry(self, connection: socket.socket) -> None:
        self._failure = await self._relay.carry(connection, self._target)


async def _last_line(errors: asyncio.StreamReader) -> str:
    """Read the error output of a command to its end, and return its last line."""
    last = b""
    while data := await errors.read(_SHOWN_BYTES):
        last = (last + data)[-_SHOWN_BYTES:]
    return last.decode(errors="replace").strip().rpartition("\n")[2]
