"""A caller's end for programs with an event loop, such as an MCP server.

It makes the same call as `dapkit.hub.client`, over the same connection. Cancelling
the coroutine gives the call up.
"""

from collections.abc import Mapping
from contextlib import suppress

import anyio
from anyio import to_thread

from dapkit import limits
from dapkit.hub import wire
from dapkit.hub.client import HubClient, call_message
from dapkit.hub.connection import OnProgress, lost, result_in, silent
from dapkit.hub.errors import CallRefused
from dapkit.transport.sockets import SocketStream


async def call(
    name: str,
    arguments: Mapping[str, object],
    *,
    project: str,
    session: str | None = None,
    read_only: bool = False,
    timeout: float = limits.HUB_CALL_SECONDS,  # noqa: ASYNC109 - the parameters of `dapkit.hub.call`
    on_progress: OnProgress | None = None,
    hub_client: HubClient | None = None,
) -> dict[str, object]:
    """Send one call to the hub and return its result (see `dapkit.hub.call`).

    Raises:
        HubError: no hub could be reached, or it did not answer.

    """
    hub_client = HubClient() if hub_client is None else hub_client
    message = call_message(name, arguments, project=project, session=session, read_only=read_only)
    patience = anyio.current_time() + limits.HUB_START_SECONDS
    while True:
        connection = await to_thread.run_sync(hub_client.connect)
        async with SocketStream(connection.detach()) as stream:
            try:
                with anyio.fail_after(timeout):
                    return await _ask(stream, message, connection.pid, on_progress)
            except TimeoutError:
                raise silent(connection.pid) from None
            except CallRefused as refusal:
                if refusal.code != wire.ENDING or anyio.current_time() > patience:
                    raise
        await anyio.sleep(limits.CONNECT_RETRY_SECONDS)


async def _ask(
    stream: SocketStream, message: Mapping[str, object], pid: int, on_progress: OnProgress | None
) -> dict[str, object]:
    lines = wire.LineBuffer()
    with suppress(anyio.BrokenResourceError):  # its earlier data must still be read
        await stream.send(wire.encode({"id": 1, **message}))
    with suppress(anyio.BrokenResourceError):
        async for data in stream:
            for line in lines.feed(data):
                result = result_in(wire.decode(line), on_progress)
                if result is not None:
                    return result
    raise lost(pid)
