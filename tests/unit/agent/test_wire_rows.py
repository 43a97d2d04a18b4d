"""Records of a wire in an answer: as many as it may have, and no secret, also where a message was cut."""

import json

import anyio
import anyio.lowlevel
import pytest

from dapkit.agent import limits
from dapkit.agent.queries.wire import page_of
from dapkit.redaction.redaction import Redaction
from dapkit.redaction.secret_names import SHAPES
from dapkit.transport import WireBuffer, WireHead

PLANTED = 'hunter-22 "tooth\\paste"'
REDACTION = Redaction([{"API_TOKEN": PLANTED}]).with_code()


def buffer_of(*texts: str) -> WireBuffer:
    buffer = WireBuffer()
    for text in texts:
        buffer.add(text, sender="adapter", head=WireHead(kind="event", name="output"))
    return buffer


async def shown(text: str) -> str:
    """Return how one message is shown."""
    page = await page_of(buffer_of(text), after=0, of="debug-1", over=False, redaction=REDACTION)
    [row] = page.records
    assert row.length == len(text)
    return row.text


def output(text: str, **more: object) -> str:
    return json.dumps({"seq": 1, "type": "event", "event": "output", "body": {**more, "output": text}})


async def test_answer_has_as_many_records_as_it_may_have() -> None:
    buffer = buffer_of(*["x" * 10_000] * 7)
    first = await page_of(buffer, after=0, of="debug-1", over=True)
    assert [row.number for row in first.records] == [1, 2, 3]
    assert (first.session, first.over, first.total, first.kept, first.characters) == ("debug-1", True, 7, 7, 70_000)
    second = await page_of(buffer, after=3, of="debug-1", over=True)
    assert [row.number for row in second.records] == [4, 5, 6]
    assert (await page_of(buffer, after=7, of="debug-1", over=True)).records == []


async def test_answer_has_one_record_that_is_longer_than_an_answer() -> None:
    page = await page_of(buffer_of("x" * 100_000, "y"), after=0, of="debug-1", over=False)
    assert [(row.number, row.length) for row in page.records] == [(1, 100_000)]
    assert limits.WIRE_ANSWER_CHARACTERS < len(page.records[0].text) <= 64_000


async def test_other_tasks_get_their_turn_after_each_record() -> None:
    buffer = buffer_of(*["{}"] * 500)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count)
        await page_of(buffer, after=0, of="debug-1", over=False, redaction=REDACTION)
        tasks.cancel_scope.cancel()
    assert turns >= 500


async def test_message_stays_json_and_loses_its_secrets() -> None:
    message = {"command": "x", "arguments": {"password": "tooth-22", "url": "http://here", "mail": "a@b", "t": PLANTED}}
    kept = json.loads(await shown(json.dumps(message)))
    assert kept == {
        "command": "x",
        "arguments": {"password": "[redacted]", "url": "http://here", "mail": "a@b", "t": "[redacted]"},
    }


async def test_secret_with_escapes_is_taken_out_of_a_message_that_was_cut() -> None:
    text = await shown(output(f"it is {PLANTED}. {'x' * 70_000}"))
    assert "it is [redacted]. xxx" in text
    assert "tooth" not in text
    assert text.rpartition("\n")[2].startswith(": dapkit-truncated, ")


async def test_secret_by_its_key_is_taken_out_of_a_message_that_was_cut() -> None:
    text = await shown(output("x" * 70_000, signingKey="tooth-22-hunter", count=7))
    assert '"signingKey":"[redacted]","count":7,"output":"xxx' in text


@pytest.mark.thorough
@pytest.mark.parametrize("kept", range(1, len(PLANTED) + 3))
async def test_beginning_of_a_secret_before_the_cut_is_left_out(kept: int) -> None:
    whole = await shown(output("x" * 70_000))
    cut_at = int(whole.rpartition("truncated, ")[2].split()[0])
    filler = "x " * ((cut_at - len(output("")) + 3 - kept) // 2)
    text = await shown(output(f"{filler}{PLANTED}{'y' * 10_000}"))
    for size in range(3, len(PLANTED)):
        assert PLANTED[:size] not in text
    assert "x x x" in text


@pytest.mark.thorough
async def test_beginning_of_a_token_before_the_cut_is_left_out() -> None:
    token = "npm_" + "a1B2" * 9
    for place in range(63_800, 63_990, 7):
        text = await shown(output(f"{'x ' * (place // 2)}{token} {'y ' * 6_000}"))
        assert "npm_" not in text


WIDE = "\\\u00e9\U0001f600" * 9_000


@pytest.mark.parametrize(
    "message",
    [
        {"body": {"items": [{"name": "n", "value": number} for number in range(9_000)]}},
        {"body": {f"key number {number}": None for number in range(9_000)}},
        {"body": {"text": WIDE}},
    ],
    ids=["numbers", "keys", "escapes"],
)
async def test_message_may_be_cut_anywhere(message: object) -> None:
    text = json.dumps(message)
    beginning, _, marker = (await shown(text)).rpartition("\n")
    assert marker.startswith(": dapkit-truncated, ")
    assert marker.endswith(f" of {len(text)} characters")
    assert json.dumps(message, ensure_ascii=False, separators=(",", ":")).startswith(beginning)
    assert len(beginning) > 12_000


@pytest.mark.parametrize("text", ["[" * 70_000, "no JSON at all " * 7_000], ids=["deep", "text"])
async def test_what_is_no_json_may_be_cut_as_well(text: str) -> None:
    beginning, _, marker = (await shown(text)).rpartition("\n")
    assert marker.endswith(f" of {len(text)} characters")
    assert text.startswith(beginning)
    assert len(beginning) > 60_000


async def test_half_of_a_surrogate_pair_stays_an_escape() -> None:
    assert await shown('{"value":"\\ud83d"}') == '{"value":"\\ud83d"}'


async def test_text_that_is_no_json_loses_its_secrets() -> None:
    assert await shown("password=tooth-22-hunter and more") == "password=[redacted] and more"


@pytest.mark.thorough
def test_text_made_to_be_slow_to_look_through_is_looked_through_once() -> None:
    text = "eyJ-" * 200_000  # where each beginning is looked at up to the end, it takes an hour
    assert SHAPES.sub("", text) == text
