"""Streams that tell of what is written to them."""

import io
import sys

import pytest

from dapkit.python.debuggee.program.output import RedirectedOutput


class Narrow:
    """A stream that takes no attributes."""

    __slots__ = ()

    def write(self, text: str) -> int:
        return len(text)


def test_stream_that_cannot_be_listened_to_is_named_and_the_other_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", Narrow())
    told: list[tuple[str, object]] = []
    output = RedirectedOutput(lambda text, place: told.append((text, place)))
    [problem] = output.begin()
    assert problem.startswith("redirectOutput: sys.stderr cannot be listened to: 'Narrow' object attribute 'write' is")
    print("hello", end="")
    print("lost", file=sys.stderr)
    output.end()
    print("later")
    assert told == [("hello", {"category": "stdout"})]


def test_write_that_the_program_has_put_there_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)
    output = RedirectedOutput(lambda _text, _place: None)
    assert output.begin() == []
    stream.write = len  # type: ignore[method-assign]
    output.end()
    assert "write" in vars(stream)
