"""Members on other machines, as if they listened here: each connection to a socket of ours is carried by a command.

The command is the user's (`--via 'ssh {host}'`), and runs `dapkit.cluster.relay` on the machine of the member. It has
the connection as its standard input and output, so that it ends with it, also if we are killed.
"""

import asyncio
import os
import shlex
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dapkit.cluster import limits
from dapkit.cluster.job import command_on
from dapkit.cluster.members import Member
from dapkit.system.this_system import SYSTEM
from dapkit.transport import private_folder

_MODULE: Final = "dapkit.cluster.relay"
_KEPT: Final = 4096
"""Bytes of an error output of which the last line is shown."""


@dataclass(eq=False)
class ForwardedMember:
    """A socket of this machine that leads to the engine of a member elsewhere.

    Attributes:
        path: of the socket.

    """

    path: Path
    _command: Sequence[str]
    _listener: socket.socket
    _accepting: asyncio.Task[None] | None = None
    _carriers: set[asyncio.Task[None]] = field(default_factory=set)
    _failure: str = ""

    @classmethod
    def open(cls, member: Member, via: str) -> "ForwardedMember":
        """Listen for a member. Raises: OSError."""
        path = private_folder() / f"remote-{os.urandom(8).hex()}"
        target = ["--socket", quote(member.socket)] if member.socket else ["--pid", str(member.pid)]
        listener = socket.socket(socket.AF_UNIX)
        SYSTEM.bind_private(listener, str(path))
        listener.listen()
        listener.settimeout(0)
        forwarded = cls(path, command_on(member.host, via, _MODULE, *target), listener)
        forwarded._accepting = asyncio.create_task(forwarded._accept())
        return forwarded

    @property
    def is_used(self) -> bool:
        """Whether anyone is connected through it."""
        return bool(self._carriers)

    async def failure(self) -> str:
        """Return why the last command has failed, once it has ended; empty if it has not failed."""
        if self._carriers:
            await asyncio.wait(self._carriers, timeout=limits.RELAY_END_SECONDS)
        return self._failure

    async def close(self, *, keeps_connections: bool = False) -> None:
        """Listen no more; connections end, unless they are to be kept, and commands that do not end are killed."""
        if self._accepting is not None:
            self._accepting.cancel()
        self._listener.close()
        self.path.unlink(missing_ok=True)
        if self._carriers and not keeps_connections:
            _, unended = await asyncio.wait(self._carriers, timeout=limits.RELAY_END_SECONDS)
            for carrier in unended:
                carrier.cancel()
            if unended:
                await asyncio.wait(unended)

    async def _accept(self) -> None:
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
            carrier = asyncio.create_task(self._carry(connection))
            self._carriers.add(carrier)
            carrier.add_done_callback(self._carriers.discard)

    async def _carry(self, connection: socket.socket) -> None:
        """Run the command for one connection."""
        with connection:
            connection.settimeout(None)  # as a command expects its standard input
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=connection.fileno(),
                    stdout=connection.fileno(),
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                self._failure = f"{self._command[0]} cannot be run: {error.strerror}"
                return
        last = b""
        try:
            assert process.stderr is not None  # noqa: S101 - as it was started
            while data := await process.stderr.read(_KEPT):
                last = (last + data)[-_KEPT:]
            await process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a shell may have started others
        lines = last.decode(errors="replace").strip().splitlines()
        status = f"{shlex.join(self._command[:1])} ended with status {process.returncode}"
        self._failure = "" if process.returncode == 0 else lines[-1] if lines else status
