import hashlib
import hmac
import json
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.protocol import FrameDecoder, Request, encode, encode_frame
from dapkit.python.debuggee.connection import tokens
from dapkit.transport import NotAdmitted, background_tasks, memory_pair
from dapkit.transport.authentication import admit, introduce, proof_of
from dapkit.transport.sealing import SealedStream

TOKEN = "correct-horse"  # noqa: S105 - of no door
PORT = 4711
NONCE = "0123456789abcdef" * 4
UNPROVED = "the first request has to be dapkit/authenticate, by which a client proves that it knows the token"


def frame(message: object) -> bytes:
    return encode_frame(json.dumps(message).encode())


def request(arguments: object, number: int = 1) -> bytes:
    return frame({"seq": number, "type": "request", "command": "dapkit/authenticate", "arguments": arguments})


async def message(stream: ByteStream) -> dict[str, Any]:
    """Return the next message, which comes alone."""
    decoded: dict[str, Any] = json.loads(FrameDecoder().feed(await stream.receive())[0])
    return decoded


async def answer_to(data: bytes) -> tuple[bytes, str]:
    """What the server answers to these bytes, and why it refuses them."""
    ours, theirs = memory_pair()
    await ours.send(data)
    await ours.send_eof()
    with pytest.raises(NotAdmitted) as refusal:
        await admit(theirs, TOKEN, port=PORT)
    await theirs.aclose()
    try:
        answered = FrameDecoder().feed(await ours.receive())[0]
    except anyio.EndOfStream:
        answered = b""
    return answered, str(refusal.value)


async def admission(theirs: ByteStream, token: str = TOKEN, port: int = PORT) -> None:
    await admit(theirs, token, port=port)


async def refusal(theirs: ByteStream, why: str) -> None:
    with pytest.raises(NotAdmitted, match=why):
        await admit(theirs, TOKEN, port=PORT)
    await theirs.aclose()


async def test_two_who_know_the_token_let_each_other_in() -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(admission, theirs)
        admitted = await introduce(ours, TOKEN, port=PORT)
        assert isinstance(admitted, SealedStream)
        assert admitted.stream is ours


@pytest.mark.parametrize("token", ["a", TOKEN, "x" * 64, "y" * 65, "ä\N{SNOWMAN}"])
@pytest.mark.parametrize("role", ["client", "server"])
def test_proof_is_the_hmac_that_the_documentation_says_at_both_ends(role: str, token: str) -> None:
    said = f"dapkit {role} {PORT} {NONCE} {NONCE[::-1]}".encode()
    expected = hmac.new(token.encode(), said, hashlib.sha256).hexdigest()
    assert proof_of(role, token, PORT, NONCE, NONCE[::-1]) == expected
    assert tokens.proof_of(role, token, PORT, NONCE, NONCE[::-1]) == expected


async def test_exchange_is_what_the_documentation_says_and_never_has_the_token() -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(admission, theirs)
        await ours.send(request({"nonce": NONCE}))
        reply = await message(ours)
        nonce = reply["body"].pop("nonce")
        proof = proof_of("server", TOKEN, PORT, NONCE, nonce)
        answer = {"type": "response", "success": True, "command": "dapkit/authenticate"}
        assert reply == {"seq": 1, "request_seq": 1, **answer, "body": {"proof": proof}}
        await ours.send(request({"proof": proof_of("client", TOKEN, PORT, NONCE, nonce)}, 2))
        assert await message(ours) == {"seq": 2, "request_seq": 2, **answer}


async def test_nonces_are_never_the_same() -> None:
    seen = set()
    for _ in range(2):
        ours, theirs = memory_pair()
        async with background_tasks() as tasks:
            tasks.start_soon(admission, theirs)
            await ours.send(request({"nonce": NONCE}))
            seen.add((await message(ours))["body"]["nonce"])
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("token", "port"), [("wrong", PORT), (TOKEN, PORT + 1)], ids=["another token", "a relay at another port"]
)
async def test_client_proves_nothing_to_a_server_that_has_not(token: str, port: int) -> None:
    ours, theirs = memory_pair()

    async def serve() -> None:
        with pytest.raises(NotAdmitted, match="closed before a token was proved"):
            await admit(theirs, token, port=port)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with pytest.raises(NotAdmitted, match="the server did not prove that it knows the token"):
            await introduce(ours, TOKEN, port=PORT)
        await ours.aclose()


@pytest.mark.parametrize("role", ["client", "server"])
async def test_proof_of_the_server_is_none_of_the_client(role: str) -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        if role == "client":
            tasks.start_soon(admission, theirs)
        else:
            tasks.start_soon(refusal, theirs, "the token is not this server's")
        await ours.send(request({"nonce": NONCE}))
        nonce = (await message(ours))["body"]["nonce"]
        await ours.send(request({"proof": proof_of(role, TOKEN, PORT, NONCE, nonce)}, 2))
        assert (await message(ours))["success"] is (role == "client")


@pytest.mark.parametrize("shown", [None, {}, {"proof": 7}, {"proof": "a guess"}, {"proof": "\ud800"}, {"token": TOKEN}])
async def test_wrong_proofs_are_answered_and_refused(shown: object) -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(refusal, theirs, "the token is not this server's")
        await ours.send(request({"nonce": NONCE}))
        await message(ours)
        await ours.send(request(shown, 2))
        assert (await message(ours))["success"] is False


@pytest.mark.parametrize(
    "arguments", [None, {"token": TOKEN}, {"nonce": 7}, {"nonce": "short"}, {"nonce": NONCE + "0"}, {"nonce": "x" * 64}]
)
async def test_nothing_is_proved_to_who_asks_wrongly(arguments: object) -> None:
    answer, why = await answer_to(request(arguments))
    assert json.loads(answer)["success"] is False
    assert why.startswith(UNPROVED)


async def test_other_request_first_is_answered_and_refused() -> None:
    answer, why = await answer_to(encode_frame(encode(Request(3, "initialize"))))
    assert json.loads(answer)["request_seq"] == 3
    assert json.loads(answer)["command"] == "initialize"
    assert why.startswith(UNPROVED)


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
        await admit(theirs, TOKEN, port=PORT)


async def test_client_that_goes_before_it_is_answered_is_refused_like_any_other() -> None:
    ours, theirs = memory_pair()
    await ours.send(request({"nonce": NONCE}))
    await ours.aclose()
    with pytest.raises(NotAdmitted, match="before a token was proved"):
        await admit(theirs, TOKEN, port=PORT)


@pytest.mark.parametrize("said", [b"", request({"nonce": NONCE})])
async def test_silence_is_refused_at_the_deadline(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.01)
    ours, theirs = memory_pair()
    if said:
        await ours.send(said)
    with pytest.raises(NotAdmitted, match="no proof of the token came within 0.01 s"):  # noqa: RUF043 - a dot is a dot
        await admit(theirs, TOKEN, port=PORT)


async def test_silent_server_is_given_up_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKEN_SECONDS", 0.01)
    ours, _theirs = memory_pair()
    with pytest.raises(NotAdmitted, match="the server did not answer"):
        await introduce(ours, TOKEN, port=PORT)


async def receive_exactly(stream: ByteStream, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += await stream.receive(count - len(data))
    return data


async def test_bytes_behind_the_proof_belong_to_the_session() -> None:
    ours, theirs = memory_pair()
    admitted: list[ByteStream] = []

    async def serve() -> None:
        admitted.append(await admit(theirs, TOKEN, port=PORT, seals=False))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await ours.send(request({"nonce": NONCE}))
        proof = proof_of("client", TOKEN, PORT, NONCE, (await message(ours))["body"]["nonce"])
        await ours.send(request({"proof": proof}, 2) + b"Content-Length: 2\r\n\r\n{}")
    assert await receive_exactly(admitted[0], 15) == b"Content-Length:"
    assert await receive_exactly(admitted[0], 8) == b" 2\r\n\r\n{}"
    await ours.send(b"more")
    assert await admitted[0].receive() == b"more"


async def test_bytes_behind_the_welcome_belong_to_the_session() -> None:
    ours, theirs = memory_pair()

    async def serve() -> None:
        asked = await message(theirs)
        proof = proof_of("server", TOKEN, PORT, asked["arguments"]["nonce"], NONCE)
        welcome = {"seq": 1, "type": "response", "request_seq": 1, "success": True, "command": "dapkit/authenticate"}
        await theirs.send(frame({**welcome, "body": {"nonce": NONCE, "proof": proof}}))
        await theirs.receive()
        await theirs.send(frame(welcome) + b"first")

    async with background_tasks() as tasks:
        tasks.start_soon(serve)
        admitted = await introduce(ours, TOKEN, port=PORT, seals=False)
        assert await admitted.receive() == b"first"
        await admitted.send_eof()
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive()


async def test_server_without_gate_is_told_from_one_that_refuses() -> None:
    ours, theirs = memory_pair()
    await theirs.send(frame({"seq": 1, "type": "event", "event": "output"}))
    with pytest.raises(NotAdmitted, match="seems to expect none"):
        await introduce(ours, TOKEN, port=PORT)
