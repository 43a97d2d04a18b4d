"""Two byte streams connected in memory, with the manners of a socket pair.

Each direction holds a bounded number of bytes, so that a peer that does not
read makes its sender wait, as a real one would. Data that was sent before a side closed can still be read; after that
comes the end of the stream.
"""

import anyio
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint

from dapkit import limits as shared_limits
from dapkit.transport import limits
from dapkit.transport.state_change import StateChange


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
        self.updates = StateChange()

    def readable(self) -> bool:
        return bool(self.waiting) or self.sender_left or self.receiver_left

    def writable(self) -> bool:
        return len(self.waiting) < self.capacity or self.sender_left or self.receiver_left


class _MemoryStream(ByteStream):
    def __init__(self, *, reads: _Lane, writes: _Lane) -> None:
        self._reads = reads
        self._writes = writes

    async def receive(self, max_bytes: int = shared_limits.READ_CHUNK_BYTES) -> bytes:
        lane = self._reads
        await checkpoint()
        await lane.updates.until(lane.readable)
        if lane.receiver_left:
            raise anyio.ClosedResourceError
        if not lane.waiting:
            raise anyio.EndOfStream
        data = bytes(lane.waiting[:max_bytes])
        del lane.waiting[:max_bytes]
        lane.updates.notify()
        return data

    async def send(self, item: bytes) -> None:
        lane = self._writes
        rest = memoryview(item)
        await checkpoint()
        while True:
            await lane.updates.until(lane.writable)
            if lane.sender_left:
                raise anyio.ClosedResourceError
            if lane.receiver_left:
                raise anyio.BrokenResourceError
            room = lane.capacity - len(lane.waiting)
            lane.waiting += rest[:room]
            lane.updates.notify()
            rest = rest[room:]
            if not rest:
                return

    async def send_eof(self) -> None:
        self._writes.sender_left = True
        self._writes.updates.notify()
        await checkpoint()

    async def aclose(self) -> None:
        self._writes.sender_left = True
        self._writes.updates.notify()
        self._reads.receiver_left = True
        self._reads.waiting.clear()
        self._reads.updates.notify()
