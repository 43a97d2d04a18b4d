"""TCP as a way to an adapter, or to its clients: loopback, a token, and no waiting for more to send."""

import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.transport.authentication import admit, introduce
from dapkit.transport.errors import Unreachable
from dapkit.transport.gate import Admission, ConnectionHandler, Gate, admit_everybody, admit_own_user, listening_address
from dapkit.transport.sockets import SocketStream, connected
from dapkit.transport.tasks import background_tasks


async def connect_tcp(host: str, port: int, *, token: str | None = None) -> ByteStream:
    """Connect to a listening adapter; `token` is for servers of ours that ask for one.

    Raises:
        Unreachable: nobody listens there.
        NotAdmitted: the token was refused.

    """
    try:
        with anyio.fail_after(limits.CONNECT_SECONDS):
            stream = await _connected(host, port)
    except TimeoutError:
        raise Unreachable(f"{host}:{port} did not answer within {limits.CONNECT_SECONDS:g} s") from None
    except OSError as error:
        raise Unreachable(f"nobody listens at {host}:{port}: {error.strerror}") from error
    if token is None:
        return stream
    try:
        return await introduce(stream, token)
    except BaseException:
        await stream.aclose()
        raise


@asynccontextmanager
async def listen_tcp(
    host: str,
    port: int,
    handler: ConnectionHandler,
    *,
    token: str | None,
    allow_remote: bool = False,
    max_connections: int | None = None,
) -> AsyncIterator[int]:
    """Listen, and serve each connection with a task of its own; yields the port, which 0 leaves to the system.

    Clients show the `token` first. Without one (None has to be spelled out) they
    have to be processes of our own user; if other machines may connect
    (`allow_remote`), everybody is let in. Leaving the block cancels the
    handlers and releases the port.

    Raises:
        NotPrivate: other machines could reach the address, and that was not allowed.
        Unreachable: the address cannot be listened on.

    """
    gate = Gate(_admission(token, allow_remote=allow_remote), handler, max_connections)
    with _listening(listening_address(host, allow_remote=allow_remote), port) as listening:
        async with background_tasks() as tasks:
            tasks.start_soon(gate.guard, listening, tasks)
            yield listening.getsockname()[1]


def _admission(token: str | None, *, allow_remote: bool) -> Admission:
    if token is not None:
        return partial(admit, token=token)
    return admit_everybody if allow_remote else admit_own_user


async def _connected(host: str, port: int) -> SocketStream:
    """Connect to the first address of a host that answers."""
    failure = OSError(errno.EADDRNOTAVAIL, "it has no address")
    for family, _type, _protocol, _name, address in await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            return await connected(family, address[:2])
        except OSError as error:
            failure = error
    raise failure


def _listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise Unreachable(f"{address}:{port} cannot be listened on: {error.strerror}") from error
    return listening
