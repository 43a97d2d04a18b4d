"""The frames that carry the connections to the members of a machine."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dapkit.cluster.channels import DATA, END, OPEN, ChannelFrame, Channels
from dapkit.cluster.errors import JobError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def between(write: Callable[[Channels], Awaitable[None]]) -> bytes:
    """Return the bytes that one end sends."""
    received = asyncio.StreamReader()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.feed_data(await reader.read(-1))
        received.feed_eof()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        await write(Channels(reader, writer))
        writer.write_eof()
        data = await received.read(-1)
        writer.close()
    return data


async def received(data: bytes) -> list[ChannelFrame]:
    """Return the frames that the other end finds in bytes."""
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    frames = []
    channels = Channels(reader, None)  # type: ignore[arg-type]  # nothing is sent
    while (frame := await channels.receive()) is not None:
        frames.append(frame)
    return frames


async def test_frames_of_several_channels_come_as_they_were_sent() -> None:
    connection = asyncio.StreamReader()
    connection.feed_data(b"x" * 100_000)
    connection.feed_eof()

    async def write(channels: Channels) -> None:
        channels.send_now(1, OPEN, "socket /tmp/ä b")
        await channels.carry(1, connection)
        channels.send_now(2, END, "no engine listens")

    first, *parts, last = await received(await between(write))
    assert (first, last) == (ChannelFrame(1, OPEN, "socket /tmp/ä b".encode()), (2, END, b"no engine listens"))
    assert {(part.channel, part.kind) for part in parts} == {(1, DATA)}
    assert b"".join(part.data for part in parts) == b"x" * 100_000


@pytest.mark.parametrize(
    "data", [b"Traceback (most recent call last)", b"\0\0\0\1d\xff\xff\xff\xff", b"\0\0\0\1?\0\0\0\0"]
)
async def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(JobError, match="the relay has sent something else"):
        await received(data)


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\1d\0\0\0\5abc"])
async def test_a_stream_that_breaks_off_ends(data: bytes) -> None:
    assert await received(data) == []
