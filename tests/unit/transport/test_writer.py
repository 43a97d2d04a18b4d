"""What the writing half of the pump does on streams that can write without waiting."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest

from dapkit import limits
from dapkit.endpoint import Endpoint, Role
from dapkit.protocol import (
    Capabilities,
    Event,
    FrameDecoder,
    InitializeRequestArguments,
    OutputEvent,
    Request,
    ThreadEvent,
    decode,
    encode,
    encode_frame,
)
from dapkit.transport import background_tasks
from dapkit.transport.sockets import SocketStream
from dapkit.transport.writer import Writer

HELLO = InitializeRequestArguments(adapter_id="test")


def ready_adapter() -> Endpoint:
    """Adapter that has introduced itself, with nothing left to say."""
    endpoint = Endpoint(Role.ADAPTER)
    endpoint.receive(encode_frame(encode(Request(1, "initialize", HELLO))))
    [asked] = endpoint.unanswered
    endpoint.respond(asked, Capabilities())
    endpoint.bytes_to_send()
    return endpoint


@contextmanager
def sockets() -> Iterator[tuple[SocketStream, socket.socket]]:
    """A stream that can write without waiting, and the bare other end."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)  # noqa: FBT003 - its only parameter
    with ours, theirs:
        yield SocketStream(ours), theirs


def all_of(peer: socket.socket) -> bytes:
    data = b""
    while True:
        try:
            data += peer.recv(1 << 20)
        except BlockingIOError:
            return data


async def test_message_leaves_in_the_call_that_made_it() -> None:
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        writer = Writer(stream, endpoint, None)
        endpoint.send_event(ThreadEvent(reason="started", thread_id=1))
        writer.notify()
        assert b'"threadId":1' in peer.recv(1 << 16)


async def test_all_frames_arrive_in_order_though_the_peer_is_slow() -> None:
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        writer = Writer(stream, endpoint, None)
        async with background_tasks() as tasks:
            tasks.start_soon(writer.run)
            for number in range(200):
                endpoint.send_custom_event(f"event {number}", "x" * 10_000)
                writer.notify()
            assert endpoint.has_bytes_to_send()
            received = b""
            with anyio.fail_after(30):
                while len(received) < 200 * 10_000 or endpoint.has_bytes_to_send():
                    received += all_of(peer)
                    await anyio.lowlevel.checkpoint()
                await writer.flush()
            received += all_of(peer)
    told = [decode(payload) for payload in FrameDecoder().feed(received)]
    names = [message.event for message in told if isinstance(message, Event)]
    assert names == [f"event {number}" for number in range(200)]


async def test_output_of_one_turn_leaves_as_one_event() -> None:
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        writer = Writer(stream, endpoint, None)
        async with background_tasks() as tasks:
            tasks.start_soon(writer.run)
            await anyio.wait_all_tasks_blocked()
            for text in "abc":
                endpoint.send_event(OutputEvent(output=text))
                writer.notify_later()
            await writer.flush()
        assert peer.recv(1 << 16).endswith(b'"body":{"output":"abc"}}')


async def test_message_waits_for_the_task_while_that_is_writing() -> None:
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        writer = Writer(stream, endpoint, None)
        async with background_tasks() as tasks:
            tasks.start_soon(writer.run)
            endpoint.send_custom_event("long", "x" * 1_000_000)
            writer.notify()
            await anyio.wait_all_tasks_blocked()
            all_of(peer)
            endpoint.send_custom_event("short")
            writer.notify()
            received = b""
            with anyio.fail_after(30):
                while b'"short"' not in received:
                    await anyio.wait_all_tasks_blocked()
                    received = all_of(peer)
        assert received.index(b"xxx") < received.index(b'"short"')


async def test_stream_that_breaks_is_told_by_the_task() -> None:
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        peer.close()
        writer = Writer(stream, endpoint, None)
        endpoint.send_custom_event("unheard")
        writer.notify()
        assert await writer.run() == "the peer closed the connection"
        await writer.flush()


async def test_peer_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SEND_SECONDS", 0.05)
    endpoint = ready_adapter()
    with sockets() as (stream, _peer):
        writer = Writer(stream, endpoint, None)
        endpoint.send_custom_event("long", "x" * 1_000_000)
        writer.notify()
        assert await writer.run() == "the peer took nothing for 0.05 s"


async def test_recorder_sees_what_leaves_at_once_and_what_leaves_later() -> None:
    seen: list[bytes] = []
    endpoint = ready_adapter()
    with sockets() as (stream, peer):
        writer = Writer(stream, endpoint, lambda _direction, data: seen.append(data))
        async with background_tasks() as tasks:
            tasks.start_soon(writer.run)
            for notify in (writer.notify, writer.notify_later):
                endpoint.send_custom_event("something")
                notify()
            await writer.flush()
        assert b"".join(seen) == all_of(peer)
