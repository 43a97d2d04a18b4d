"""How the server is reached: on the standard streams of an agent's child, or by HTTP on this machine."""

import hmac
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from anyio.abc import TaskStatus
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from dapkit.hub.folder import runtime_folder
from dapkit.mcp.server import DebugServer
from dapkit.transport import background_tasks

type AsgiScope = MutableMapping[str, Any]
type AsgiReceive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type AsgiSend = Callable[[MutableMapping[str, Any]], Awaitable[None]]
type AsgiApplication = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

LOOPBACK = "127.0.0.1"
PATH = "/mcp"


async def serve_stdio(server: DebugServer) -> None:
    """Serve on stdin and stdout until stdin ends."""
    async with stdio_server() as (reads, writes):
        await server.protocol.run(reads, writes, server.protocol.create_initialization_options())


async def serve_http(server: DebugServer, *, port: int, announce: Callable[[str, Path], None]) -> None:
    """Serve streamable HTTP on the loopback interface until the process is told to end.

    A request needs the token in `Authorization: Bearer`, and a `Host:` that names this machine; the token stands in a
    file that only the user can read and that goes with the server.

    Args:
        server: what is served.
        port: 0 for any that is free.
        announce: called with the address and the file of the token, when the server listens.

    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
        port = listener.getsockname()[1]
        names = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
        application = server.protocol.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
            ),
        )
        with _token_file(port) as (token, file):
            gated = _Uvicorn(uvicorn.Config(_gate(application, token), log_level="warning", access_log=False))
            async with background_tasks() as tasks:
                await tasks.start(_end_on_signal, gated)
                announce(f"http://{LOOPBACK}:{port}{PATH}", file)
                await gated.serve(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: it would let them kill the process before the token's file is gone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _end_on_signal(server: uvicorn.Server, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            server.force_exit = server.should_exit  # the second one does not wait for open streams
            server.should_exit = True


@contextmanager
def _token_file(port: int) -> Iterator[tuple[str, Path]]:
    token = secrets.token_urlsafe(32)
    file = Path(runtime_folder(), f"mcp-{port}.token")
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as written:
        written.write(token)
    try:
        yield token, file
    finally:
        file.unlink(missing_ok=True)


def _gate(application: AsgiApplication, token: str) -> AsgiApplication:
    """Let nobody in who does not have the token."""
    expected = f"Bearer {token}".encode()

    async def gated(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(given, expected):
            await application(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"this server wants its token: Authorization: Bearer ..."})

    return gated
