"""Bytes that come in at a descriptor: each is read once, by whoever asks for it."""

import asyncio
import fcntl
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from dapkit.transport.intake import Intake


class Pipe:
    """An intake at a pipe, and the end where its bytes come from."""

    def __init__(self) -> None:
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)
        self.intake = Intake(self.reads, partial(os.read, self.reads))

    def write(self, data: bytes) -> None:
        os.write(self.writes, data)

    def unread(self) -> int:
        """Return how many bytes are in the pipe."""
        (count,) = struct.unpack("i", fcntl.ioctl(self.reads, termios.FIONREAD, bytes(4)))
        return int(count)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Make a pipe."""
    made = Pipe()
    yield made
    os.close(made.reads)
    os.close(made.writes)


async def turns(count: int = 5) -> None:
    """Let the event loop look at its descriptors some times."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def test_a_reader_that_goes_on_reading_registers_once(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    registered: list[int] = []
    add_reader = loop.add_reader

    def noting(fd: int, callback: Callable[..., Any], *arguments: object) -> None:
        registered.append(fd)
        add_reader(fd, callback, *arguments)

    monkeypatch.setattr(loop, "add_reader", noting)
    got: list[bytes] = []

    async def read() -> None:
        while data := await pipe.intake.receive(10):
            got.append(data)
            if data == b"3":
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        for data in (b"1", b"2", b"3"):
            await turns()
            pipe.write(data)
    pipe.intake.close()
    assert got == [b"1", b"2", b"3"]
    assert registered == [pipe.reads]


async def test_nothing_is_read_while_nobody_asks(pipe: Pipe) -> None:
    pipe.write(b"first")
    assert await pipe.intake.receive(10) == b"first"
    pipe.write(b"second")
    await turns()
    assert pipe.unread() == len(b"second")
    assert await pipe.intake.receive(10) == b"second"
    pipe.intake.close()


async def test_what_was_read_for_somebody_who_was_cancelled_goes_to_the_next(pipe: Pipe) -> None:
    def read(max_bytes: int) -> bytes:
        asyncio.get_running_loop().call_soon(first.cancel)  # before it hears that there are bytes
        return os.read(pipe.reads, max_bytes)

    intake = Intake(pipe.reads, read)
    first = asyncio.ensure_future(intake.receive(10))
    await anyio.wait_all_tasks_blocked()
    pipe.write(b"text")
    with pytest.raises(asyncio.CancelledError):
        await first
    assert pipe.unread() == 0
    assert intake.receive_now(2) == b"te"
    assert await intake.receive(10) == b"xt"
    intake.close()


async def test_only_one_can_wait_at_a_time(pipe: Pipe) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipe.intake.receive, 10)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.BusyResourceError):
            await pipe.intake.receive(10)
        tasks.cancel_scope.cancel()
    pipe.intake.close()


async def test_closing_leaves_nothing_in_the_event_loop_and_wakes_who_waits(pipe: Pipe) -> None:
    woken = anyio.Event()

    async def wait() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await pipe.intake.receive(10)
        woken.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        pipe.intake.close()
        await woken.wait()
    assert not asyncio.get_running_loop().remove_reader(pipe.reads)
    assert pipe.intake.receive_now(10) == b""


async def test_a_regular_file_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "messages"
    file.write_bytes(b"abc")
    fd = os.open(file, os.O_RDONLY)
    intake = Intake(fd, partial(os.read, fd))
    assert [await intake.receive(2) for _ in range(3)] == [b"ab", b"c", b""]
    intake.close()
    os.close(fd)


def test_the_transport_is_imported_without_an_event_loop() -> None:
    code = "import sys, dapkit.transport; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "asyncio" not in done.stdout.split()
