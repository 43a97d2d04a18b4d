"""Two byte streams connected in memory, with the manners of a socket pair.

Each direction holds a bounded number of bytes, so that a peer that does not
read makes its sender wait, as a real one would. What was sent before a side
closed can still be read; after that comes the end of the stream.
"""

import anyio
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint

from dapkit import limits


def memory_pair(capacity: int = limits.MEMORY_STREAM_BYTES) -> tuple[ByteStream, ByteStream]:
    """Two connected streams; each direction holds at most `capacity` bytes.

    Example:
        >>> async def main() -> bytes:
        ...     ours, theirs = memory_pair()
        ...     await ours.send(b"hello")
        ...     return await theirs.receive()
        >>> anyio.run(main)
        b'hello'

    """
    there, back = _Lane(capacity), _Lane(capacity)
    return _MemoryStream(reads=back, writes=there), _MemoryStream(reads=there, writes=back)


class _Lane:
    """One direction. Invariant: at most `capacity` bytes wait in it."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.waiting = bytearray()
        self.sender_left = False
        self.receiver_left = False
        self._changed = anyio.Event()

    def note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def change(self) -> None:
        await self._changed.wait()


class _MemoryStream(ByteStream):
    def __init__(self, *, reads: _Lane, writes: _Lane) -> None:
        self._reads = reads
        self._writes = writes

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        lane = self._reads
        await checkpoint()
        while not lane.waiting:
            if lane.receiver_left:
                raise anyio.ClosedResourceError
            if lane.sender_left:
                raise anyio.EndOfStream
            await lane.change()
        data = bytes(lane.waiting[:max_bytes])
        del lane.waiting[:max_bytes]
        lane.note_change()
        return data

    async def send(self, item: bytes) -> None:
        lane = self._writes
        rest = memoryview(item)
        await checkpoint()
        while True:
            if lane.sender_left:
                raise anyio.ClosedResourceError
            if lane.receiver_left:
                raise anyio.BrokenResourceError
            if not rest:
                return
            if room := lane.capacity - len(lane.waiting):
                lane.waiting += rest[:room]
                rest = rest[room:]
                lane.note_change()
            else:
                await lane.change()

    async def send_eof(self) -> None:
        self._writes.sender_left = True
        self._writes.note_change()

    async def aclose(self) -> None:
        self._writes.sender_left = True
        self._writes.note_change()
        self._reads.receiver_left = True
        self._reads.waiting.clear()
        self._reads.note_change()
