"""Threads that stop alone, while the others run on (`stopAllThreads` false)."""

import time

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Refused

BEATING = """
    import threading, time
    beats = [0]
    def beat():
        while True:
            beats[0] += 1
            time.sleep(0.001)
    def work(n):
        for i in range(3):
            x = [n, i]
            y = x
    threading.Thread(target=beat, daemon=True).start()
    workers = [threading.Thread(target=work, args=(n,)) for n in (10, 20)]
    [t.start() for t in workers]
    [t.join() for t in workers]
"""


def two_stopped(start: Start) -> tuple[EngineClient, int, int]:
    peer = start(BEATING)
    peer.configure(lines=[9], stopAllThreads=False)
    stops = [peer.stopped("breakpoint") for _ in range(2)]
    assert [stop["allThreadsStopped"] for stop in stops] == [False, False]
    first, second = sorted(stop["threadId"] for stop in stops)
    assert (first, second) == (3, 4)
    return peer, first, second


@pytest.mark.each_python
@pytest.mark.row("continue, pause")
def test_others_run_on_and_each_stop_keeps_its_own_references(start: Start) -> None:
    peer, first, second = two_stopped(start)
    before = int(peer.value("beats[0]", thread=first))
    deadline = time.monotonic() + DEADLINE
    while int(peer.value("beats[0]", thread=first)) < before + 5:
        assert time.monotonic() < deadline
    frame = peer.stack(second)[0]["id"]
    assert peer.locals(first)["n"]["value"] == "10"
    assert peer.ask("continue", threadId=first) == {"allThreadsContinued": False}
    assert peer.stopped("breakpoint")["threadId"] == first
    assert peer.value("i", thread=first) == "1"
    body = peer.ask("evaluate", expression="(n, i)", frameId=frame)
    assert body["result"] == "(20, 0)"
    with pytest.raises(Refused, match="thread 2 is running; pause it first"):
        peer.ask("next", threadId=2)
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go(second)
    with pytest.raises(Refused, match=f"reference {frame} belongs to stop"):
        peer.ask("scopes", frameId=frame)
    assert peer.locals(first)["i"]["value"] == "1"
    peer.go(first)
    assert peer.finish()[0] == 0


@pytest.mark.each_python
@pytest.mark.row("next, stepIn, stepOut")
def test_step_of_one_thread_leaves_the_other_stop_alone(start: Start) -> None:
    peer, first, second = two_stopped(start)
    assert peer.step("next", first) == ("work", 10)
    assert peer.step("next", first) == ("work", 8)
    assert peer.at(second) == ("work", 9)
    assert peer.ask("continue", threadId=second, singleThread=False) == {"allThreadsContinued": True}
    assert {peer.stopped("breakpoint")["threadId"] for _ in range(2)} == {first, second}


@pytest.mark.row("continue, pause")
def test_pause_stops_one_thread_and_the_others_run_at_full_speed(start: Start) -> None:
    peer = start(
        """
        import threading
        counts = [0, 0]
        def spin(n):
            while True: counts[n] += 1
        for n in range(2):
            threading.Thread(target=spin, args=(n,), daemon=True).start()
        print("on", flush=True)
        threading.Event().wait()
        """
    )
    peer.configure(stopAllThreads=False)
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    for thread in (2, 3):
        peer.wait_until_inside("spin", thread)
    peer.ask("pause", threadId=2)
    assert peer.stopped("pause") == {"reason": "pause", "threadId": 2, "allThreadsStopped": False}
    peer.wait_until_in_python(2)
    held, other = (int(peer.value(f"counts[{n}]", thread=2)) for n in range(2))
    deadline = time.monotonic() + DEADLINE
    while int(peer.value("counts[1]", thread=2)) == other:
        assert time.monotonic() < deadline
    assert int(peer.value("counts[0]", thread=2)) == held
    with pytest.raises(Refused, match="thread 3 is running; pause it first"):
        peer.ask("continue", threadId=3)
    peer.go(2)
    peer.ask("pause", threadId=3)
    assert peer.stopped("pause")["threadId"] == 3


@pytest.mark.row("continue, pause")
def test_event_loop_of_a_server_goes_on_beating_while_its_worker_stands(start: Start) -> None:
    peer = start(
        """
        import asyncio
        beats = [0]
        def job():
            x = 1
            return x
        async def main():
            worker = asyncio.get_running_loop().run_in_executor(None, job)
            while not worker.done():
                beats[0] += 1
                await asyncio.sleep(0.001)
        asyncio.run(main())
        """
    )
    peer.configure(lines=[4], stopAllThreads=False)
    thread = peer.stopped("breakpoint")["threadId"]
    before = int(peer.value("beats[0]", thread=thread))
    deadline = time.monotonic() + DEADLINE
    while int(peer.value("beats[0]", thread=thread)) < before + 5:
        assert time.monotonic() < deadline
    peer.go(thread)
    assert peer.finish()[0] == 0


SLEEPING = """
    import threading, time
    go = threading.Event()
    def work(n):
        go.wait()
        x = n
        return x
    workers = [threading.Thread(target=work, args=(n,)) for n in (10, 20)]
    [t.start() for t in workers]
    print("on", flush=True)
    while not go.is_set():
        time.sleep(0.001)
    [t.join() for t in workers]
"""


@pytest.mark.row("continue, pause")
def test_threads_that_are_paused_together_are_both_told(start: Start) -> None:
    peer = start(SLEEPING)
    peer.configure(stopAllThreads=False)
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    for thread in (2, 3):
        peer.wait_until_inside("Condition.wait", thread)
    for thread in (2, 3):
        peer.send("pause", threadId=thread)
    assert {peer.stopped("pause")["threadId"] for _ in range(2)} == {2, 3}
    peer.ask("pause", threadId=1)
    assert peer.stopped("pause")["threadId"] == 1
    peer.wait_until_in_python()
    assert peer.value("go.set()", context="repl", frame=-1) == ""  # the last frame: the thread may be in `is_set`
    peer.go(1)
    for thread in (2, 3):
        peer.wait_until_in_python(thread)
        assert peer.step("next", thread)[0] == "Condition.wait"
    for thread in (2, 3):
        peer.go(thread)
    assert peer.finish()[0] == 0


@pytest.mark.each_python
@pytest.mark.row("continue, pause")
def test_stop_inside_an_evaluated_call_leaves_the_other_threads_running(start: Start) -> None:
    peer = start(
        """
        def called(n):
            return n + 1
        def main():
            x = 1
            return x
        main()
        """
    )
    peer.configure(lines=[2, 5], stopAllThreads=False)
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    asked = peer.send("evaluate", expression="called(x)", context="repl", frameId=frame)
    assert peer.event("continued") == {"threadId": 1, "allThreadsContinued": False}
    assert peer.stopped("breakpoint")["allThreadsStopped"] is False
    assert peer.at() == ("called", 2)
    peer.go()
    assert peer.answer(asked)["body"]["result"] == "2"
    assert peer.stopped("pause")["description"] == "Back from an evaluation"
    assert peer.at() == ("main", 5)
    peer.go()
    assert peer.finish()[0] == 0


@pytest.mark.row("continue, pause")
def test_others_run_at_full_speed_while_a_paused_thread_is_inside_native_code(start: Start) -> None:
    peer = start(
        """
        import sys, threading
        from _queue import SimpleQueue
        work = SimpleQueue()
        def called(item):
            x = item
            return x
        def consume():
            got = list(map(called, iter(work.get, None)))
            return got
        thread = threading.Thread(target=consume)
        thread.start()
        print("on", flush=True)
        x = 1
        work.put(1); work.put(None)
        thread.join()
        """
    )
    peer.configure(lines=[13], stopAllThreads=False)
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    assert peer.stopped("breakpoint")["threadId"] == 1
    peer.wait_until_at(("consume", 8), thread=2)
    peer.ask("pause", threadId=2)
    peer.stopped("pause")
    assert "native call" in peer.at(2)[0]
    assert peer.value("sys.monitoring.get_events(3) & sys.monitoring.events.LINE") == "0"
    assert int(peer.value("sys.monitoring.get_local_events(4, consume.__code__) & sys.monitoring.events.LINE")) > 0
    peer.go(1)
    peer.wait_until_in_python(2)
    assert peer.at(2)[0] == "called"
    assert peer.locals(2)["item"]["value"] == "1"
    peer.ask("stepOut", threadId=2)
    peer.stopped("step")
    assert peer.at(2) == ("consume", 8)
    peer.go(2)
    assert peer.finish()[0] == 0
