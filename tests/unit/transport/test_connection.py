"""The pump: our own Connection on both ends of a memory pair, or against bytes written by hand."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import pytest
from anyio.abc import ByteStream
from anyio.streams.stapled import StapledByteStream

from dapkit import limits
from dapkit.endpoint import (
    CancelRequested,
    ConversationEnded,
    Endpoint,
    EventReceived,
    Happening,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    Role,
)
from dapkit.protocol import (
    Capabilities,
    EvaluateArguments,
    EvaluateBody,
    Event,
    InitializeRequestArguments,
    Message,
    OutputEvent,
    RawJson,
    Request,
    Response,
    RunInTerminalRequestArguments,
    Thread,
    ThreadsArguments,
    ThreadsBody,
    encode,
    encode_frame,
)
from dapkit.transport import Connection, ConversationLost, DeadlineExceeded, Incoming, background_tasks, memory_pair
from dapkit.transport import limits as transport_limits
from dapkit.transport.sockets import SocketStream

HELLO = InitializeRequestArguments(adapter_id="test", supports_run_in_terminal_request=True)
ABLE = Capabilities(supports_cancel_request=True)


async def next_request(connection: Connection) -> Request:
    async for happening in connection.incoming():
        match happening:
            case RequestReceived(request):
                return request
    raise AssertionError("the conversation ended without a request")


async def answer_threads(connection: Connection) -> None:
    async for happening in connection.incoming():
        match happening:
            case RequestReceived(request):
                connection.respond(request, ThreadsBody(threads=[Thread(id=request.seq, name="main")]))


async def answer_initialize_and_threads(connection: Connection) -> None:
    connection.respond(await next_request(connection), ABLE)
    await answer_threads(connection)


@asynccontextmanager
async def conversation(
    capacity: int = transport_limits.MEMORY_STREAM_BYTES,
) -> AsyncIterator[tuple[Connection, Connection]]:
    """Client and adapter that have shaken hands."""
    ours, theirs = memory_pair(capacity)
    async with (
        Connection(theirs, Endpoint(Role.ADAPTER)) as adapter,
        Connection(ours, Endpoint(Role.CLIENT)) as client,
        background_tasks() as tasks,
    ):

        async def introduce() -> None:
            adapter.respond(await next_request(adapter), ABLE)

        tasks.start_soon(introduce)
        await client.request(HELLO)
        yield client, adapter


@asynccontextmanager
async def client_of_bytes() -> AsyncIterator[tuple[Connection, ByteStream]]:
    """Client that has shaken hands, and the bare other end of its stream."""
    ours, theirs = memory_pair()
    async with theirs, Connection(ours, Endpoint(Role.CLIENT)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, HELLO)
            await theirs.receive()
            await theirs.send(encode_frame(encode(Response(1, 1, True, "initialize", body=ABLE))))  # noqa: FBT003 - success
        yield client, theirs


async def test_request_returns_the_typed_body_of_its_response() -> None:
    async with conversation() as (client, adapter), background_tasks() as tasks:
        tasks.start_soon(answer_threads, adapter)
        assert await client.request(ThreadsArguments()) == ThreadsBody(threads=[Thread(id=2, name="main")])


async def test_failed_response_is_raised_with_its_variables_filled_in() -> None:
    async with conversation() as (client, adapter), anyio.create_task_group() as tasks:

        async def refuse() -> None:
            error = Message(id=7, format="thread {id} runs", variables={"id": "3"})
            adapter.fail(await next_request(adapter), RequestFailed("", message="notStopped", error=error))

        tasks.start_soon(refuse)
        with pytest.raises(RequestFailed) as failure:
            await client.request(ThreadsArguments())
    assert failure.value.text == "thread 3 runs"
    assert failure.value.message == "notStopped"


@pytest.mark.thorough
async def test_ten_thousand_requests_at_once_all_get_their_own_answer() -> None:
    answers: dict[int, int] = {}
    async with conversation() as (client, adapter), background_tasks() as server:
        server.start_soon(answer_threads, adapter)

        async def ask(number: int) -> None:
            answers[number] = (await client.request(ThreadsArguments())).threads[0].id

        async with anyio.create_task_group() as tasks:
            for number in range(10_000):
                tasks.start_soon(ask, number)
    assert sorted(answers.values()) == list(range(2, 10_002))


async def test_requests_that_are_made_and_answered_in_one_turn_leave_together() -> None:
    ours, theirs = map(SocketStream, socket.socketpair())  # unlike a stream in memory, they can write at once
    written: list[bytes] = []

    def tap(direction: Literal["sent", "received"], data: bytes) -> None:
        if direction == "sent":
            written.append(data)

    async with (
        Connection(theirs, Endpoint(Role.ADAPTER), tap=tap) as adapter,
        Connection(ours, Endpoint(Role.CLIENT), tap=tap) as client,
        background_tasks() as server,
    ):
        server.start_soon(answer_initialize_and_threads, adapter)
        await client.request(HELLO)
        written.clear()
        async with anyio.create_task_group() as tasks:
            for _ in range(1000):
                tasks.start_soon(client.request, ThreadsArguments())
        assert len(written) < 100


async def test_what_comes_in_is_handed_over_as_it_is_read_where_somebody_takes_it() -> None:
    ours, theirs = memory_pair()
    taken: list[Incoming] = []
    async with theirs, Connection(ours, Endpoint(Role.CLIENT), on_incoming=taken.append) as client:
        await theirs.send(encode_frame(encode(Event(1, "robot/moved"))) * 2)
        await theirs.aclose()
        await client.wait_ended()
        assert [event for event in taken if isinstance(event, EventReceived)] == taken
        assert len(taken) == 2
        assert [happening async for happening in client.incoming()] == []


async def test_deadline_ends_the_wait_and_cancels_at_the_peer() -> None:
    async with conversation() as (client, adapter):
        with pytest.raises(DeadlineExceeded, match="evaluate was not answered"):
            await client.request(EvaluateArguments(expression="forever"), deadline=0.01)
        heard = adapter.incoming()
        asked = await anext(heard)
        assert isinstance(asked, RequestReceived)
        assert await anext(heard) == CancelRequested(asked.request)


async def test_cancelled_caller_cancels_at_the_peer() -> None:
    async with conversation() as (client, adapter):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, EvaluateArguments(expression="forever"))
            asked = await next_request(adapter)
            tasks.cancel_scope.cancel()
        assert await anext(adapter.incoming()) == CancelRequested(asked)


async def test_late_answer_disturbs_nobody() -> None:
    async with conversation() as (client, adapter), background_tasks() as tasks:
        with pytest.raises(DeadlineExceeded):
            await client.request(EvaluateArguments(expression="slow"), deadline=0)
        adapter.respond(await next_request(adapter), EvaluateBody(result="late", variables_reference=0))
        tasks.start_soon(answer_threads, adapter)
        await client.request(ThreadsArguments())
        assert client.endpoint.violations.kept == []


async def test_deadline_of_a_reverse_request_is_just_that() -> None:
    async with conversation() as (_client, adapter):
        with pytest.raises(DeadlineExceeded):
            await adapter.request(RunInTerminalRequestArguments(cwd="", args=["ls"]), deadline=0)


async def test_peer_that_closes_wakes_everybody_who_waits() -> None:
    lost: list[str] = []
    async with client_of_bytes() as (client, peer):

        async def ask() -> None:
            with pytest.raises(ConversationLost) as error:
                await client.request(ThreadsArguments())
            lost.append(str(error.value))

        async with anyio.create_task_group() as tasks:
            for _ in range(100):
                tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await peer.aclose()
            await client.wait_ended()
    assert lost == ["threads was not answered: the peer closed the connection"] * 100


async def test_end_in_the_middle_of_a_message_says_so() -> None:
    async with client_of_bytes() as (client, peer):
        await peer.send(b"Content-Length: 100\r\n\r\n{")
        await peer.send_eof()
        await client.wait_ended()
        assert client.ended is not None
        assert client.ended.problem is not None
        assert "in the middle of a message" in client.ended.problem
        with pytest.raises(ConversationLost, match="in the middle of a message"):
            await client.request(ThreadsArguments())


async def test_bytes_that_are_no_frames_end_the_conversation_at_once() -> None:
    async with client_of_bytes() as (client, peer):
        await peer.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.wait_ended()
        assert client.ended is not None
        assert client.ended.problem is not None
        assert [happening async for happening in client.incoming()] == []


async def test_messages_before_the_end_are_handed_out_before_it() -> None:
    async with conversation() as (client, adapter):
        adapter.send_event(OutputEvent(output="last words"))
        await adapter.flush()
        await adapter._stream.aclose()
        heard = [happening async for happening in client.incoming()]
    assert [h.event.body for h in heard if isinstance(h, EventReceived)] == [OutputEvent(output="last words")]


async def test_request_of_an_ended_connection_is_refused_at_once() -> None:
    async with conversation() as (client, _adapter):
        pass
    with pytest.raises(ConversationLost, match="the connection was closed"):
        await client.request(ThreadsArguments())
    assert [happening async for happening in client.incoming()] == []


async def test_request_that_waits_while_the_connection_is_closed_is_lost() -> None:
    ours, _theirs = memory_pair()
    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(ConversationLost, match="the connection was closed"):
                await client.request(HELLO)

        async with Connection(ours, Endpoint(Role.CLIENT)) as client:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()


async def test_closing_writes_what_is_queued() -> None:
    ours, theirs = memory_pair(capacity=1000)
    text = "x" * 300_000
    heard = []

    async def listen() -> None:
        async with Connection(ours, Endpoint(Role.CLIENT)) as client:
            await client.request(HELLO)
            heard.extend([happening async for happening in client.incoming()])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        async with Connection(theirs, Endpoint(Role.ADAPTER)) as adapter:
            adapter.respond(await next_request(adapter), ABLE)
            adapter.send_custom_event("long", text)
    assert heard == [EventReceived(Event(2, "long", RawJson(f'"{text}"'.encode())))]


async def test_closing_gives_up_on_a_peer_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.05)
    async with client_of_bytes() as (client, _peer):
        client.send_custom_event("long", "x" * 300_000)
    assert client.ended == ConversationEnded(None)


async def test_peer_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SEND_SECONDS", 0.05)
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.05)
    async with client_of_bytes() as (client, _peer):
        with pytest.raises(ConversationLost, match="the peer took nothing"):
            await client.request(EvaluateArguments(expression="x" * 200_000))
        assert client.ended == ConversationEnded("the peer took nothing for 0.05 s")


async def test_what_a_dead_peer_said_before_is_still_heard() -> None:
    writes, closed = memory_pair()
    reads, peer = memory_pair()
    await closed.aclose()

    async def ask(client: Connection) -> None:
        with pytest.raises(ConversationLost, match="the peer closed the connection"):
            await client.request(HELLO)

    async with (
        Connection(StapledByteStream(writes, reads), Endpoint(Role.CLIENT)) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(ask, client)
        await anyio.wait_all_tasks_blocked()
        await peer.send(encode_frame(encode(Event(1, "why"))))
        await peer.aclose()
        assert [happening async for happening in client.incoming()] == [EventReceived(Event(1, "why"))]


async def test_senders_of_output_wait_while_too_much_is_queued_and_all_go_on() -> None:
    half = "x" * (transport_limits.OUTPUT_BACKLOG_BYTES // 2)
    sent: list[int] = []
    ours, theirs = memory_pair()

    async def read() -> None:
        async for _ in ours:
            pass

    async with background_tasks() as tasks, Connection(theirs, Endpoint(Role.ADAPTER)) as adapter:
        await ours.send(encode_frame(encode(Request(1, "initialize", HELLO))))
        adapter.respond(await next_request(adapter), ABLE)

        async def send(number: int) -> None:
            await adapter.send_output(OutputEvent(output=half))
            sent.append(number)

        async with anyio.create_task_group() as senders:
            for number in range(5):
                senders.start_soon(send, number)
            await anyio.wait_all_tasks_blocked()
            assert len(sent) < 4
            tasks.start_soon(read)
    assert sorted(sent) == [0, 1, 2, 3, 4]


async def test_sender_of_output_is_told_when_nobody_listens_any_more() -> None:
    async with conversation() as (client, adapter):
        await client._stream.aclose()
        await adapter.wait_ended()
        with pytest.raises(ConversationLost):
            await adapter.send_output(OutputEvent(output="x"))


async def test_response_overtakes_queued_output() -> None:
    async with conversation(capacity=1000) as (client, adapter), background_tasks() as tasks:
        tasks.start_soon(answer_threads, adapter)
        for _ in range(100):
            adapter.send_event(OutputEvent(output="x" * 60_000))
        await client.request(ThreadsArguments())
        assert adapter.endpoint.output_backlog > 5_000_000


async def test_error_of_the_block_comes_out_as_it_is() -> None:
    ours, _theirs = memory_pair()
    with pytest.raises(LookupError, match="of the block"):
        async with Connection(ours, Endpoint(Role.CLIENT)):
            raise LookupError("of the block")


async def test_cancelled_block_closes_the_stream() -> None:
    ours, theirs = memory_pair()
    with anyio.move_on_after(0.01):
        async with Connection(ours, Endpoint(Role.CLIENT)):
            await anyio.sleep_forever()
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive()


async def test_incoming_may_be_left_and_taken_up_again() -> None:
    async with conversation() as (client, adapter):
        for number in range(3):
            adapter.send_custom_event(f"event {number}")
        names = []
        for _ in range(3):
            async for happening in client.incoming():
                assert isinstance(happening, EventReceived)
                names.append(happening.event.event)
                break
    assert names == ["event 0", "event 1", "event 2"]


async def test_storm_of_events_does_not_outrun_the_dispatcher() -> None:
    delivered = handed_out = longest = 0

    def watch(happening: Happening) -> None:
        nonlocal delivered, longest
        delivered += isinstance(happening, EventReceived)
        longest = max(longest, delivered - handed_out)

    ours, theirs = memory_pair()
    event = encode_frame(encode(Event(2, "output", OutputEvent(output="a line"))))
    async with theirs, Connection(ours, Endpoint(Role.CLIENT), watch=watch) as client, background_tasks() as tasks:
        tasks.start_soon(client.request, HELLO)
        await theirs.receive()
        await theirs.send(encode_frame(encode(Response(1, 1, True, "initialize", body=ABLE))))  # noqa: FBT003 - success
        tasks.start_soon(theirs.send, event * 20_000)
        async for _ in client.incoming():
            handed_out += 1
            if handed_out == 20_000:
                break
    assert longest <= 2 * limits.READ_CHUNK_BYTES / len(event)


async def test_watch_is_told_of_everything_in_order_before_those_who_wait() -> None:
    watched: list[Happening] = []
    ours, theirs = memory_pair()
    async with Connection(theirs, Endpoint(Role.ADAPTER)) as adapter, anyio.create_task_group() as tasks:

        async def introduce() -> None:
            adapter.respond(await next_request(adapter), ABLE)

        tasks.start_soon(introduce)
        async with Connection(ours, Endpoint(Role.CLIENT), watch=watched.append) as client:
            await client.request(HELLO)
            assert [type(happening) for happening in watched] == [ResponseReceived]
    assert watched[1:] == [ConversationEnded(None)]


async def test_tap_sees_all_bytes() -> None:
    seen = {"sent": b"", "received": b""}

    def tap(direction: str, data: bytes) -> None:
        seen[direction] += data

    ours, theirs = memory_pair()
    async with Connection(ours, Endpoint(Role.CLIENT), tap=tap) as client, background_tasks() as tasks:
        tasks.start_soon(client.request, HELLO)
        asked = await theirs.receive()
        await theirs.send(b"Content-Le")
        await anyio.wait_all_tasks_blocked()
        assert seen == {"sent": asked, "received": b"Content-Le"}


async def test_bug_in_a_watch_ends_the_block_with_that_error() -> None:
    def watch(happening: Happening) -> None:
        raise LookupError(f"bug at {type(happening).__name__}")

    ours, theirs = memory_pair()
    await theirs.aclose()
    with pytest.raises(LookupError, match="bug at ConversationEnded"):
        async with Connection(ours, Endpoint(Role.CLIENT), watch=watch):
            await anyio.sleep_forever()
