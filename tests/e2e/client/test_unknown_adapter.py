"""An adapter at a port that asks for no token may be a stranger's, who waits for somebody to attach."""

import socket

import anyio
import pytest
from anyio.abc import ByteStream

from client_fixtures import able
from dapkit.client import Session
from dapkit.protocol import ThreadsBody, encode_frame
from dapkit.testing import FakeAdapter, Timeline, failure, raw, reply
from dapkit.transport import background_tasks, listen_tcp
from dapkit.transport.sockets import SocketStream

WANTED = b'{"seq":77,"type":"request","command":"runInTerminal","arguments":{"args":["cat"],"cwd":"/"}}'
SCRIPT = able({"threads": [raw(encode_frame(WANTED)), reply(ThreadsBody(threads=[]))]})


@pytest.mark.parametrize("token", [None, "known to both"])
async def test_nothing_is_run_for_an_adapter_that_may_be_anybodys(token: str | None) -> None:
    seen: list[Timeline] = []

    async def serve(stream: ByteStream) -> None:
        async with FakeAdapter(stream, SCRIPT) as adapter:
            seen.append(adapter.timeline)
            await anyio.sleep_forever()

    async def debug(port: int) -> None:
        async with Session.connect("127.0.0.1", port, token=token) as session:
            await session.attach({})
            await session.threads()
            if token is None:
                await seen[0].wait_for(failure("runInTerminal"))
                assert session.terminals == ()
            else:
                assert (await session.wait_for_terminal()).pid

    if token is not None:
        async with listen_tcp("127.0.0.1", 0, serve, token=token) as port:
            await debug(port)
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:

        async def accept() -> None:
            await anyio.wait_readable(listening)
            await serve(SocketStream(listening.accept()[0]))

        async with background_tasks() as tasks:
            tasks.start_soon(accept)
            await debug(listening.getsockname()[1])
