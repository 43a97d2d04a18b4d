"""Proxies that editors start or connect to: each client gets a connection of its own to the adapter.

All of these end at SIGTERM, SIGINT or SIGHUP and when the parent process dies;
adapters that were started end with them.
"""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import ByteStream

from dapkit.adapter.command_line import announce, announce_address
from dapkit.adapter.servers import numbered, serve_connections, serve_stdio, serve_unix_connections
from dapkit.client import Listening, Route, Spawned
from dapkit.endpoint import Role
from dapkit.proxy.edits import Edit, unchanged
from dapkit.proxy.passage import pass_messages
from dapkit.transport import PLACEHOLDERS, ConnectionHandler, Recorder, TransportError

log = logging.getLogger(__name__)

type Target = Sequence[str] | Route
"""The adapter: its command, which may hold `${port}`, `${socket}` or `${callback}`, or a route of `dapkit.client`."""


async def serve(adapter: Target, *, edit: Edit = unchanged, transcript: Path | None = None) -> None:
    """Stand between one client, on standard input and output, and an adapter, until one of them has gone.

    Args:
        adapter: the route to it.
        edit: gets each message, and returns the messages to send in its place.
        transcript: file to which all messages are written.

    Raises:
        TransportError: the adapter cannot be started or reached.
        Exception: `edit` raised it.

    """

    async def converse(stream: ByteStream, _over: anyio.Event) -> None:
        await _converse(adapter, edit, transcript, stream)

    await serve_stdio(converse)


async def serve_tcp(
    adapter: Target,
    host: str,
    port: int,
    *,
    edit: Edit = unchanged,
    token: str | None = None,
    on_listening: Callable[[int], None] | None = None,
    transcript: Path | None = None,
) -> None:
    """Stand between an adapter and every client that connects to a port of this machine, until told to end.

    The parameters are the parameters of `serve` and of `dapkit.adapter.serve_tcp`. A client whose adapter cannot be
    reached is disconnected, with a warning in the log.
    """
    await serve_connections(_handler(adapter, edit, transcript), host, port, token=token, on_listening=on_listening)


async def serve_unix(
    adapter: Target,
    path: Path,
    *,
    edit: Edit = unchanged,
    on_listening: Callable[[Path], None] | None = None,
    transcript: Path | None = None,
) -> None:
    """Stand between an adapter and every client that connects to a unix socket; otherwise as `serve_tcp`."""
    await serve_unix_connections(_handler(adapter, edit, transcript), path, on_listening=on_listening)


def run(
    adapter: Target,
    *,
    edit: Edit = unchanged,
    transcript: Path | None = None,
    listen: tuple[str, int] | None = None,
    socket: Path | None = None,
) -> None:
    """Stand between an adapter and its clients, and return when that is over: `serve` and its like, without `async`.

    An editor starts such a script in place of the adapter. With `listen` or `socket` the address is printed
    as adapters do it.

    Raises: as `serve`.

    Example:
        from dapkit.protocol import Response
        from dapkit.proxy import edited, run

        def answer(message, sender):
            match message:
                case Response(command="evaluate", success=True):
                    return edited(message, result="42")
            return message

        run(["python", "-m", "debugpy.adapter"], edit=answer, transcript=Path("wire.jsonl"))

    """
    if listen is not None:
        host, port = listen
        tell = partial(announce_address, host)
        work = partial(serve_tcp, adapter, host, port, edit=edit, on_listening=tell, transcript=transcript)
    elif socket is not None:
        work = partial(serve_unix, adapter, socket, edit=edit, on_listening=announce, transcript=transcript)
    else:
        work = partial(serve, adapter, edit=edit, transcript=transcript)
    anyio.run(work)


def _handler(adapter: Target, edit: Edit, transcript: Path | None) -> ConnectionHandler:
    transcripts = numbered(transcript)

    async def handle(stream: ByteStream) -> None:
        try:
            await _converse(adapter, edit, next(transcripts), stream)
        except TransportError as error:
            log.warning("a client was disconnected: %s", error)

    return handle


async def _converse(adapter: Target, edit: Edit, transcript: Path | None, client: ByteStream) -> None:
    route = adapter if not isinstance(adapter, Sequence) else _by_command(adapter)
    with nullcontext() if transcript is None else Recorder(transcript, role=Role.CLIENT) as recorder:
        async with client, route.open() as reached:
            if reached.process is not None:
                reached.process.tell(_show)
            await pass_messages(client, reached.stream, edit=edit, recorder=recorder)


def _by_command(argv: Sequence[str]) -> Route:
    return Listening(argv) if any(mark in argument for argument in argv for mark in PLACEHOLDERS) else Spawned(argv)


def _show(data: bytes) -> None:
    """Relay the adapter's stderr, if there is a reader."""
    if sys.__stderr__ is None:  # started without it, and by now its number may belong to any file
        return
    try:
        os.write(2, data)
    except OSError as error:  # its reader has gone
        log.debug("the adapter's stderr is lost: %s", error.strerror)
