"""What the hub makes of what a caller sends, over a stream in memory."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.hub import CallRefused
from dapkit.hub import limits as hub_limits
from dapkit.hub.caller import serve_caller
from dapkit.hub.calls import ReportProgress, ShowPart
from dapkit.transport import memory_pair

GREETING = {"hub": "dapkit"}


class Caller:
    """A caller, and the calls that it made."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.cancelled: list[object] = []
        self.gate = anyio.Event()
        self._rest = b""

    async def answer(self, message: Mapping[str, object], report: ReportProgress, show: ShowPart) -> dict[str, object]:
        match message["call"]:
            case "echo":
                return {"arguments": message.get("arguments")}
            case "parts":
                for text in ("one", "two"):
                    show(text)
                return {}
            case "refuse":
                raise CallRefused("not_now", "this is refused", hint="Wait.")
            case "report":
                for done in range(1000):
                    report("counting", done)
                await self.gate.wait()
                report("at the end", None)
                return {}
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.append(message["id"])
        raise AssertionError

    async def send(self, *messages: object) -> None:
        for message in messages:
            await self.stream.send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, object]:
        while b"\n" not in self._rest:
            self._rest += await self.stream.receive()
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, object] = json.loads(line)
        return message


@asynccontextmanager
async def calling() -> AsyncIterator[Caller]:
    ours, theirs = memory_pair()
    caller = Caller(ours)
    async with anyio.create_task_group() as tasks, ours:
        tasks.start_soon(serve_caller, theirs, GREETING, caller.answer)
        assert await caller.receive() == GREETING
        yield caller


def refusal(number: int | None, code: str, text: str, hint: str = "") -> dict[str, object]:
    return {"id": number, "error": {"code": code, "message": text, "hint": hint}}


async def test_calls_are_answered_as_they_are_done() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"}, {"id": 2, "call": "echo", "arguments": {"a": 1}})
        assert await caller.receive() == {"id": 2, "result": {"arguments": {"a": 1}}}


async def test_parts_of_an_answer_come_before_it_in_their_order() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "parts"})
        assert await caller.receive() == {"id": 1, "part": "one"}
        assert await caller.receive() == {"id": 1, "part": "two"}
        assert await caller.receive() == {"id": 1, "result": {}}


async def test_refusal_keeps_its_code_and_its_hint() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "refuse"})
        assert await caller.receive() == refusal(1, "not_now", "this is refused", "Wait.")


async def test_cancelled_call_is_answered_once() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"}, {"cancel": 1}, {"cancel": 1}, {"cancel": 7})
        assert await caller.receive() == refusal(1, "cancelled", "wait was given up")
        await caller.send({"id": 1, "call": "echo"})
        assert await caller.receive() == {"id": 1, "result": {"arguments": None}}


async def test_caller_that_goes_away_gives_up_its_calls() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"}, {"id": 2, "call": "wait"}, {"id": 3, "call": "echo"})
        await caller.receive()
    assert sorted(caller.cancelled, key=str) == [1, 2]


async def test_of_many_reports_the_latest_is_sent_and_none_after_the_answer() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "report"})
        assert await caller.receive() == {"id": 1, "progress": {"message": "counting", "percentage": 999}}
        caller.gate.set()
        assert await caller.receive() == {"id": 1, "result": {}}


@pytest.mark.parametrize(
    "message", [{}, {"id": 1}, {"id": "1", "call": "echo"}, {"call": "echo"}, {"id": 1, "call": 3}, {"cancel": "1"}]
)
async def test_message_that_is_not_understood_is_answered(message: dict[str, object]) -> None:
    async with calling() as caller:
        await caller.send(message)
        expected = "expected an object with `call` and an unused number as `id`, or with `cancel`"
        number = message.get("id")
        assert await caller.receive() == refusal(number if isinstance(number, int) else None, "bad_line", expected)


async def test_number_of_a_call_under_way_is_not_taken_twice() -> None:
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"}, {"id": 1, "call": "echo"})
        answer = await caller.receive()
        assert answer["error"] == {
            "code": "bad_line",
            "message": "expected an object with `call` and an unused number as `id`, or with `cancel`",
            "hint": "",
        }


async def test_line_that_is_too_long_ends_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_limits, "HUB_LINE_BYTES", 1000)
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"})
        await caller.send("x" * 1000)
        answers = [await caller.receive(), await caller.receive()]
        with pytest.raises(anyio.EndOfStream):
            await caller.receive()
    assert refusal(None, "bad_line", "a line is longer than 1000 bytes") in answers
    assert caller.cancelled == [1]


async def test_calls_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_limits, "HUB_CALLS", 2)
    async with calling() as caller:
        await caller.send(*({"id": number, "call": "wait"} for number in range(3)))
        assert await caller.receive() == refusal(2, "too_many_calls", "2 calls are under way")


async def test_caller_that_does_not_read_is_not_read_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_limits, "HUB_CALLS", 2)
    async with calling() as caller:
        with anyio.move_on_after(0.5) as patience:
            while True:
                await caller.send({"id": 1, "call": "echo", "arguments": "x" * 10_000})
        assert patience.cancelled_caught


async def test_caller_that_takes_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SEND_SECONDS", 0.1)
    async with calling() as caller:
        await caller.send({"id": 1, "call": "wait"}, {"id": 2, "call": "echo", "arguments": "x" * 1_000_000})
        with anyio.fail_after(30):
            while not caller.cancelled:
                await anyio.lowlevel.checkpoint()
    assert caller.cancelled == [1]


async def test_hub_that_ends_answers_calls_and_tells_others_to_make_theirs_again() -> None:
    ours, theirs = memory_pair()
    caller = Caller(ours)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_caller, theirs, GREETING, caller.answer)
        assert await caller.receive() == GREETING
        await caller.send({"id": 1, "call": "report"})
        assert (await caller.receive())["id"] == 1
        tasks.cancel_scope.cancel()
    assert await caller.receive() == refusal(1, "cancelled", "report was given up")
    assert await caller.receive() == refusal(None, "hub_ending", "the hub is about to end", "Try again.")
