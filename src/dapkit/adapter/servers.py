"""Serving adapters: one client on standard input and output, or many on a socket.

Each session has an adapter of its own, made by a factory: usually the class. All
of these end at SIGTERM, SIGINT or SIGHUP and when the parent process dies, and
see to it that every session is closed in order before they return.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream

from dapkit.adapter.adapter import Adapter
from dapkit.adapter.shutdown import end_for_certain, live
from dapkit.endpoint import Role
from dapkit.transport import (
    ConnectionHandler,
    Recorder,
    background_tasks,
    left_token,
    listen_tcp,
    listen_unix,
    new_token,
    stdio,
)

log = logging.getLogger(__name__)

type MakeAdapter = Callable[[], Adapter[Any, Any]]
"""Makes the adapter of one session."""


async def serve(make: MakeAdapter, *, transcript: Path | None = None) -> None:
    """Serve one client on standard input and output, until the session ends.

    Args:
        make: makes the adapter.
        transcript: file to which all messages are written.

    Raises:
        Exception: a background task of the adapter raised it.

    """

    async def converse(stream: ByteStream, over: anyio.Event) -> None:
        await _converse(make(), stream, transcript, over)

    await serve_stdio(converse)


async def serve_stdio(converse: Callable[[ByteStream, anyio.Event], Awaitable[None]]) -> None:
    """Hold one conversation on standard input and output, which sets the event when nothing more is to be waited for.

    A task that is still busy after `limits.CLOSE_SECONDS` ends with the process.
    """

    async def one_session() -> None:
        over, finished = anyio.Event(), anyio.Event()
        async with background_tasks() as tasks:
            tasks.start_soon(end_for_certain, over, finished)
            try:
                await converse(stdio(), over)
            finally:
                over.set()
                finished.set()

    await live(one_session)


def numbered(transcript: Path | None) -> Iterator[Path | None]:
    """Name a transcript for each session: the first is written to the file itself, others beside it, numbered."""
    yield transcript
    for number in count(2):
        yield transcript and transcript.with_stem(f"{transcript.stem}-{number}")


async def serve_tcp(
    make: MakeAdapter,
    host: str,
    port: int,
    *,
    token: str | None = None,
    on_listening: Callable[[int], None] | None = None,
    transcript: Path | None = None,
) -> None:
    """Serve every client that connects to a port of this machine, side by side, until told to end.

    Args:
        make: makes the adapter of each session.
        host: a loopback address.
        port: 0 leaves the choice to the system.
        token: the secret that clients must present first (`dapkit.transport.authentication`). Missing: one is made, and
            left in a file that only our own user can read, where `Session.connect` finds it.
        on_listening: is called with the port once clients can connect.
        transcript: file to which all messages of the first session are written; the messages of later sessions go to
            numbered files beside it.

    Raises:
        TransportError: the address is not private, or cannot be listened on.

    """
    await serve_connections(_handler(make, transcript), host, port, token=token, on_listening=on_listening)


async def serve_connections(
    handler: ConnectionHandler,
    host: str,
    port: int,
    *,
    token: str | None = None,
    on_listening: Callable[[int], None] | None = None,
) -> None:
    """Call a handler for each connection to a port; otherwise as `serve_tcp`."""
    await _serve_listening(_listen(host, port, handler, token), on_listening)


async def serve_unix_connections(
    handler: ConnectionHandler, path: Path, *, on_listening: Callable[[Path], None] | None = None
) -> None:
    """Call a handler for each connection to a unix socket; otherwise as `serve_unix`."""
    await _serve_listening(listen_unix(path, handler), on_listening)


@asynccontextmanager
async def _listen(host: str, port: int, handler: ConnectionHandler, token: str | None) -> AsyncIterator[int]:
    secret = new_token() if token is None else token
    async with listen_tcp(host, port, handler, token=secret) as place:
        # It is there before anybody is accepted, since nothing is waited for in between.
        with nullcontext() if token is not None else left_token(secret, place, host) as file:
            if file is not None:
                log.warning("the token of port %d is in %s", place, file)
            yield place


async def serve_unix(
    make: MakeAdapter,
    path: Path,
    *,
    on_listening: Callable[[Path], None] | None = None,
    transcript: Path | None = None,
) -> None:
    """Serve every client that connects to a unix socket, side by side, until told to end.

    The folder of the socket must be ours alone; otherwise as `serve_tcp`.
    """
    await serve_unix_connections(_handler(make, transcript), path, on_listening=on_listening)


async def _serve_listening[Place](
    listening: AbstractAsyncContextManager[Place], on_listening: Callable[[Place], None] | None
) -> None:
    async def sessions() -> None:
        async with listening as place:
            if on_listening is not None:
                on_listening(place)
            await anyio.sleep_forever()

    await live(sessions)


def _handler(make: MakeAdapter, transcript: Path | None) -> ConnectionHandler:
    transcripts = numbered(transcript)

    async def handle(stream: ByteStream) -> None:
        await _converse(make(), stream, next(transcripts))

    return handle


async def _converse(
    adapter: Adapter[Any, Any], stream: ByteStream, transcript: Path | None, over: anyio.Event | None = None
) -> None:
    if transcript is None:
        await adapter.serve_stream(stream, over=over)
    else:
        with Recorder(transcript, role=Role.ADAPTER) as recorder:
            await adapter.serve_stream(stream, tap=recorder, over=over)
