"""The ways to an adapter, and from a session to its children.

A route opens a byte stream, and owns the process behind it if it started one.
It also knows how a child session of the same adapter is reached: adapters that
listen take a second connection (js-debug), those on stdio are started once more,
and debugpy names host and port in the child's configuration.
"""

import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import ByteStream

from dapkit.transport import CannotStart, ChildProcess, spawn


@dataclass(frozen=True, slots=True)
class Reached:
    """An adapter at the other end of a stream; `process` is None if it is not ours."""

    stream: ByteStream
    process: ChildProcess | None = None


class Route(Protocol):
    """A way to an adapter."""

    def open(self) -> AbstractAsyncContextManager[Reached]:
        """Reach it; leaving the context closes the stream and ends the process."""
        ...

    def for_child(self) -> "Route | None":
        """Tell on which way the adapter takes another session; None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Spawned:
    """A process of our own that speaks on its stdin and stdout."""

    argv: Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Start it."""
        async with spawn(_absolute(self.argv, self.env), cwd=self.cwd, env=self.env) as child:
            yield Reached(child.stream, child)

    def for_child(self) -> "Spawned":
        """Start a further process of the same kind."""
        return self


@dataclass(frozen=True, slots=True)
class Tcp:
    """An adapter that listens on a port."""

    host: str
    port: int

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Connect to it."""
        try:
            stream = await anyio.connect_tcp(self.host, self.port)
        except OSError as error:
            raise CannotStart(f"no adapter listens at {self.host}:{self.port}: {error}") from error
        async with stream:
            yield Reached(stream)

    def for_child(self) -> "Tcp":
        """Make a further connection to the same server."""
        return self


@dataclass(frozen=True, slots=True)
class Unix:
    """An adapter that listens on a unix socket."""

    path: Path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Connect to it."""
        try:
            stream = await anyio.connect_unix(self.path)
        except OSError as error:
            raise CannotStart(f"no adapter listens at {self.path}: {error}") from error
        async with stream:
            yield Reached(stream)

    def for_child(self) -> "Unix":
        """Make a further connection to the same server."""
        return self


@dataclass(frozen=True, slots=True)
class Given:
    """A stream that is there already."""

    stream: ByteStream

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Take it over."""
        async with self.stream:
            yield Reached(self.stream)

    def for_child(self) -> None:
        """Know no way: one stream is one session."""
        return


def _absolute(argv: Sequence[str], env: Mapping[str, str] | None) -> list[str]:
    """Command with the full path of its program.

    lldb-dap 22: it starts itself again in a terminal, by its own argv[0].
    """
    search = (os.environ if env is None else env).get("PATH", os.defpath)
    found = shutil.which(argv[0], path=search) if argv and os.sep not in argv[0] else None
    return list(argv) if found is None else [str(Path(found).absolute()), *argv[1:]]
