"""How the server is reached by HTTP on this machine.

A unix socket shows the messages that it keeps for diagnostics to processes of the same user. It speaks the protocol of
the hub, with one call: `wire_records`, as `dapkit.agent.queries.wire` has it.
"""

import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import anyio
import uvicorn
from anyio.abc import ByteStream, TaskStatus
from mcp.server.transport_security import TransportSecuritySettings

from dapkit import limits
from dapkit.agent.queries.wire import page_of
from dapkit.hub import wire
from dapkit.hub.caller import serve_caller
from dapkit.hub.calls import ReportProgress, ShowPart
from dapkit.hub.errors import CallRefused
from dapkit.hub.folder import MCP_SOCKET, runtime_folder
from dapkit.mcp.admission import HttpAdmission
from dapkit.mcp.sdk_server import DebugServer
from dapkit.mcp.wire_capture import WireCapture
from dapkit.protocol import to_json_value
from dapkit.redaction.redaction import Redaction, TextKind
from dapkit.system.files import lock, open_private
from dapkit.system.selection import IS_WINDOWS
from dapkit.transport import TransportError, WireBuffer, background_tasks, listen_unix, remove_dead_sockets
from dapkit.transport.signals import signals_to_end

log = logging.getLogger(__name__)


@asynccontextmanager
async def wire_listener(buffer: WireBuffer, *, port: int, redaction: Redaction | None) -> AsyncIterator[None]:
    """Show the kept messages to clients of the socket while the block runs.

    If the socket cannot be made, they are not shown.

    Args:
        buffer: the kept messages.
        port: of the server.
        redaction: takes secrets out; None if they stay.

    """
    name = f"mcp {port}"

    async def answer(message: Mapping[str, object], _report: ReportProgress, _show: ShowPart) -> dict[str, object]:
        match message:
            case {"call": "wire_records", "arguments": {"after": int(after), **more}}:
                if more.get("follow") is True:
                    with anyio.move_on_after(_seconds(more.get("timeout"))):
                        await buffer.updates.until(lambda: buffer.total > after)
                page = await page_of(buffer, after=after, of=name, over=False, redaction=redaction)
                return _as_object(to_json_value(page))
        raise CallRefused("invalid_call", f"expected wire_records with a number as `after`, found {message['call']}")

    async def serve(stream: ByteStream) -> None:
        greeting = {"mcp": "dapkit", "protocol": wire.PROTOCOL, "version": wire.VERSION, "pid": os.getpid()}
        await serve_caller(stream, greeting, answer)

    folder = Path(runtime_folder())
    async with AsyncExitStack() as listening:
        try:
            remove_dead_sockets(folder, MCP_SOCKET.format("*"))
            await listening.enter_async_context(listen_unix(folder / MCP_SOCKET.format(port), serve))
        except TransportError as error:
            log.warning("events cannot be looked at by dapkit wire --mcp: %s", error)
        yield


def _as_object(value: object) -> dict[str, object]:
    assert isinstance(value, dict)  # noqa: S101 - of a result it always is
    return value


def _seconds(timeout: object) -> float:
    return min(timeout, limits.ACTION_SECONDS_MOST) if isinstance(timeout, int | float) else limits.WIRE_FOLLOW_SECONDS


LOOPBACK = "127.0.0.1"
PATH = "/mcp"


async def serve_http(server: DebugServer, *, port: int, announce: Callable[[str, Path], None]) -> None:
    """Serve streamable HTTP on the loopback interface until the process is told to end.

    A request needs the token in `Authorization: Bearer`, and a `Host:` that names this machine; the token stands in a
    file that only the user can read and that goes with the server.

    Args:
        server: the server.
        port: 0 for any that is free.
        announce: called with the address and the file of the token, when the server listens.

    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(limits.BACKLOG_CONNECTIONS)
        port = listener.getsockname()[1]
        names = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
        application = server.protocol.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
            ),
        )
        redact = await server.service.redacts()
        with _token_file(port) as (token, file):
            admission = HttpAdmission(token)
            capture = WireCapture(WireBuffer(), f"mcp {port}")
            config = uvicorn.Config(
                admission.gated(capture.captured(application)),
                http=admission.protocol(),
                ws="none",
                backlog=limits.BACKLOG_CONNECTIONS,
                log_level="warning",
                access_log=False,
                proxy_headers=False,  # the counted connections are the proxy's
            )
            gated = _Uvicorn(config)
            redaction = Redaction([os.environ], [token], of_code=TextKind.OUTPUT) if redact else None
            async with (
                wire_listener(capture.buffer, port=port, redaction=redaction),
                background_tasks() as tasks,
            ):
                await tasks.start(_end_on_signal, gated)
                announce(f"http://{LOOPBACK}:{port}{PATH}", file)
                await gated.serve(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: it would let them kill the process before the token's file is gone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _end_on_signal(server: uvicorn.Server, *, task_status: TaskStatus[None]) -> None:
    with signals_to_end() as signals:
        task_status.started()
        async for _ in signals:
            server.force_exit = server.should_exit  # the second one does not wait for open streams
            server.should_exit = True


@contextmanager
def _token_file(port: int) -> Iterator[tuple[str, Path]]:
    """Write a token to a file that goes with the server; one of a server that was killed goes with the next start.

    The server holds a lock on its file as long as it lives, before the file has its name.
    """
    folder = Path(runtime_folder())
    _remove_stale(folder)
    token = secrets.token_urlsafe(32)
    file = folder / f"mcp-{port}.token"
    # On Windows an open file cannot get another name, and cannot be removed by others.
    unnamed = file if IS_WINDOWS else folder / f"mcp-{port}.{os.getpid()}.new"
    unnamed.unlink(missing_ok=True)
    descriptor = open_private(unnamed, os.O_WRONLY | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "w") as token_file:
            lock(descriptor)
            token_file.write(token)
            token_file.flush()
            if unnamed != file:
                unnamed.replace(file)
            yield token, file
    finally:
        file.unlink(missing_ok=True)


def _remove_stale(folder: Path) -> None:
    """Remove the files of servers that are no more, whose locks have gone with them."""
    for file in folder.glob("mcp-*.token"):
        with suppress(OSError):
            with file.open() as stale:
                is_stale = lock(stale.fileno(), waits=False)
            if is_stale:
                file.unlink()
