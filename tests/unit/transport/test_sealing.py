"""Records over TCP: one table of examples for the adapter's half and the engine's, and what a stranger can do to them.

The examples were made by `hmac` of the standard library, from the description in `dapkit.transport.sealing`.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.python.debuggee.connection import sealing as of_engine
from dapkit.python.debuggee.connection import tokens
from dapkit.transport import background_tasks, memory_pair, sealing
from dapkit.transport.authentication import admit, introduce, proof_of

TOKEN, PORT = "correct-horse", 4711
CLIENT_NONCE = "0123456789abcdef" * 4
SERVER_NONCE = CLIENT_NONCE[::-1]
CLIENT_KEY = "7a498a9560ed4588a68b3cefd3b567a3e693559da5614b882206d740c4bfe780"
SERVER_KEY = "6a33a0e3cbd4fcd966c4907a157515baf3e48c3d1f0e388e8115018658b4d884"
RECORDS = [
    (
        b"{}",
        "730ac6084f4d2e85a7bf23ca9ea0785e3c33e9dc8d3bd7c777dbe462c52342b9",
        "6ad85983fe879babe0041876e7b2c280e55693693d6e1846a6d8d2470d296f68",
    ),
    (
        b"{}",
        "3a86d4706b1e63ae4ff2b4ddf491a98095fa356fa03d555cf65f248bc0cf3e57",
        "6645e503bdd5d8c2cf5a6fb89e26e0beb47c25b7146f24caebecc6fbe9581870",
    ),
    (
        bytes(range(256)),
        "83d48cd5dc3fc07b2e7ed97627afb2c591413bca213c4621c99639a61d8fdf20",
        "4032acf22138fbbaab5443ccbd17f4344149b973c720821061503700b0ebd397",
    ),
]
"""Data, and the tags of its records: as the first, second and third record of the client, and of the server."""

type Wrap = Callable[[bytes], bytes]


def adapter_half() -> tuple[Wrap, Wrap]:
    """Return the functions that seal what the client sends, and open what the server sends."""
    seal = sealing.Seal(sending=bytes.fromhex(CLIENT_KEY), receiving=bytes.fromhex(SERVER_KEY))
    return seal.sealed, seal.opened


def engine_half() -> tuple[Wrap, Wrap]:
    """Return the functions that seal what the server sends, and open what the client sends."""
    seal = of_engine.RecordSeal(bytes.fromhex(SERVER_KEY), bytes.fromhex(CLIENT_KEY))
    return seal.wrap, seal.take


def record(data: bytes, tag: str) -> bytes:
    return len(data).to_bytes(4, "big") + data + bytes.fromhex(tag)


def test_keys_are_those_of_the_table_at_both_ends() -> None:
    nonces = (CLIENT_NONCE, SERVER_NONCE)
    assert tokens.record_keys(TOKEN, PORT, *nonces) == (bytes.fromhex(CLIENT_KEY), bytes.fromhex(SERVER_KEY))
    for role, key in (("client", CLIENT_KEY), ("server", SERVER_KEY)):
        assert proof_of(f"{role} records", TOKEN, PORT, *nonces) == key


def test_records_are_those_of_the_table_at_both_ends() -> None:
    seal, _ = adapter_half()
    wrap, _ = engine_half()
    for data, client_tag, server_tag in RECORDS:
        assert seal(data) == record(data, client_tag)
        assert wrap(data) == record(data, server_tag)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_records_are_read_in_any_portions_at_both_ends(size: int) -> None:
    for (_, opened), place in ((adapter_half(), 2), (engine_half(), 1)):
        stream = b"".join(record(row[0], str(row[place])) for row in RECORDS)
        portions = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert b"".join(map(opened, portions)) == b"".join(row[0] for row in RECORDS)


@pytest.mark.parametrize("length", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20])
def test_both_ends_understand_each_other(length: int) -> None:
    seal, opened = adapter_half()
    wrap, take = engine_half()
    data = bytes(length)
    assert take(seal(data)) == opened(wrap(data)) == data


FAULTS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "a changed bit of the data": lambda first, second: first[:4] + bytes([first[4] ^ 1]) + first[5:] + second,
    "a changed bit of the tag": lambda first, second: first[:-1] + bytes([first[-1] ^ 1]) + second,
    "a repeated record": lambda first, second: first + first + second,
    "a missing record": lambda _first, second: second,
    "another order": lambda first, second: second + first,
    "an added record": lambda first, second: first + record(b"{}", "00" * 32) + second,
    "an added frame": lambda first, second: first + b"Content-Length: 2\r\n\r\n{}" + second,
    "a longer length": lambda first, second: b"\0\0\0\3" + first[4:] + second,
    "an absurd length": lambda first, second: b"\xff" + first[1:] + second,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("half", ["adapter", "engine"])
def test_no_record_is_taken_that_the_other_end_has_not_sent_next(
    fault: Callable[[bytes, bytes], bytes], half: str
) -> None:
    (_, opened), place = (adapter_half(), 2) if half == "adapter" else (engine_half(), 1)
    first, second = (record(row[0], str(row[place])) for row in RECORDS[:2])
    error: type[Exception] = sealing.BrokenSealError if half == "adapter" else OSError
    with pytest.raises(error):
        opened(fault(first, second))


def test_own_records_are_not_taken_for_those_of_the_other_end() -> None:
    seal, opened = adapter_half()
    with pytest.raises(sealing.BrokenSealError):
        opened(seal(b"{}"))
    wrap, take = engine_half()
    with pytest.raises(OSError, match="not sent by the other end"):
        take(wrap(b"{}"))


@pytest.mark.parametrize("fault", [b"Content-Length: 2\r\n\r\n{}", record(b"{}", "00" * 32)], ids=["frame", "record"])
async def test_relay_that_adds_something_breaks_the_connection(fault: bytes) -> None:
    near, near_relay = memory_pair()
    far_relay, far = memory_pair()
    heard: list[bytes] = []

    async def serve() -> None:
        stream = await admit(far, TOKEN, port=PORT)
        heard.append(await stream.receive())
        with pytest.raises((anyio.BrokenResourceError, anyio.EndOfStream)):
            heard.append(await stream.receive())

    async def relay(source: ByteStream, target: ByteStream) -> None:
        with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                await target.send(await source.receive())

    async with anyio.create_task_group() as tasks, background_tasks() as relays:
        tasks.start_soon(serve)
        relays.start_soon(relay, near_relay, far_relay)
        relays.start_soon(relay, far_relay, near_relay)
        stream: Any = await introduce(near, TOKEN, port=PORT)
        await stream.send(b"true")
        while heard != [b"true"]:  # noqa: ASYNC110 - there is no event
            await anyio.sleep(0.001)
        await far_relay.send(fault)
        await far_relay.send_eof()
    assert heard == [b"true"]
