"""TCP as a way to an adapter, or to its clients: loopback, a token, TLS on demand, and no waiting for more to send."""

import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.socket_options import REUSE_OPTION
from dapkit.transport.authentication import admit, introduce
from dapkit.transport.errors import NotAdmitted, Unreachable
from dapkit.transport.gate import ConnectionHandler, Gate, listening_address
from dapkit.transport.sockets import SocketStream, connected
from dapkit.transport.tasks import background_tasks

if TYPE_CHECKING:
    import ssl


async def connect_tcp(
    host: str, port: int, *, token: str | None = None, tls: "ssl.SSLContext | None" = None
) -> ByteStream:
    """Connect to a listening adapter; `token` is for servers of ours, which ask for one, and know it themselves.

    With `tls` by TLS: its certificates must vouch for the server, and for its name.

    Raises:
        Unreachable: no process listens there.
        NotAdmitted: the server does not know the token, or refuses ours.

    """
    try:
        with anyio.fail_after(limits.CONNECT_SECONDS):
            stream = await _connected(host, port, tls)
    except TimeoutError:
        raise Unreachable(f"{host}:{port} did not answer within {limits.CONNECT_SECONDS:g} s") from None
    except anyio.BrokenResourceError as error:
        raise Unreachable(f"{host}:{port} closed the connection before TLS was agreed on: does it speak it?") from error
    except OSError as error:
        raise Unreachable(f"no process listens at {host}:{port}: {error.strerror}") from error
    if token is None:
        return stream
    try:
        return await introduce(stream, token, port=port, seals=tls is None)
    except BaseException:
        await stream.aclose()
        raise


@asynccontextmanager
async def listen_tcp(
    host: str,
    port: int,
    handler: ConnectionHandler,
    *,
    token: str,
    tls: "ssl.SSLContext | None" = None,
    allow_remote: bool = False,
    max_connections: int | None = None,
) -> AsyncIterator[int]:
    """Listen, and serve each connection with a task of its own; yields the port, which 0 leaves to the system.

    Clients prove first that they know the `token` (see `authentication`); `left_token` leaves it where processes of the
    same user look for it. With `tls` they are shown the certificate in there before that. Leaving the block cancels the
    handlers and releases the port.

    Raises:
        NotPrivate: other machines could reach the address, and that was not allowed.
        Unreachable: the address cannot be listened on.

    """

    async def admit_knowing(stream: SocketStream) -> ByteStream:
        port = stream.socket.getsockname()[1]
        plain = tls is None
        return await admit(stream if tls is None else await _served(stream, tls), token, port=port, seals=plain)

    gate = Gate(admit_knowing, handler, max_connections)
    with listening_socket(listening_address(host, allow_remote=allow_remote), port) as listening:
        async with background_tasks() as tasks:
            tasks.start_soon(gate.guard, listening, tasks)
            yield listening.getsockname()[1]


@asynccontextmanager
async def listen_tcp_unproven(handler: ConnectionHandler) -> AsyncIterator[int]:
    """Listen at a free port of 127.0.0.1, and let in whatever connects: for clients that know nothing of tokens.

    Any process of the machine can connect. The handler has to ask each for a secret before it does anything, and to
    limit the connections that have shown none.

    """

    async def admit_any(stream: SocketStream) -> ByteStream:
        return stream

    gate = Gate(admit_any, handler, None)
    with listening_socket("127.0.0.1", 0) as listening:
        async with background_tasks() as tasks:
            tasks.start_soon(gate.guard, listening, tasks)
            yield listening.getsockname()[1]


async def _served(stream: ByteStream, tls: "ssl.SSLContext") -> ByteStream:
    import ssl

    from anyio.streams.tls import TLSStream

    try:
        return await TLSStream.wrap(stream, ssl_context=tls, server_side=True, standard_compatible=False)
    except (ssl.SSLError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
        raise NotAdmitted(f"no TLS could be agreed on: {error}") from error


async def _connected(host: str, port: int, tls: "ssl.SSLContext | None") -> ByteStream:
    """Connect to the first address of a host that answers; `localhost` is where our listeners have it."""
    stream = await _reached("127.0.0.1" if host == "localhost" else host, port)
    if tls is None:
        return stream
    try:
        return await _secured(stream, host, port, tls)
    except BaseException:
        await stream.aclose()
        raise


async def _secured(stream: ByteStream, host: str, port: int, tls: "ssl.SSLContext") -> ByteStream:
    import ssl

    from anyio.streams.tls import TLSStream

    try:
        return await TLSStream.wrap(stream, hostname=host, ssl_context=tls, standard_compatible=False)
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        raise Unreachable(f"{host}:{port} cannot be talked to by TLS: {reason}") from error


async def _reached(host: str, port: int) -> SocketStream:
    failure = OSError(errno.EADDRNOTAVAIL, "it has no address")
    for family, _type, _protocol, _name, address in await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            return await connected(family, address[:2])
        except OSError as error:
            failure = error
    raise failure


def listening_socket(address: str, port: int) -> socket.socket:
    """Listen at an address, without a gate yet.

    Raises:
        Unreachable: that cannot be.

    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setblocking(False)  # noqa: FBT003 - its only parameter
    try:
        listening.setsockopt(socket.SOL_SOCKET, REUSE_OPTION, 1)
        listening.bind((address, port))
        listening.listen(limits.BACKLOG_CONNECTIONS)
    except OSError as error:
        listening.close()
        raise Unreachable(f"{address}:{port} cannot be listened on: {error.strerror}") from error
    return listening
