import json
import socket
from contextlib import AsyncExitStack

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.endpoint import Endpoint, RequestReceived, Role
from dapkit.protocol import Capabilities, FrameDecoder, InitializeRequestArguments, Request, encode, encode_frame
from dapkit.transport import (
    Connection,
    NotAdmitted,
    NotPrivate,
    Unreachable,
    background_tasks,
    connect_tcp,
    listen_tcp,
    new_token,
)
from dapkit.transport import limits as transport_limits
from dapkit.transport.sealing import SealedStream
from dapkit.transport.sockets import SocketStream

TOKEN = new_token()


async def echo(stream: ByteStream) -> None:
    async for data in stream:
        await stream.send(data)


async def serve_initialize(stream: ByteStream) -> None:
    async with Connection(stream, Endpoint(Role.ADAPTER)) as adapter:
        async for happening in adapter.incoming():
            match happening:
                case RequestReceived(request):
                    adapter.respond(request, Capabilities(supports_step_back=True))


async def test_session_behind_a_token() -> None:
    token = new_token()
    async with listen_tcp("localhost", 0, serve_initialize, token=token) as port:
        stream = await connect_tcp("localhost", port, token=token)
        async with Connection(stream, Endpoint(Role.CLIENT)) as client:
            assert (await client.request(InitializeRequestArguments(adapter_id="x"))).supports_step_back


async def test_ipv6_loopback_serves_as_well() -> None:
    async with listen_tcp("::1", 0, echo, token=TOKEN) as port, await connect_tcp("::1", port, token=TOKEN) as stream:
        await stream.send(b"hello")
        assert await stream.receive() == b"hello"


async def test_server_that_does_not_know_the_token_gets_nothing_of_it() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=new_token()) as port:
        with pytest.raises(NotAdmitted, match="the server did not prove that it knows the token"):
            await connect_tcp("127.0.0.1", port, token=new_token())


async def test_stranger_cannot_hand_on_the_questions_of_a_server(caplog: pytest.LogCaptureFixture) -> None:
    """One who has taken another port of the machine stands between a client and the server that it looks for."""
    stranger = socket.create_server(("127.0.0.1", 0))

    async def hand_on(port: int) -> None:
        await anyio.wait_readable(stranger)
        async with (
            SocketStream(stranger.accept()[0]) as victim,
            await connect_tcp("127.0.0.1", port) as server,
            background_tasks() as tasks,
        ):
            tasks.start_soon(_copy, server, victim)
            await _copy(victim, server)

    with stranger:
        async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN) as port, anyio.create_task_group() as tasks:
            tasks.start_soon(hand_on, port)
            with pytest.raises(NotAdmitted, match="the port is forwarded from one of another number"):
                await connect_tcp("127.0.0.1", stranger.getsockname()[1], token=TOKEN)
    assert "was refused" in caplog.text


async def _copy(source: ByteStream, target: ByteStream) -> None:
    async for data in source:
        await target.send(data)


async def test_client_without_token_is_told_and_closed() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=new_token()) as port, await connect_tcp("127.0.0.1", port) as it:
        await it.send(encode_frame(encode(Request(1, "initialize"))))
        answer = json.loads(FrameDecoder().feed(await it.receive())[0])
        assert answer["success"] is False
        assert "dapkit/authenticate" in answer["message"]
        with pytest.raises(anyio.EndOfStream):
            await it.receive()


async def test_refusals_are_logged_without_what_came(caplog: pytest.LogCaptureFixture) -> None:
    token, wrong = new_token(), new_token()
    async with listen_tcp("127.0.0.1", 0, echo, token=token) as port:
        with pytest.raises(NotAdmitted):
            await connect_tcp("127.0.0.1", port, token=wrong)
        async with await connect_tcp("127.0.0.1", port) as careless:
            await careless.send(wrong.encode() + b"\n")
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await careless.receive()
    assert len(caplog.records) == 2
    assert token not in caplog.text
    assert wrong not in caplog.text


async def test_web_page_is_closed_at_once() -> None:
    async with (
        listen_tcp("127.0.0.1", 0, serve_initialize, token=TOKEN) as port,
        await connect_tcp("127.0.0.1", port) as page,
    ):
        body = encode_frame(encode(Request(1, "initialize")))
        await page.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + body)
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await page.receive()


def socket_of(stream: ByteStream) -> socket.socket:
    assert isinstance(stream, SealedStream)
    assert isinstance(stream.stream, SocketStream)
    return stream.stream.socket


async def test_small_messages_leave_at_once_at_both_ends() -> None:
    served: list[int] = []

    async def note(stream: ByteStream) -> None:
        served.append(socket_of(stream).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async with (
        listen_tcp("127.0.0.1", 0, note, token=TOKEN) as port,
        await connect_tcp("127.0.0.1", port, token=TOKEN) as stream,
    ):
        assert socket_of(stream).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
    assert served == [1]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])  # noqa: S104 - what is to be refused
async def test_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(NotPrivate, match="can be reached from other machines"):
        async with listen_tcp(host, 0, echo, token=new_token()):
            pass


@pytest.mark.parametrize("host", ["", "example.org", "localhost.example.org"])
async def test_name_is_no_address_to_listen_on(host: str) -> None:
    with pytest.raises(NotPrivate, match="is not an address to listen on"):
        async with listen_tcp(host, 0, echo, token=new_token()):
            pass


async def test_other_addresses_can_be_allowed() -> None:
    token = new_token()
    async with listen_tcp("0.0.0.0", 0, echo, token=token, allow_remote=True) as port:  # noqa: S104 - allowed here
        stream = await connect_tcp("127.0.0.1", port, token=token)
        await stream.aclose()


async def test_port_is_released_when_the_block_ends() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN) as port:
        stream = await connect_tcp("127.0.0.1", port, token=TOKEN)
        await stream.send(b"x")
        await stream.receive()
    with pytest.raises(Unreachable, match=f"no process listens at 127.0.0.1:{port}"):
        await connect_tcp("127.0.0.1", port, token=TOKEN)
    async with listen_tcp("127.0.0.1", port, echo, token=TOKEN) as again:
        assert again == port
    await stream.aclose()


async def test_port_in_use_is_a_clear_error() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN) as port:
        with pytest.raises(Unreachable, match="cannot be listened on: Address already in use"):
            async with listen_tcp("127.0.0.1", port, echo, token=TOKEN):
                pass


async def test_no_more_than_the_allowed_connections_are_served() -> None:
    async with (
        listen_tcp("127.0.0.1", 0, echo, token=TOKEN, max_connections=1) as port,
        await connect_tcp("127.0.0.1", port, token=TOKEN) as first,
    ):
        await first.send(b"x")
        await first.receive()
        async with await connect_tcp("127.0.0.1", port, token=TOKEN) as second:
            with pytest.raises(anyio.EndOfStream):
                await second.receive()
        await first.send(b"still served")
        assert await first.receive() == b"still served"


async def test_place_of_a_connection_that_ended_is_free_again() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN, max_connections=1) as port:
        for _ in range(3):
            async with await connect_tcp("127.0.0.1", port, token=TOKEN) as stream:
                await stream.send(b"x")
                assert await stream.receive() == b"x"
                await stream.send_eof()
                with pytest.raises(anyio.EndOfStream):
                    await stream.receive()


async def test_silent_connections_give_way_to_those_that_come_later() -> None:
    async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN) as port, AsyncExitStack() as stack:
        silent = [await connect_tcp("127.0.0.1", port) for _ in range(limits.UNADMITTED_CONNECTIONS + 36)]
        for stream in silent:
            await stack.enter_async_context(stream)
        async with await connect_tcp("127.0.0.1", port, token=TOKEN) as owner:
            await owner.send(b"let in")
            assert await owner.receive() == b"let in"
        with pytest.raises(anyio.EndOfStream):
            await silent[0].receive()


async def test_refusals_do_not_fill_the_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_limits, "REFUSALS_LOGGED", 2)
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.05)
    async with listen_tcp("127.0.0.1", 0, echo, token=TOKEN) as port:
        for _ in range(4):
            async with await connect_tcp("127.0.0.1", port) as stranger:
                await stranger.send(b"x")
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await stranger.receive()
    assert len(caplog.records) == 3
    assert caplog.records[-1].message == "further refusals are not logged"


async def test_silent_connection_is_closed_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.05)
    async with listen_tcp("127.0.0.1", 0, echo, token=new_token()) as port, await connect_tcp("127.0.0.1", port) as it:
        with pytest.raises(anyio.EndOfStream):
            await it.receive()


async def test_handler_that_fails_ends_its_connection_only(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(stream: ByteStream) -> None:
        raise LookupError((await stream.receive()).decode())

    async with listen_tcp("127.0.0.1", 0, fail, token=TOKEN) as port:
        for text in (b"first", b"second"):
            async with await connect_tcp("127.0.0.1", port, token=TOKEN) as stream:
                await stream.send(text)
                with pytest.raises(anyio.EndOfStream):
                    await stream.receive()
    assert "LookupError: first" in caplog.text
    assert "LookupError: second" in caplog.text


async def test_nobody_listening_is_a_clear_error() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="no process listens at 127.0.0.1"):  # noqa: RUF043 - a dot is a dot
            await connect_tcp("127.0.0.1", reserved.getsockname()[1])
