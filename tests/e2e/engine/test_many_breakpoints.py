"""Very many breakpoints in one request: others are answered meanwhile, in an order that clients can rely on."""

import json

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message

pytestmark = pytest.mark.each_python

COUNT = 4_000
PROGRAM = "x = 1\n" * COUNT
CONDITION = "[y for y in [x] if y == 2]"


def ask_at_once(peer: EngineClient, *asked: tuple[str, Message]) -> list[int]:
    """Send requests in one write; return their numbers."""
    frames = b""
    numbers = []
    for command, arguments in asked:
        peer.seq += 1
        numbers.append(peer.seq)
        request = {"seq": peer.seq, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        frames += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    peer.connection.sendall(frames)
    return numbers


def setting(peer: EngineClient, count: int, condition: str) -> tuple[str, Message]:
    """Return the request for a breakpoint at each of so many lines."""
    wanted = [{"line": line, "condition": condition} for line in range(1, count + 1)]
    return "setBreakpoints", {"source": {"path": str(peer.folder / "prog.py")}, "breakpoints": wanted}


def answered(peer: EngineClient, numbers: list[int]) -> list[int]:
    """Wait until all were answered; return their numbers in the order of the answers."""
    for number in numbers:
        if not any(message.get("request_seq") == number for message in peer.messages):
            peer.answer(number)
    return [message["request_seq"] for message in peer.messages if message.get("request_seq") in numbers]


@pytest.mark.thorough
@pytest.mark.row("setBreakpoints")
def test_requests_that_look_are_answered_while_many_breakpoints_are_set(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    asked = ask_at_once(
        peer,
        setting(peer, COUNT, CONDITION),
        ("threads", {}),
        setting(peer, 1, "x == 3"),
        ("stackTrace", {"threadId": 1}),
        ("continue", {"threadId": 1}),
    )
    many, threads, one, stack, resume = asked
    assert answered(peer, asked) == [threads, stack, many, one, resume]
    bodies: dict[int, Message] = {
        message["request_seq"]: message.get("body", {}) for message in peer.messages if "request_seq" in message
    }
    assert [placed["verified"] for placed in bodies[many]["breakpoints"]] == [True] * COUNT
    assert len(bodies[one]["breakpoints"]) == 1
    peer.event("exited")


@pytest.mark.row("cancel")
def test_setting_many_breakpoints_can_be_cancelled(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(breakpoints=[{"line": 1}, {"line": COUNT, "condition": "x == 1"}])
    peer.stopped("breakpoint")
    many, waits = ask_at_once(peer, setting(peer, COUNT, CONDITION), ("evaluate", {"expression": "x", "frameId": 0}))
    cancels = [peer.send("cancel", requestId=number) for number in (waits, many)]
    assert sorted(answered(peer, [many, waits, *cancels])) == [many, waits, *cancels]
    refusals = [message["message"] for message in peer.messages if message.get("request_seq") in (many, waits)]
    assert refusals == ["cancelled", "cancelled"]
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("<module>", COUNT)  # of those that were set before


@pytest.mark.thorough
@pytest.mark.row("setBreakpoints")
def test_conditions_and_messages_of_very_many_breakpoints_work(start: Start) -> None:
    peer = start("def f(n):\n" + "    n += 1\n" * 3_000 + "    return n\nf(0)\n")
    wanted: list[Message] = [{"line": line, "condition": f"n == -{line}"} for line in range(2, 3_002)]
    wanted[1_000] = {"line": 1_002, "condition": "[m for m in [n] if m == 1_000]"}
    wanted[2_000] = {"line": 2_002, "logMessage": "n is {n}"}
    wanted[2_500] = {"line": 2_502, "hitCondition": "== 1"}
    peer.configure(breakpoints=wanted)
    for line in (1_002, 2_502):
        peer.stopped("breakpoint")
        assert peer.at() == ("f", line)
        peer.go()
    peer.event("exited")
    assert [event["body"]["output"] for event in peer.unseen if event["event"] == "output"] == ["n is 2000\n"]


@pytest.mark.thorough
@pytest.mark.row("setBreakpoints")
def test_each_of_a_thousand_breakpoints_in_a_hundred_files_is_hit(start: Start) -> None:
    peer = start("for number in range(100):\n    __import__(f'part_{number}')\n")
    peer.ask("initialize", adapterID="test")
    peer.event("initialized")
    peer.ask("launch")
    lines = range(2, 12)
    expected = []
    for number in range(100):
        file = peer.folder / f"part_{number}.py"
        file.write_text("'a part'\n" + "x = 1\n" * len(lines))
        wanted = [{"line": line} for line in lines]
        placed = peer.ask("setBreakpoints", source={"path": str(file)}, breakpoints=wanted)["breakpoints"]
        assert [(one["verified"], one["line"]) for one in placed] == [(True, line) for line in lines]
        expected += [(file.name, line) for line in lines]
    peer.ask("configurationDone")
    found = []
    for _ in expected:
        peer.stopped("breakpoint")
        [top, *_] = peer.stack()
        found.append((top["source"]["name"], top["line"]))
        peer.go()
    assert found == expected
    peer.event("exited")
