import subprocess
import sys

import pytest

from dapkit.hub import limits
from dapkit.hub.client import call_message
from dapkit.hub.wire import BadLine, LineBuffer, decode, encode

SLOW = {
    "anyio",
    "argparse",
    "asyncio",
    "click",
    "dataclasses",
    "inspect",
    "logging",
    "msgspec",
    "pathlib",
    "subprocess",
}


def test_message_is_one_line_and_survives_whatever_texts_hold() -> None:
    message: dict[str, object] = {"text": "two\nlines \x1b[0m \udcff \U0001f41b", "number": 3}
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"GET / HTTP/1.1", "a line is not JSON: "),
        (b"\xff\xfe", "a line is not JSON: "),
        (b"[1]", "a line is not a JSON object, but list"),
        (b"[" * 100_000, "a line is not JSON: "),
    ],
)
def test_line_that_is_no_object_is_refused(line: bytes, text: str) -> None:
    with pytest.raises(BadLine, match=text):
        decode(line)


def test_lines_are_cut_wherever_the_bytes_are_cut() -> None:
    sent = encode({"id": 1}) + b"\n" + encode({"id": 2})
    for size in range(1, len(sent) + 1):
        lines = LineBuffer()
        received = [line for at in range(0, len(sent), size) for line in lines.feed(sent[at : at + size])]
        assert [decode(line) for line in received] == [{"id": 1}, {"id": 2}]


def test_line_that_is_too_long_is_refused_before_it_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HUB_LINE_BYTES", 10)
    assert LineBuffer().feed(b"0123456789\n") == [b"0123456789"]
    for data in (b"01234567890", b"01234567890\n"):
        with pytest.raises(BadLine, match="a line is longer than 10 bytes"):
            LineBuffer().feed(data)


def test_way_to_the_hub_brings_in_nothing_slow() -> None:
    code = "import sys, dapkit.hub; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert SLOW & set(loaded) == set()


@pytest.mark.parametrize(("call", "sent"), [("launch", True), ("core", True), ("attach", True), ("step_in", False)])
def test_call_that_starts_an_adapter_carries_the_environment_of_its_caller(
    monkeypatch: pytest.MonkeyPatch, call: str, sent: bool
) -> None:
    monkeypatch.setenv("PATH", "/of/the/caller")
    message = call_message(call, {}, project="/", session=None, read_only=False)
    env = message.get("env", {})
    assert isinstance(env, dict)
    assert env.get("PATH") == ("/of/the/caller" if sent else None)
