"""Reaching an adapter that listens, at the moment at which it ends."""

from types import SimpleNamespace
from typing import Any

import anyio
from anyio.abc import ByteStream

from dapkit.transport import child_on_socket, memory_pair


async def test_adapter_that_ends_as_it_is_reached_counts_as_reached() -> None:
    ended = anyio.Event()
    stream, _ = memory_pair()

    async def wait() -> int:
        await ended.wait()
        return 0

    async def meet(_session: int) -> ByteStream:
        ended.set()
        return stream

    child: Any = SimpleNamespace(pid=1, argv=["adapter"], wait=wait, stderr_tail=str)
    assert await child_on_socket._met(child, "1", child_on_socket._Cue(b"", None), meet, 1) is stream
