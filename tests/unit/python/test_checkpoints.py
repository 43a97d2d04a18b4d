"""Processes of the past are waited for, but not for ever."""

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.time_travel.checkpoints import PastProcess


class Says(ByteStream):
    """A process that says some bytes, and then nothing more."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = list(parts)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self._parts:
            await anyio.sleep_forever()
        return self._parts.pop(0)

    async def send(self, item: bytes) -> None:
        raise NotImplementedError

    async def send_eof(self) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError


async def test_a_line_is_put_together_from_its_parts() -> None:
    process = PastProcess(Says(b"steps 1", b"2 3\narri", b"ved 4\n"))
    assert await process.line() == ["steps", "12", "3"]
    assert await process.line() == ["arrived", "4"]


async def test_a_process_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REPLAY_SECONDS", 0.01)
    with pytest.raises(RequestFailed, match=r"the moment was not reached within 0\.01 s"):
        await PastProcess(Says(b"arri")).line()
