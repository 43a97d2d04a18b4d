import json

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.protocol import FrameDecoder, Request, encode, encode_frame
from dapkit.transport import NotAdmitted, background_tasks, memory_pair
from dapkit.transport.authentication import admit, introduce

TOKEN = "correct-horse"  # noqa: S105 - of no door


def frame(message: object) -> bytes:
    return encode_frame(json.dumps(message).encode())


def showing(token: object) -> bytes:
    message = {"seq": 1, "type": "request", "command": "dapkit/authenticate", "arguments": {"token": token}}
    return frame(message)


async def answer_to(data: bytes) -> tuple[bytes, str]:
    """What the server answers to these bytes, and why it refuses them."""
    ours, theirs = memory_pair()
    await ours.send(data)
    await ours.send_eof()
    with pytest.raises(NotAdmitted) as refusal:
        await admit(theirs, TOKEN)
    await theirs.aclose()
    try:
        answered = FrameDecoder().feed(await ours.receive())[0]
    except anyio.EndOfStream:
        answered = b""
    return answered, str(refusal.value)


async def test_right_token_is_let_in() -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(admit, theirs, TOKEN)
        assert await introduce(ours, TOKEN) is ours


async def test_exchange_is_what_the_documentation_says() -> None:
    ours, theirs = memory_pair()
    await ours.send(showing(TOKEN))
    await admit(theirs, TOKEN)
    assert json.loads(FrameDecoder().feed(await ours.receive())[0]) == {
        "seq": 1,
        "type": "response",
        "request_seq": 1,
        "success": True,
        "command": "dapkit/authenticate",
    }


async def test_wrong_token_is_answered_with_an_error_on_both_ends() -> None:
    ours, theirs = memory_pair()

    async def serve() -> None:
        with pytest.raises(NotAdmitted, match="the token is not that of this server"):
            await admit(theirs, TOKEN)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with pytest.raises(NotAdmitted, match="refused the token: the token is not that of this server"):
            await introduce(ours, "wrong")


@pytest.mark.parametrize("token", ["", "wrong", "correct-hors", "ä", "\ud800"])
async def test_wrong_tokens_are_refused(token: str) -> None:
    answer, _ = await answer_to(showing(token))
    assert json.loads(answer)["success"] is False


@pytest.mark.parametrize("token", [None, 7, ["correct-horse"], {"token": TOKEN}])
async def test_token_that_is_no_string_is_refused(token: object) -> None:
    answer, why = await answer_to(showing(token))
    assert json.loads(answer)["success"] is False
    assert why == "dapkit/authenticate came without a token"


async def test_other_request_first_is_answered_and_refused() -> None:
    answer, why = await answer_to(encode_frame(encode(Request(3, "initialize"))))
    assert json.loads(answer)["request_seq"] == 3
    assert json.loads(answer)["command"] == "initialize"
    assert why == "the first request has to be dapkit/authenticate, with the token of this server"


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\n",
        b"Host: localhost\r\n",
        b"Origin: http://evil.example\r\nContent-Length: 3\r\n",
        b"correct-horse\r\n",
        b"Content-Length: 5000\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        encode_frame(b"[]"),
        encode_frame(b"no JSON: secret"),
        frame({"seq": 1, "type": "event", "event": "x"}),
        b"Content-Length: 10\r\n\r\n{",
        b"",
    ],
)
async def test_what_is_no_request_is_refused_without_an_answer_and_without_being_repeated(data: bytes) -> None:
    answer, why = await answer_to(data)
    assert answer == b""
    assert not any(word in why for word in ("correct-horse", "evil", "secret"))


async def test_http_is_refused_before_its_request_line_is_complete() -> None:
    ours, theirs = memory_pair()
    await ours.send(b"GET /")
    with pytest.raises(NotAdmitted):
        await admit(theirs, TOKEN)


async def test_silence_is_refused_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.01)
    _ours, theirs = memory_pair()
    with pytest.raises(NotAdmitted, match="no token came within 0.01 s"):  # noqa: RUF043 - a dot is a dot
        await admit(theirs, TOKEN)


async def test_silent_server_is_given_up_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.01)
    ours, _theirs = memory_pair()
    with pytest.raises(NotAdmitted, match="the server did not answer"):
        await introduce(ours, TOKEN)


async def receive_exactly(stream: ByteStream, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += await stream.receive(count - len(data))
    return data


async def test_bytes_behind_the_token_belong_to_the_session() -> None:
    ours, theirs = memory_pair()
    await ours.send(showing(TOKEN) + b"Content-Length: 2\r\n\r\n{}")
    admitted = await admit(theirs, TOKEN)
    assert await receive_exactly(admitted, 15) == b"Content-Length:"
    assert await receive_exactly(admitted, 8) == b" 2\r\n\r\n{}"
    await ours.send(b"more")
    assert await admitted.receive() == b"more"


async def test_bytes_behind_the_welcome_belong_to_the_session() -> None:
    ours, theirs = memory_pair()

    async def serve() -> None:
        await theirs.receive()
        welcome = {"seq": 1, "type": "response", "request_seq": 1, "success": True, "command": "dapkit/authenticate"}
        await theirs.send(frame(welcome) + b"first")

    async with background_tasks() as tasks:
        tasks.start_soon(serve)
        admitted = await introduce(ours, TOKEN)
        assert await admitted.receive() == b"first"
        await admitted.send_eof()
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive()


async def test_server_without_gate_is_told_from_one_that_refuses() -> None:
    ours, theirs = memory_pair()
    await theirs.send(frame({"seq": 1, "type": "event", "event": "output"}))
    with pytest.raises(NotAdmitted, match="seems to expect none"):
        await introduce(ours, TOKEN)
