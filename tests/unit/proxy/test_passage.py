import doctest
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import ByteStream

from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, EvaluateBody, Event, FrameDecoder, RawJson, Request, Response, encode_frame
from dapkit.proxy import Edit, edited, edits, members, pass_messages, passage, unchanged
from dapkit.transport import Recorder, background_tasks, memory_pair

PAUSE = b'{"seq":1, "type":"request", "command":"pause", "odd":[1.50], "arguments":{"threadId":1, "more":{}}}'
EVALUATE = b'{"seq":1,"type":"request","command":"evaluate","arguments":{"expression":"x","odd":1.50}}'


class End:
    """One end, which says what it is told to say."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self._frames = FrameDecoder()
        self._waiting: list[bytes] = []

    async def say(self, payload: bytes) -> None:
        await self.stream.send(encode_frame(payload))

    async def hear(self) -> bytes:
        while not self._waiting:
            self._waiting += self._frames.feed(await self.stream.receive())
        return self._waiting.pop(0)


@dataclass(frozen=True)
class Ends:
    client: End
    adapter: End
    over: anyio.Event


@asynccontextmanager
async def ends(edit: Edit = unchanged, transcript: Path | None = None) -> AsyncIterator[Ends]:
    (client, to_client), (adapter, to_adapter) = memory_pair(), memory_pair()
    made = Ends(End(client), End(adapter), anyio.Event())
    recorder = None if transcript is None else Recorder(transcript, role=Role.CLIENT)

    async def stand_between() -> None:
        await pass_messages(to_client, to_adapter, edit=edit, recorder=recorder)
        made.over.set()

    async with background_tasks() as tasks:
        tasks.start_soon(stand_between)
        yield made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("module", [edits, passage])
def test_examples_in_docstrings_are_true(module: Any) -> None:  # noqa: ANN401 - a module
    assert doctest.testmod(module) == (0, doctest.testmod(module).attempted)
    assert doctest.testmod(module).attempted


async def test_untouched_message_passes_byte_for_byte() -> None:
    async with ends() as two:
        await two.client.say(PAUSE)
        assert await two.adapter.hear() == PAUSE
        await two.adapter.say(b'{"seq":9,"type":"event","event":"odd"}')
        assert await two.client.hear() == b'{"seq":9,"type":"event","event":"odd"}'


async def test_edited_message_keeps_what_was_not_edited() -> None:
    def other_expression(message: AnyMessage, sender: Role) -> AnyMessage:
        assert sender is Role.CLIENT
        return edited(message, expression="y", frameId=None)

    async with ends(other_expression) as two:
        await two.client.say(EVALUATE)
        assert json.loads(await two.adapter.hear()) == {
            **json.loads(EVALUATE),
            "arguments": {"expression": "y", "odd": 1.5},
        }


async def test_edit_may_be_a_coroutine_and_messages_keep_their_order() -> None:
    waited: list[int] = []

    async def slowly(message: AnyMessage, sender: Role) -> AnyMessage:
        for _ in range(3 - message.seq):
            await anyio.lowlevel.checkpoint()
        waited.append(message.seq)
        return edited(message, by=str(sender))

    async with ends(slowly) as two:
        for seq in (1, 2):
            await two.client.say(b'{"seq":%d,"type":"request","command":"pause"}' % seq)
        assert [json.loads(await two.adapter.hear())["seq"] for _ in range(2)] == [1, 2]
    assert waited == [1, 2]


async def test_request_is_answered_by_the_proxy_and_the_adapter_never_sees_it() -> None:
    def answered(message: AnyMessage, sender: Role) -> AnyMessage:  # noqa: ARG001 - as `Edit` has it
        if isinstance(message, Request) and message.command == "evaluate":
            body = EvaluateBody(result="42", variables_reference=0)
            return Response(0, message.seq, success=True, command="evaluate", body=body)
        return message

    async with ends(answered) as two:
        await two.client.say(EVALUATE)
        said = json.loads(await two.client.hear())
        assert (said["request_seq"], said["body"]["result"]) == (1, "42")
        await two.client.say(b'{"seq":2,"type":"request","command":"pause","odd":[1.50]}')
        assert await two.adapter.hear() == b'{"seq":1,"type":"request","command":"pause","odd":[1.50]}'
        await two.adapter.say(b'{"seq":1,"type":"response","request_seq":1,"command":"pause","success":true}')
        assert json.loads(await two.client.hear())["request_seq"] == 2


async def test_what_is_no_message_passes_and_is_not_shown() -> None:
    shown: list[AnyMessage] = []

    def note(message: AnyMessage, sender: Role) -> AnyMessage:  # noqa: ARG001
        shown.append(message)
        return message

    async with ends(note) as two:
        for payload in (b"{", b"[]", b'{"type":"request"}', b"\xff"):
            await two.client.say(payload)
            assert await two.adapter.hear() == payload
    assert shown == []


async def test_bytes_that_make_no_frame_pass_with_all_that_follows() -> None:
    async with ends() as two:
        await two.adapter.stream.send(encode_frame(b"{}") + b"X-Odd: 1\r\nloading plugins\r\n")
        await two.adapter.stream.send(encode_frame(PAUSE))
        wanted = encode_frame(b"{}") + b"X-Odd: 1\r\nloading plugins\r\n" + encode_frame(PAUSE)
        found = b""
        while len(found) < len(wanted):
            found += await two.client.stream.receive()
        assert found == wanted


async def test_transcript_has_what_was_said_and_what_became_of_it(tmp_path: Path) -> None:
    def edit(message: AnyMessage, sender: Role) -> list[AnyMessage]:  # noqa: ARG001
        match message:
            case Event(event="noise"):
                return []
            case _:
                return [edited(message, expression="y"), Event(0, "note", RawJson(b"{}"))]

    async with ends(edit, tmp_path / "t") as two:
        await two.client.say(EVALUATE)
        assert members(_request(await two.adapter.hear()))["expression"] == "y"
        await two.adapter.say(b'{"seq":1,"type":"event","event":"noise"}')
        await two.client.stream.send_eof()
        await two.adapter.hear()
        await two.adapter.stream.aclose()
        await two.over.wait()
    said = lines(tmp_path / "t")
    assert [(line["from"], line.get("to"), line.get("in_place_of")) for line in said] == [
        ("client", None, None),
        ("proxy", "adapter", 1),
        ("proxy", "adapter", 1),
        ("adapter", None, None),
        ("proxy", "client", 1),
    ]
    assert said[1]["message"]["arguments"]["expression"] == "y"
    assert "message" not in said[4]


def _request(payload: bytes) -> Request:
    read = json.loads(payload)
    return Request(read["seq"], read["command"], RawJson(json.dumps(read["arguments"]).encode()))


async def test_adapter_of_a_client_that_has_gone_is_told_and_may_say_its_last_words() -> None:
    async with ends() as two:
        await two.client.stream.send_eof()
        with pytest.raises(anyio.EndOfStream):
            await two.adapter.stream.receive()
        await two.adapter.say(PAUSE)
        assert await two.client.hear() == PAUSE
        await two.adapter.stream.aclose()
        await two.over.wait()


async def test_last_words_of_a_client_that_reads_no_more_reach_the_adapter() -> None:
    heard, held = anyio.Event(), anyio.Event()

    async def hold_client(message: AnyMessage, sender: Role) -> AnyMessage:
        if sender is Role.CLIENT:
            heard.set()
            await held.wait()
        return message

    async with ends(hold_client) as two:
        await two.client.say(PAUSE)
        await heard.wait()
        await two.client.stream.aclose()
        await two.adapter.say(PAUSE)
        await anyio.wait_all_tasks_blocked()
        held.set()
        assert await two.adapter.hear() == PAUSE
        await two.adapter.stream.aclose()
        await two.over.wait()


async def test_end_of_the_adapter_ends_the_proxy() -> None:
    async with ends() as two:
        await two.adapter.say(PAUSE)
        await two.adapter.stream.aclose()
        await two.over.wait()
        assert await two.client.hear() == PAUSE


async def test_error_of_the_edit_comes_out() -> None:
    def broken(message: AnyMessage, sender: Role) -> AnyMessage:
        raise LookupError(f"{message.seq} of the {sender}")

    async def talk() -> None:
        async with ends(broken) as two:
            await two.client.say(PAUSE)
            await anyio.sleep_forever()

    with pytest.raises(LookupError, match="1 of the client"):
        await talk()
