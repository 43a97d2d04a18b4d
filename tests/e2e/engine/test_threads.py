"""Threads of every origin, asyncio tasks among them, and ending threads."""

import os
import re
import time
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Message, Refused

pytestmark = pytest.mark.each_python


def unnumbered(name: str) -> str:
    """Hide the numbers of tasks, which depend on the version of asyncio."""
    return re.sub(r"Task-[2-9]", "Task-N", name)


def names(peer: EngineClient) -> dict[str, int]:
    return {unnumbered(thread["name"]): thread["id"] for thread in peer.ask("threads")["threads"]}


def told(peer: EngineClient) -> list[tuple[str, int]]:
    """Return the `thread` events so far."""
    return [
        (event["body"]["reason"], event["body"]["threadId"]) for event in peer.events() if event["event"] == "thread"
    ]


def wait_for(peer: EngineClient, wanted: set[str]) -> None:
    deadline = time.monotonic() + DEADLINE
    while names(peer).keys() != wanted:
        assert time.monotonic() < deadline, names(peer)


@pytest.mark.row("threads")
def test_threads_that_threading_did_not_make_are_told_of_and_listed(start: Start) -> None:
    peer = start(
        """
        import _thread
        on, go, done = [_thread.allocate_lock() for _ in range(3)]
        on.acquire(); go.acquire(); done.acquire(); others = _thread._count()
        def worker():
            on.release()
            go.acquire()
            done.release()
        _thread.start_new_thread(worker, ())
        on.acquire()
        x = 1
        go.release()
        done.acquire()
        while _thread._count() > others: pass
        y = 2
        """
    )
    peer.configure(lines=[10, 14])
    peer.stopped("breakpoint")
    assert names(peer) == {"MainThread": 1, "Thread 2": 2}
    name, line = peer.at(2)
    assert name.removesuffix(" [native call]") == "worker"  # which it is while it waits, or gets no processor
    assert line in (5, 6)
    peer.go()
    peer.stopped("breakpoint")
    assert names(peer) == {"MainThread": 1}
    assert told(peer) == [("started", 1), ("started", 2), ("exited", 2)]


@pytest.mark.row("threads")
def test_renamed_thread_is_listed_under_its_new_name(start: Start) -> None:
    peer = start(
        """
        import threading
        stop = threading.Event()
        t = threading.Thread(target=stop.wait, name="before"); t.start()
        x = 1
        t.name = "after"
        threading.current_thread().name = "boss"
        y = 1
        stop.set()
        """
    )
    peer.configure(lines=[4, 7])
    peer.stopped("breakpoint")
    assert names(peer) == {"MainThread": 1, "before": 2}
    peer.go()
    peer.stopped("breakpoint")
    assert names(peer) == {"boss": 1, "after": 2}


TASKS = """
    import asyncio
    async def leaf(n):
        await asyncio.sleep(n)
        return here(n)
    def here(n):
        return n  # stop
    async def middle():
        return await asyncio.gather(leaf(0.01), leaf(100))
    async def grouped():
        async with asyncio.TaskGroup() as group:
            group.create_task(middle(), name="middle")
    async def main():
        await asyncio.create_task(grouped(), name="grouped")
    asyncio.run(main())
"""


@pytest.mark.row("threads")
def test_suspended_tasks_are_listed_while_their_loop_stands_still(start: Start) -> None:
    peer = start(TASKS)
    peer.configure(breakpoints=[{"line": 6, "condition": "n < 1"}])
    peer.stopped("breakpoint")
    listed = names(peer)
    assert list(listed) == [
        "MainThread", "Task-1 (suspended: main)", "Task-N (suspended: leaf)",
        "middle (suspended: middle)", "grouped (suspended: grouped)",
    ]  # fmt: skip
    number = listed["Task-N (suspended: leaf)"]
    shown = [(frame["name"], frame["line"]) for frame in peer.stack(number) if "presentationHint" not in frame]
    assert shown == [("leaf", 3), ("middle", 8), ("grouped", 10), ("main", 13)]
    assert peer.locals(number, frame=1)["n"]["value"] == "100"
    assert peer.value("n + 1", thread=number, frame=1) == "101"
    assert names(peer) == listed
    with pytest.raises(Refused, match="is suspended; only its runner can end it"):
        peer.ask("terminateThreads", threadIds=[number])


@pytest.mark.row("stackTrace")
def test_stack_of_a_task_goes_on_with_those_that_await_it(start: Start) -> None:
    peer = start(TASKS)
    peer.configure(breakpoints=[{"line": 6, "condition": "n < 1"}])
    peer.stopped("breakpoint")
    frames = peer.stack()
    own = [frame for frame in frames if frame.get("presentationHint") != "subtle"]
    assert [(unnumbered(frame["name"]), frame["line"]) for frame in own] == [
        ("here", 6),
        ("leaf", 4),
        ("[Task-N, awaited by middle]", 0),
        ("middle", 8),
        ("[middle, awaited by grouped]", 0),
        ("grouped", 10),
        ("[grouped, awaited by Task-1]", 0),
        ("main", 13),
        ("[Task-1]", 0),
        ("<module>", 14),
    ]
    assert [frame["presentationHint"] for frame in frames if not frame["line"]] == ["label"] * 4
    # Before 3.13, loops on Windows had a run_forever of their own.
    assert [frame["name"].replace("Proactor", "Base") for frame in frames][-5:-1] == [
        "BaseEventLoop.run_forever", "BaseEventLoop.run_until_complete", "Runner.run", "run",
    ]  # fmt: skip
    main = next(at for at, frame in enumerate(frames) if frame["name"] == "main")
    assert peer.locals(frame=main) == {}


CHAIN = """
    import asyncio, threading, types
    class Service:
        async def serve(self):
            await asyncio.sleep(1000)
        def __await__(self):
            return self.serve().__await__()
    async def numbers():
        await Service()
        yield 1
    @types.coroutine
    def each(inner):
        yield from inner.__await__()
    async def next_of(numbers):
        await anext(numbers, None)
    async def through(): await each(next_of(numbers()))
    async def iterate():
        async for _ in numbers():
            pass
    async def main(name):
        asyncio.create_task(iterate(), name=f"iterate {name}")
        waited = asyncio.create_task(through(), name=f"each {name}")
        waiting = asyncio.create_task(asyncio.wait([waited]), name=f"wait {name}")
        await asyncio.sleep(0.01)
        both.wait()
        if name == "main":
            both.wait()  # stop
        await asyncio.shield(waiting)
    both = threading.Barrier(2)
    threading.Thread(target=lambda: asyncio.run(main("other")), daemon=True).start()
    asyncio.run(main("main"))
"""


@pytest.mark.row("stackTrace")
def test_stack_of_a_suspended_task_is_the_chain_that_it_awaits_and_those_that_await_it(start: Start) -> None:
    peer = start(CHAIN)
    peer.configure(lines=[26])
    peer.stopped("breakpoint")
    listed = names(peer)
    assert {"iterate other (suspended: iterate)", "each other (suspended: through)"} <= {*listed}
    for loop in ("main", "other"):
        iterating = peer.stack(listed[f"iterate {loop} (suspended: iterate)"])
        own = [(frame["name"], frame["line"]) for frame in iterating if frame.get("presentationHint") is None]
        assert own == [("Service.serve", 4), ("numbers", 8), ("iterate", 17)]
        each = peer.stack(listed[f"each {loop} (suspended: through)"])
        shown = [frame["name"] for frame in each if frame.get("presentationHint") != "subtle"]
        assert shown[:5] == ["Service.serve", "numbers", "next_of", "each", "through"]
        assert shown[5] == f"[each {loop}, awaited by wait {loop}]"  # which `main` may await by now, or not yet


@pytest.mark.row("stackTrace")
def test_stack_of_a_running_loop_shows_what_it_waits_in(start: Start) -> None:
    peer = start(
        """
        import asyncio
        async def main():
            await asyncio.sleep(100)
        asyncio.run(main())
        """
    )
    peer.configure()
    deadline = time.monotonic() + DEADLINE
    while not any("select" in frame["name"] for frame in peer.stack()[:1]):
        assert time.monotonic() < deadline
    assert names(peer) == {"MainThread": 1}
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    assert list(names(peer)) == ["MainThread", "Task-1 (suspended: main)"]


@pytest.mark.needs_gil("without one, sys._current_frames is called, which is audited")
def test_thread_inside_another_interpreter_is_where_the_program_left_it(start: Start, tmp_path: Path) -> None:
    end = tmp_path / "end"
    os.mkfifo(end)
    peer = start(
        f"""
        import sys
        try:
            import _interpreters as interpreters
        except ImportError:  # 3.12
            import _xxsubinterpreters as interpreters
        heard = []
        sys.addaudithook(lambda event, _: heard.append(event) if "frames" in event else None)
        inside = "print('inside', flush=True); open({str(end)!r}).close()"
        other = interpreters.create()
        interpreters.run_string(other, inside)
        interpreters.destroy(other)
        print(heard)
        """
    )
    peer.configure()
    assert peer.process.stdout is not None
    assert peer.process.stdout.readline() == b"inside\n"
    assert peer.at(1) == ("<module>", 10)
    end.open("w").close()
    assert peer.finish() == (0, "[]\n", "")


def spinning(start: Start, body: str) -> EngineClient:
    peer = start(
        "import threading\n"
        "def work():\n    try:\n        print('on', flush=True)\n"
        f"        {body}\n    finally:\n        print('cleaned up', flush=True)\n"
        "t = threading.Thread(target=work, name='work'); t.start()\nt.join()\nprint('end')\n"
    )
    peer.configure()
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    return peer


@pytest.mark.thorough
@pytest.mark.needs_gil("without one, a thread that ends may be reported once more")
@pytest.mark.row("terminateThreads")
@pytest.mark.parametrize("body", ["while True: pass", "for i in range(10**12): i += 1"])
@pytest.mark.parametrize("stopped", [False, True])
def test_running_or_stopped_thread_is_ended_and_cleans_up(start: Start, body: str, *, stopped: bool) -> None:
    peer = spinning(start, body)
    assert names(peer) == {"MainThread": 1, "work": 2}
    if stopped:
        peer.ask("pause", threadId=2)
        peer.stopped("pause")
        peer.wait_until_in_python(2)
    peer.ask("terminateThreads", threadIds=[2])
    if stopped:
        wait_for(peer, {"MainThread"})
        peer.go()
    code, output, errors = peer.finish()
    assert (code, output, errors) == (0, "cleaned up\nend\n", "")
    assert told(peer) == [("started", 1), ("started", 2), ("exited", 2)]


@pytest.mark.row("terminateThreads")
def test_thread_in_a_native_call_ends_when_that_returns(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    peer = spinning(start, "open('gate').close()")
    peer.wait_until_at(("work", 5), 2)
    peer.ask("terminateThreads", threadIds=[2])
    gate = os.open(tmp_path / "gate", os.O_RDWR)
    assert peer.finish()[:2] == (0, "cleaned up\nend\n")
    os.close(gate)


@pytest.mark.row("terminateThreads")
def test_main_and_unknown_threads_are_not_ended(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    peer = spinning(start, "open('gate').close()")
    wrong: list[tuple[Message, str]] = [
        ({"threadIds": [1]}, "the main thread cannot be ended alone; end the program with terminate"),
        ({"threadIds": [2, 99]}, r"there is no thread 99; there are \[1, 2\]"),
        ({"threadIds": []}, r"threadIds is \[\], expected a list of threads"),
        ({}, "threadIds is None, expected a list of threads"),
        ({"threadIds": "2"}, "threadIds is '2', expected a list of threads"),
    ]
    for arguments, said in wrong:
        with pytest.raises(Refused, match=said):
            peer.ask("terminateThreads", **arguments)
    gate = os.open(tmp_path / "gate", os.O_RDWR)
    assert peer.finish()[:2] == (0, "cleaned up\nend\n")
    os.close(gate)


EXEMPT = """
    import threading, time
    beats = 0
    def beat():
        global beats
        while not over.is_set():
            beats += 1           # line 6
            time.sleep(0.001)
    over = threading.Event()
    thread = threading.Thread(target=beat)
    thread.pydev_do_not_trace = True
    thread.start()
    seen = 0                     # line 12
    over.set()
    thread.join()
"""


def test_thread_that_the_program_has_marked_runs_on_unlisted_and_stops_nowhere(start: Start) -> None:
    peer = start(EXEMPT)
    peer.configure(lines=[6, 12])
    assert peer.stopped("breakpoint")["threadId"] == 1
    assert peer.at() == ("<module>", 12)
    assert [thread["id"] for thread in peer.ask("threads")["threads"]] == [1]
    before = peer.value("beats")
    while peer.value("beats") == before:
        continue
    peer.go()
    assert peer.finish()[0] == 0


MANY = """
    import threading
    threading.stack_size(256 * 1024)
    go = threading.Event()
    beating = threading.Event()
    def wait():
        go.wait()
    def beat():
        while not go.wait(0.02):
            beating.set()
    threads = [threading.Thread(target=beat if i % 10 == 0 else wait, name=f"worker {i}") for i in range(2_000)]
    for thread in threads:
        thread.start()
    beating.wait()
    here = 1                     # line 13
    here = 2
    go.set()
    for thread in threads:
        thread.join()
    print("all have ended")
"""


@pytest.mark.thorough
@pytest.mark.row("threads")
def test_two_thousand_threads_stop_are_shown_and_go_on(start: Start) -> None:
    peer = start(MANY)
    peer.configure(lines=[13])
    peer.stopped("breakpoint")
    listed = peer.ask("threads")["threads"]
    assert [thread["name"] for thread in listed] == ["MainThread", *(f"worker {i}" for i in range(2_000))]
    assert [thread["id"] for thread in listed] == list(range(1, 2_002))
    for number in (listed[1]["id"], listed[1_000]["id"], listed[-1]["id"]):
        assert "Thread.run" in [frame["name"] for frame in peer.stack(number)]
    assert peer.step() == ("<module>", 14)
    peer.go()
    assert peer.finish() == (0, "all have ended\n", "")
    told = [message["body"]["reason"] for message in peer.messages if message.get("event") == "thread"]
    assert sorted(told) == ["exited"] * 2_000 + ["started"] * 2_001  # the main thread among these


STEPS_BESIDE_A_THREAD = """
    import threading
    def worker():
        x = 1
        release.wait()
    release = threading.Event()
    t = threading.Thread(target=worker); t.start()
    a = 1
    b = 2
    release.set()
"""


@pytest.mark.row("next")
@pytest.mark.parametrize(("alone", "told"), [(False, [{"threadId": 1, "allThreadsContinued": True}]), (True, [])])
def test_client_learns_that_a_step_lets_all_threads_run(start: Start, *, alone: bool, told: list[Message]) -> None:
    peer = start(STEPS_BESIDE_A_THREAD)
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1, singleThread=alone)
    peer.stopped("step")
    assert [event["body"] for event in peer.events() if event["event"] == "continued"] == told


@pytest.mark.row("next")
def test_client_of_a_program_with_one_thread_learns_nothing_new_from_a_step(start: Start) -> None:
    peer = start("a = 1\nb = 2\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1)
    peer.stopped("step")
    assert [event for event in peer.events() if event["event"] == "continued"] == []
