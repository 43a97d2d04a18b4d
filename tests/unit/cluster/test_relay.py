"""The relay of a machine: what one member does to the others."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dapkit.cluster.channels import DATA, END, OPEN, OPENED, UNREAD_BYTES, ChannelFrame, Channels
from dapkit.cluster.relay import Relay

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

PART = 60_000


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def relaying() -> AsyncIterator[tuple[Channels, asyncio.StreamWriter]]:
    """Serve one relay; yield the root's end."""
    here, there = socket.socketpair()
    root, writer = await asyncio.open_connection(sock=here)
    reader, answers = await asyncio.open_connection(sock=there)
    serving = asyncio.create_task(Relay(Channels(reader, answers)).serve())
    yield Channels(root, writer), writer
    writer.close()
    await serving
    answers.close()


def listening(path: Path) -> socket.socket:
    engine = socket.socket(socket.AF_UNIX)
    engine.bind(str(path))
    engine.listen()
    return engine


async def test_a_member_that_does_not_read_loses_its_channel_and_no_other(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(PART))
        await reader.read()
        writer.close()

    echoing = await asyncio.start_unix_server(echo, tmp_path / "echoing")
    with listening(tmp_path / "silent"):
        async with echoing, relaying() as (channels, writer):
            channels.send_now(1, OPEN, f"socket {tmp_path / 'silent'}")
            assert await channels.receive() == ChannelFrame(1, OPENED, b"")
            for _ in range(UNREAD_BYTES // PART + 20):
                channels.send_now(1, DATA, "x" * PART)
                await writer.drain()
            assert await channels.receive() == (1, END, b"its engine does not read the requests that it is sent")
            channels.send_now(2, OPEN, f"socket {tmp_path / 'echoing'}")
            assert await channels.receive() == (2, OPENED, b"")
            channels.send_now(2, DATA, "hello")
            assert await channels.receive() == (2, DATA, b"hello")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("socket /no/engine", "no engine listens at /no/engine of "),
        ("socket /no/\udce4", "no engine listens at /no/\udce4 of "),
        ("pid x", "the member is 'pid x', expected a socket or a process"),
    ],
)
async def test_a_member_that_is_not_reached_is_told_with_the_reason(target: str, reason: str) -> None:
    async with relaying() as (channels, _):
        channels.send_now(7, OPEN, target)
        answer = await channels.receive()
        assert answer is not None
        assert (answer.channel, answer.kind, answer.data.decode(errors="surrogateescape")[: len(reason)]) == (
            7,
            END,
            reason,
        )
