"""Descriptors that are closed while somebody waits for them."""

import os
import socket
from collections.abc import Callable

import anyio
import pytest
from anyio.abc import AsyncResource, ByteReceiveStream

from dapkit.transport.descriptors import DescriptorReader
from dapkit.transport.sockets import SocketStream

type Make = Callable[[], tuple[ByteReceiveStream, int, Callable[[], None]]]


def pipe() -> tuple[ByteReceiveStream, int, Callable[[], None]]:
    """Return the reader of a pipe, its descriptor, and what closes the other end."""
    reads, writes = os.pipe()
    return DescriptorReader(reads), reads, lambda: os.close(writes)


def sockets() -> tuple[ByteReceiveStream, int, Callable[[], None]]:
    """Return one end of a pair of sockets, its descriptor, and what closes the other end."""
    ours, theirs = socket.socketpair()
    return SocketStream(ours), ours.fileno(), theirs.close


async def write(fd: int) -> None:
    await anyio.wait_all_tasks_blocked()
    os.write(fd, b"x")
    os.close(fd)


@pytest.mark.parametrize("make", [pipe, sockets])
async def test_closing_wakes_who_waits_and_leaves_the_next_owner_of_the_number_alone(make: Make) -> None:
    stream, number, close_other_end = make()
    woken: list[AsyncResource] = []

    async def wait() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await stream.receive()
        woken.append(stream)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        reads, writes = os.pipe()
        assert reads == number  # the system gives the lowest number that is free
        tasks.start_soon(write, writes)
        with anyio.fail_after(30):
            await anyio.wait_readable(reads)
    assert woken == [stream]
    close_other_end()
    os.close(reads)
