"""Expressions of a client while the program runs: done at the next safe point of the main thread, without a stop."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Message, Refused

pytestmark = [pytest.mark.row("evaluate"), pytest.mark.each_python]

LOOPS = """
    import threading, time
    n, hits = 0, []
    ends = False
    class Point:
        x = 1
    point = Point()
    def fails():
        raise ValueError("no")
    def worker():
        while not ends:
            time.sleep(0.001)
            m = n
    threading.Thread(target=worker, name="worker").start()
    while not ends:
        n += 1
    print("end", point.x)
"""
HITS_ONCE = "n == -1 and not hits and not hits.append(1)"
"""A condition of the worker's line: it tells the evaluation, which waits for it."""
WAITS = """
    import selectors, socket, threading, time
    ends = []
    def other():
        while not ends:
            time.sleep(0.001)
    threading.Thread(target=other).start()
    readable, other_end = socket.socketpair()  # Windows waits for at least one
    selector = selectors.DefaultSelector()
    selector.register(readable, selectors.EVENT_READ)
    while not ends:
        selector.select(0.05)
    print("end")
"""


def evaluate(peer: EngineClient, expression: str, context: str = "repl") -> Message:
    body: Message = peer.ask("evaluate", expression=expression, context=context)
    return body


def said(peer: EngineClient, event: str) -> list[Message]:
    return [message["body"] for message in peer.events() if message["event"] == event]


@pytest.fixture
def running(start: Start) -> Callable[..., EngineClient]:
    def running(text: str, known: str = "ends", **options: object) -> EngineClient:
        """Start a program, and return once it has defined the last name that a test uses."""
        peer = start(text)
        peer.configure(**options)  # type: ignore[arg-type]  # one of them at a time
        until = time.monotonic() + DEADLINE
        while evaluate(peer, f"{known!r} in globals()")["result"] != "True":
            assert time.monotonic() < until
        return peer

    return running


@pytest.mark.parametrize("text", [LOOPS, WAITS], ids=["loops", "waits"])
@pytest.mark.parametrize("alone", [False, True], ids=["all stop", "each alone"])
def test_expressions_and_statements_are_evaluated_in_a_running_program(
    running: Callable[..., EngineClient], text: str, *, alone: bool
) -> None:
    peer = running(text, "n" if text == LOOPS else "selector", stopAllThreads=not alone)
    assert evaluate(peer, "1 + 1")["result"] == "2"
    assert evaluate(peer, "__import__('threading').current_thread().name")["result"] == "'MainThread'"
    evaluate(peer, "added = [1, 2]")
    added = evaluate(peer, "added")
    assert (added["result"], added["type"], added["variablesReference"]) == ("[1, 2]", "list", 0)
    evaluate(peer, "ends = True" if text == LOOPS else "ends.append(1)")
    code, output, _ = peer.finish()
    assert code == 0
    assert output.startswith("end")
    assert said(peer, "stopped") == said(peer, "continued") == []
    assert "Evaluated in MainThread.\n" in [body["output"] for body in said(peer, "output")]


def test_errors_are_those_of_the_expression(running: Callable[..., EngineClient]) -> None:
    peer = running(LOOPS, "worker")
    for expression, wanted in {"fails()": "ValueError: no", "1 +": "SyntaxError", "nix": "NameError"}.items():
        with pytest.raises(Refused, match=wanted):
            evaluate(peer, expression)
    evaluate(peer, "ends = True")
    assert peer.finish()[0] == 0


def test_thread_in_native_code_is_named(start: Start) -> None:
    peer = start("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()\n")
    peer.configure(evaluateTimeout=0.5)
    peer.wait_until_inside("<module>")
    peer.wait_until_at(("<module>", 4))
    with pytest.raises(Refused, match=r"MainThread is inside native code called by .* pause it to evaluate"):
        evaluate(peer, "1 + 1")
    seq = peer.send("evaluate", expression="2 + 2", context="repl")
    cancel = peer.send("cancel", requestId=seq)
    assert peer.answer(seq)["message"] == "cancelled"
    peer.answer(cancel)
    peer.ask("pause", threadId=1)
    peer.stopped("pause")


@pytest.mark.parametrize("alone", [False, True], ids=["all stop", "each alone"])
def test_pause_during_an_evaluation_stops_the_program(
    running: Callable[..., EngineClient], tmp_path: Path, *, alone: bool
) -> None:
    peer = running(LOOPS, "worker", stopAllThreads=not alone)
    begun = tmp_path / "begun"
    expression = f"open({str(begun)!r}, 'w').close() or time.sleep(0.3) or 7"
    seq = peer.send("evaluate", expression=expression, context="repl")
    limit = time.monotonic() + DEADLINE
    while not begun.exists() and time.monotonic() < limit:  # a pause before that would stop the program first
        time.sleep(0.001)
    peer.send("pause", threadId=1)
    assert peer.answer(seq)["body"]["result"] == "7"
    peer.stopped("pause")
    peer.wait_until_in_python()
    assert evaluate(peer, "n >= 0")["result"] == "True"
    peer.go()
    evaluate(peer, "ends = True")
    assert peer.finish()[0] == 0


def test_breakpoint_of_another_thread_stops_during_an_evaluation(running: Callable[..., EngineClient]) -> None:
    peer = running(LOOPS, "worker", breakpoints=[{"line": 12, "condition": HITS_ONCE}])
    evaluate(peer, "n = -1\nwhile not hits: time.sleep(0.001)\nends = True")
    ended = time.monotonic() + DEADLINE
    while not said(peer, "stopped") and time.monotonic() < ended:
        peer.read(time.monotonic() + 0.1)
    [stop] = said(peer, "stopped")
    assert (stop["reason"], stop["threadId"]) == ("breakpoint", 2)
    peer.ask("continue", threadId=2)
    assert peer.finish()[0] == 0


def test_breakpoints_in_code_that_is_called_do_not_stop(running: Callable[..., EngineClient]) -> None:
    peer = running(LOOPS, "worker", lines=[8])
    with pytest.raises(Refused, match="ValueError: no"):
        evaluate(peer, "fails()")
    evaluate(peer, "ends = True")
    assert peer.finish()[0] == 0
    assert said(peer, "stopped") == []


def test_step_of_the_main_thread_goes_on_after_an_evaluation(start: Start) -> None:
    peer = start("""
        import time
        ends = False
        def wait():
            while not ends:
                time.sleep(0.001)
        wait()
        y = 2
    """)
    peer.configure(lines=[6])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1)
    evaluate(peer, "ends = True")
    peer.stopped("step")
    assert peer.at() == ("<module>", 7)
