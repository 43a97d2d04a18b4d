"""The connections to all members of a machine, over one stream of bytes: the standard streams of one command.

Both ends send frames:

    channel (4 bytes)   kind (1 byte)   size (4 bytes)   that many bytes

    o  open     to the machine: `socket PATH` or `pid N`, the member that the channel is to lead to
    y  opened   from the machine: it leads there
    d  data     bytes of the connection
    e  end      the connection has ended, or was not made: the reason, empty where one end has closed it

The machine's end begins with a line, before which anything may come: a shell may greet its user.
"""

import asyncio
import struct
from contextlib import suppress
from typing import Final, NamedTuple

from dapkit.cluster.errors import JobError

OPEN, OPENED, DATA, END = b"o", b"y", b"d", b"e"
GREETING: Final = b"dapkit relay 1\n"

UNREAD_BYTES: Final = 16 * 1024 * 1024
"""Data that waits for one end of a channel, at most; the channel ends where there is more, and not the others."""

_HEADER: Final = struct.Struct(">IcI")
_PART: Final = 64 * 1024


class ChannelFrame(NamedTuple):
    """A part of one channel."""

    channel: int
    kind: bytes
    data: bytes


class Channels:
    """One end of the stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> ChannelFrame | None:
        """Return the next frame; None at the end of the stream.

        Raises:
            JobError: the other end has sent something else.

        """
        try:
            channel, kind, size = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
            if kind not in (OPEN, OPENED, DATA, END) or size > _PART:
                raise JobError(f"the relay has sent something else: a frame of kind {kind!r} and {size} bytes")
            return ChannelFrame(channel, kind, await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            return None

    def send_now(self, channel: int, kind: bytes, text: str = "") -> None:
        """Send a short frame, without waiting until the other end takes it."""
        self._writer.write(_frame(channel, kind, text.encode(errors="surrogateescape")[:_PART]))

    async def carry(self, channel: int, connection: asyncio.StreamReader) -> None:
        """Send the bytes of a connection until it ends."""
        with suppress(OSError):
            while data := await connection.read(_PART):
                self._writer.write(_frame(channel, DATA, data))
                await self._writer.drain()


def is_unread(connection: asyncio.StreamWriter) -> bool:
    """Return whether more data waits for one end of a channel than may."""
    return connection.transport.get_write_buffer_size() > UNREAD_BYTES


def _frame(channel: int, kind: bytes, data: bytes) -> bytes:
    return _HEADER.pack(channel, kind, len(data)) + data
