"""Threads that stop alone, while the others run on (`stopAllThreads` false)."""

import time

import pytest

from e2e.debuggee.conftest import Start
from e2e.debuggee.peer import DEADLINE, Peer, Refused

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


def two_stopped(start: Start) -> tuple[Peer, int, int]:
    peer = start(BEATING)
    peer.configure(lines=[9], stopAllThreads=False)
    stops = [peer.stopped("breakpoint") for _ in range(2)]
    assert [stop["allThreadsStopped"] for stop in stops] == [False, False]
    first, second = sorted(stop["threadId"] for stop in stops)
    assert (first, second) == (3, 4)
    return peer, first, second


@pytest.mark.row("continue")
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


@pytest.mark.row("next")
def test_step_of_one_thread_leaves_the_other_stop_alone(start: Start) -> None:
    peer, first, second = two_stopped(start)
    assert peer.step("next", first) == ("work", 10)
    assert peer.step("next", first) == ("work", 8)
    assert peer.at(second) == ("work", 9)
    assert peer.ask("continue", threadId=second, singleThread=False) == {"allThreadsContinued": True}
    assert {peer.stopped("breakpoint")["threadId"] for _ in range(2)} == {first, second}


@pytest.mark.row("pause")
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
    peer.ask("pause", threadId=2)
    assert peer.stopped("pause") == {"reason": "pause", "threadId": 2, "allThreadsStopped": False}
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


@pytest.mark.row("continue")
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
