"""The ways to an adapter, and on from there to a second session with it.

A route opens a byte stream and owns the process behind it if it started one. The result shows on which route the
adapter accepts another session, as child sessions need: a server accepts a second connection (js-debug), and an adapter
on stdio is started once more.
"""

import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from anyio.abc import ByteStream

from dapkit import limits
from dapkit.transport import ChildProcess, connect_tcp, connect_unix, spawn, spawn_listening, token_left_for


@dataclass(frozen=True, slots=True)
class Reached:
    """An adapter at the other end of a stream."""

    stream: ByteStream
    """The stream."""

    process: ChildProcess | None = None
    """The adapter's process; None if dapkit did not start it."""

    again: "Route | None" = None
    """The route to another session; None if no route exists."""

    is_known: bool = True
    """Whether it is certain whose adapter it is. At a port any user of the machine may listen."""


class Route(Protocol):
    """A way to an adapter."""

    def open(self) -> AbstractAsyncContextManager[Reached]:
        """Reach it; leaving the context closes the stream and ends the process."""
        ...


@dataclass(frozen=True, slots=True)
class Spawned:
    """A process of our own that speaks on its stdin and stdout."""

    argv: Sequence[str]
    """The command."""

    cwd: Path | None = None
    """Its working directory. None: ours."""

    env: Mapping[str, str] | None = None
    """Its environment. None: ours."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Start it."""
        async with spawn(_absolute(self.argv, self.env), cwd=self.cwd, env=self.env) as child:
            yield Reached(child.stream, child, again=self)


@dataclass(frozen=True, slots=True)
class Listening:
    """A process of our own that speaks on a socket, which its command names by a placeholder.

    See `dapkit.transport.spawn_listening`: `${port}`, `${socket}` or `${callback}`.
    """

    argv: Sequence[str]
    """The command, with a placeholder."""

    cwd: Path | None = None
    """Its working directory. None: ours."""

    env: Mapping[str, str] | None = None
    """Its environment. None: ours."""

    ready: str = ""
    """The text that it writes when it accepts connections, if it listens before."""

    patience: float = limits.CONNECT_SECONDS
    """How many seconds it may take until it is reached."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Start it and meet it."""
        command = _absolute(self.argv, self.env)
        listening = spawn_listening(command, cwd=self.cwd, env=self.env, ready=self.ready, patience=self.patience)
        async with listening as child:
            yield Reached(child.stream, child, again=_second(command, child.argv))


@dataclass(frozen=True, slots=True)
class Tcp:
    """An adapter that listens on a port."""

    host: str
    """The host."""

    port: int
    """The port."""

    token: str | None = field(default=None, repr=False)
    """The requested arguments. Missing: the one that a listener of dapkit has left for this port, if there is one."""

    is_known: bool = False
    """Whether the port is known to belong to an adapter that this client started, or that such an adapter named."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Connect to it."""
        token = self.token or token_left_for(self.host, self.port)
        async with await connect_tcp(self.host, self.port, token=token) as stream:
            yield Reached(stream, again=self, is_known=self.is_known or token is not None)


@dataclass(frozen=True, slots=True)
class Unix:
    """An adapter that listens on a unix socket."""

    path: Path
    """The path of the socket."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Connect to it."""
        async with await connect_unix(self.path) as stream:
            yield Reached(stream, again=self)


@dataclass(frozen=True, slots=True)
class Given:
    """A stream that is there already; it takes one session."""

    stream: ByteStream
    """The stream."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Take it over."""
        async with self.stream:
            yield Reached(self.stream)


def _second(template: Sequence[str], command: Sequence[str]) -> Route | None:
    """Route to where the placeholder of a command turned out to be; one that calls back does so once."""
    for pattern, word in zip(template, command, strict=True):
        if (port := _filled_in(pattern, word, "${port}")) is not None:
            return Tcp("127.0.0.1", int(port), is_known=True)
        if (path := _filled_in(pattern, word, "${socket}")) is not None:
            return Unix(Path(path))
    return None


def _filled_in(pattern: str, word: str, mark: str) -> str | None:
    before, separator, after = pattern.partition(mark)
    return word[len(before) : len(word) - len(after)] if separator else None


def _absolute(argv: Sequence[str], env: Mapping[str, str] | None) -> list[str]:
    """Command with the full path of its program.

    lldb-dap 22: it starts itself again in a terminal, by its own argv[0].
    """
    search = (os.environ if env is None else env).get("PATH", os.defpath)
    program = shutil.which(argv[0], path=search) if argv and Path(argv[0]).name == argv[0] else None
    return list(argv) if program is None else [str(Path(program).absolute()), *argv[1:]]
