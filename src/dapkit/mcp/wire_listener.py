"""A unix socket that shows the messages that a server keeps for diagnostics, for processes of the same user.

It is the protocol of the hub, with one call: `wire_records`, as `dapkit.agent.queries.wire` has it.
"""

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.agent.queries.wire_rows import page_of
from dapkit.hub import wire
from dapkit.hub.caller import serve_caller
from dapkit.hub.calls import ReportProgress
from dapkit.hub.errors import CallRefused
from dapkit.hub.folder import MCP_SOCKET, runtime_folder
from dapkit.protocol import to_json_value
from dapkit.redaction.redaction import Redaction
from dapkit.transport import TransportError, WireBuffer, listen_unix, remove_dead_sockets

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

    async def answer(message: Mapping[str, object], _report: ReportProgress) -> dict[str, object]:
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
