"""Calls that a thread steps through by itself, while the program does not stop."""

from typing import Any

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Refused

pytestmark = pytest.mark.each_python

PROGRAM = """
    import textwrap

    class Plain:
        def __init__(self, amount):
            self.amount = amount
            self._seen = []

    class Spoken:
        def __repr__(self):
            return "spoken"

    class Silent:
        def __repr__(self):
            while True:
                pass

    def twice(plain):
        plain.amount *= 2
        return plain.amount

    def total(count):
        plain = Plain(count)
        spoken = Spoken()
        text = textwrap.dedent(" x")
        result = twice(plain)
        return result

    def raises(number):
        whole = 1
        return whole / number

    def generates():
        for number in range(3):
            yield number

    def hangs():
        silent = Silent()
        return 1

    total(3)
    try:
        raises(0)
    except ZeroDivisionError:
        pass
    after = list(generates())
    hangs()
"""
LINES = PROGRAM.strip().splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def traced(
    peer: EngineClient, *, depth: int = 0, lines: int = 100, reason: str = "step"
) -> tuple[list[dict[str, Any]], bool]:
    """Trace the call in which the program is stopped, and return its lines after the first."""
    thread = peer.ask("threads")["threads"][0]["id"]
    first = peer.ask("dapkit/traceCall", threadId=thread, depth=depth, lines=lines)
    peer.ask("stepIn" if depth else "next", threadId=thread)
    peer.stopped(reason)
    body = peer.ask("dapkit/callTrace", threadId=thread)
    return [first, *body["lines"]], body["isCut"]


def values(*lines: dict[str, Any]) -> dict[str, str]:
    """Return the variables after some lines of one call, each of which has those that changed."""
    return {row["name"]: row.get("fields", row["value"]) for line in lines for row in line["variables"]}


def test_lines_come_with_the_variables_before_them_and_the_program_stops_behind_the_call(start: Start) -> None:
    peer = start(PROGRAM)
    first = line_of("plain = Plain(count)")
    peer.configure(lines=[first])
    peer.stopped("breakpoint")
    lines, is_cut = traced(peer)
    assert [line["line"] for line in lines] == list(range(first, first + 5))
    assert {line["level"] for line in lines} == {0}
    assert {line["function"] for line in lines} == {"total"}
    assert lines[0]["text"] == "    plain = Plain(count)"
    assert values(lines[0]) == {"count": "3"}
    assert values(lines[-1]) == {"plain": "{amount = 6}", "result": "6"}
    assert values(*lines) == {
        "count": "3",
        "plain": "{amount = 6}",
        "spoken": "spoken",
        "text": "'x'",
        "result": "6",
    }
    assert lines[-1]["returned"] == [{"name": "twice", "value": "6"}]
    assert not is_cut
    assert peer.at() == ("<module>", line_of("total(3)"))
    peer.go()
    assert peer.finish()[0] == 0


def test_calls_below_are_followed_where_they_are_the_program_s_own(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("plain = Plain(count)")], justMyCode=False)
    peer.stopped("breakpoint")
    lines, _ = traced(peer, depth=1)
    below = [(line["function"], line["line"]) for line in lines if line["level"] == 1]
    assert values(*[line for line in lines if line["function"] == "twice"]) == {"plain": "{amount = 6}"}
    assert below == [
        ("Plain.__init__", line_of("self.amount = amount")),
        ("Plain.__init__", line_of("self._seen")),
        ("twice", line_of("plain.amount *= 2")),
        ("twice", line_of("return plain.amount")),
    ]
    peer.go()
    assert peer.finish()[0] == 0


@pytest.mark.parametrize("most", [1, 3])
def test_lines_beyond_the_limit_are_not_noted(start: Start, most: int) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("plain = Plain(count)")])
    peer.stopped("breakpoint")
    lines, is_cut = traced(peer, lines=most)
    assert (len(lines), is_cut) == (most, True)
    assert peer.at() == ("<module>", line_of("total(3)"))
    peer.go()
    assert peer.finish()[0] == 0


def test_call_that_an_exception_leaves_stops_at_that(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("whole = 1")])
    peer.stopped("breakpoint")
    lines, _ = traced(peer, reason="exception")
    assert [line["line"] for line in lines] == [line_of("whole = 1"), line_of("return whole / number")]
    assert peer.at() == ("raises", line_of("return whole / number"))
    thread = peer.ask("threads")["threads"][0]["id"]
    assert peer.ask("exceptionInfo", threadId=thread)["exceptionId"] == "ZeroDivisionError"
    peer.go()
    assert peer.finish()[0] == 0


def test_generator_is_followed_to_its_first_value(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("for number in range(3)")])
    peer.stopped("breakpoint")
    lines, _ = traced(peer)
    assert [line["line"] for line in lines] == [line_of("for number in range(3)"), line_of("yield number")]


def test_repr_that_never_ends_does_not_hold_the_call_up(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("silent = Silent()")])
    peer.stopped("breakpoint")
    lines, _ = traced(peer)
    assert values(lines[-1])["silent"].startswith("<repr of ")  # which timed out, or was not called in time
    peer.go()
    assert peer.finish()[0] == 0


def test_trace_is_refused_where_nothing_can_be_traced(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[line_of("plain = Plain(count)")])
    peer.stopped("breakpoint")
    thread = peer.ask("threads")["threads"][0]["id"]
    with pytest.raises(Refused, match="no call of this thread is traced"):
        peer.ask("dapkit/callTrace", threadId=thread)
    with pytest.raises(Refused, match="depth is -1"):
        peer.ask("dapkit/traceCall", threadId=thread, depth=-1, lines=3)
    peer.go()
    assert peer.finish()[0] == 0
