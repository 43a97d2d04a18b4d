import anyio
import pytest

from dapkit.transport import memory_pair


async def test_what_one_end_sends_the_other_receives() -> None:
    ours, theirs = memory_pair()
    await ours.send(b"there")
    await theirs.send(b"back")
    assert await theirs.receive() == b"there"
    assert await ours.receive() == b"back"


async def test_receive_gives_at_most_what_was_asked_for_and_keeps_the_rest() -> None:
    ours, theirs = memory_pair()
    await ours.send(b"abcdef")
    assert await theirs.receive(4) == b"abcd"
    assert await theirs.receive(4) == b"ef"


async def test_sender_waits_while_the_peer_does_not_read() -> None:
    ours, theirs = memory_pair(capacity=4)
    with anyio.move_on_after(0.01) as scope:
        await ours.send(b"abcdef")
    assert scope.cancelled_caught
    assert await theirs.receive() == b"abcd"


async def test_large_message_passes_through_a_small_buffer() -> None:
    ours, theirs = memory_pair(capacity=1000)
    message = bytes(range(256)) * 400
    received = bytearray()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ours.send, message)
        while len(received) < len(message):
            received += await theirs.receive()
    assert received == message


async def test_bytes_sent_before_closing_arrive_before_the_end_of_stream() -> None:
    ours, theirs = memory_pair()
    await ours.send(b"last")
    await ours.aclose()
    assert await theirs.receive() == b"last"
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive()


async def test_send_eof_leaves_the_other_direction_open() -> None:
    ours, theirs = memory_pair()
    await ours.send_eof()
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive()
    await theirs.send(b"still")
    assert await ours.receive() == b"still"


async def test_sending_to_a_closed_peer_breaks() -> None:
    ours, theirs = memory_pair()
    await theirs.aclose()
    with pytest.raises(anyio.BrokenResourceError):
        await ours.send(b"x")


async def test_peer_that_closes_releases_a_sender_that_waits_for_room() -> None:
    ours, theirs = memory_pair(capacity=1)

    async def send_too_much() -> None:
        with pytest.raises(anyio.BrokenResourceError):
            await ours.send(b"too much")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send_too_much)
        await anyio.wait_all_tasks_blocked()
        await theirs.aclose()


async def test_own_closing_releases_a_receiver() -> None:
    ours, _theirs = memory_pair()

    async def receive() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await ours.receive()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        await anyio.wait_all_tasks_blocked()
        await ours.aclose()


async def test_closed_stream_cannot_be_used() -> None:
    ours, _theirs = memory_pair()
    await ours.aclose()
    with pytest.raises(anyio.ClosedResourceError):
        await ours.send(b"x")
    with pytest.raises(anyio.ClosedResourceError):
        await ours.receive()
