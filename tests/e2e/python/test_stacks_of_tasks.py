"""`dapkit stacks`: the tasks of asyncio, what each one awaits, and which tasks await it, on each version."""

import shutil
import sys
from pathlib import Path

import pytest

from dapkit.python import stacks
from dapkit.python.adapter.injection import target
from dapkit.python.stacks import contents
from e2e.python.stack_command import dumped, dumped_json_once, dumped_once, plain
from interpreters import interpreter

READS_ITSELF = {"3.14", "3.15"}
"""Versions whose standard library reads the tasks."""

TASKS = """
    import asyncio

    class Service:
        async def serve(self):
            await asyncio.sleep(1000)

        def __await__(self):
            return self.serve().__await__()

    async def numbers():
        async with asyncio.timeout(1000):
            await Service()
            yield 1

    async def iterate():
        async for _ in numbers():
            pass

    async def future():
        await asyncio.get_running_loop().create_future()

    async def gather():
        await asyncio.gather(asyncio.create_task(iterate(), name="iterate"), future())

    async def shield(task):
        await asyncio.shield(task)

    async def wait(task):
        await asyncio.wait([task])

    async def main():
        async with asyncio.TaskGroup() as group:
            first = group.create_task(future(), name="the first")
            group.create_task(gather(), name="gather")
            group.create_task(shield(first), name="shield")
            group.create_task(wait(first), name="wait")
            await asyncio.sleep(0.01)
            print("ready", flush=True)

    asyncio.run(main())
"""

LOOPS = """
    import asyncio, threading

    async def leaf():
        await asyncio.sleep(1000)

    async def main(name):
        task = asyncio.create_task(leaf(), name=name)
        await asyncio.sleep(0)
        started.wait()
        await task

    started = threading.Barrier(3)
    for name in ("one", "two"):
        threading.Thread(target=lambda name=name: asyncio.run(main(name)), name=f"loop {name}", daemon=True).start()

    async def first():
        task = asyncio.create_task(leaf(), name="first")
        await asyncio.sleep(0)
        started.wait()
        print("ready", flush=True)
        await task

    asyncio.run(first())
"""

RUNNING = """
    import asyncio, threading

    async def recurse(depth):
        if depth:
            await recurse(depth - 1)
        print("ready", flush=True)
        threading.Event().wait()

    async def main():
        await asyncio.create_task(recurse(2), name="the running one")

    asyncio.run(main())
"""

WATCHED = """
    import asyncio, sys, threading, types

    def trace(*_):
        return trace

    @types.coroutine
    def each(inner):
        for _ in [1]:
            yield from inner.__await__()

    @types.coroutine
    def bare(held):
        for _ in held:  # on the stack, and not what is waited for
            yield

    async def leaf():
        await asyncio.sleep(1000)

    async def outer():
        for number in range(3):
            try:
                await each(leaf())
            finally:
                number += 1

    async def yields():
        await bare([each(leaf())])

    async def main():
        asyncio.create_task(outer(), name="outer")
        asyncio.create_task(yields(), name="yields")
        await asyncio.sleep(0)
        print("ready", flush=True)
        threading.Event().wait()

    sys.settrace(trace)
    asyncio.run(main())
"""

MANY = """
    import asyncio

    async def leaf(number):
        await asyncio.sleep(number % 7 / 1000)

    async def work(number):
        while True:
            await asyncio.gather(*(asyncio.create_task(leaf(each), name=f"leaf {each}") for each in range(20)))

    async def rest(depth):
        await (rest(depth - 1) if depth else asyncio.sleep(10000))

    async def main():
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(work(number), name=f"worker {number}")
                group.create_task(rest(5), name=f"at rest {number}")
            await asyncio.sleep(0.1)
            print("ready", flush=True)

    asyncio.run(main())
"""


def functions(task: dict[str, object]) -> list[str]:
    """Return the names of the program's own functions that a task is in, the newest first."""
    frames = task["frames"]
    assert isinstance(frames, list)
    return [frame["name"] for frame in frames if frame["file"].endswith("prog.py")]


@pytest.mark.thorough
@pytest.mark.each_python
def test_tasks_have_their_await_chain_and_the_tasks_that_await_them(tmp_path: Path, python: str) -> None:
    with plain(TASKS, tmp_path, python) as pid:
        found = dumped_json_once(pid, "iterate", "gather", "shield", "wait")
        page = dumped_once(pid, "iterate, awaited by gather")
    tasks = {task["name"]: task for task in found["tasks"]}
    chain = ["Service.serve", "numbers", "iterate"]
    if READS_ITSELF & {python[-4:]}:  # CPython's own reading ends at what a coroutine's `__await__` returns
        chain = chain[1:]
    else:
        assert tasks["iterate"]["frames"][0]["name"] == "sleep"
        assert "  Service.serve  prog.py:5\n  numbers  prog.py:12\n  iterate  prog.py:16\n" in page
    assert functions(tasks["iterate"]) == chain
    assert [frame["line"] for frame in tasks["iterate"]["frames"][-2:]] == [12, 16]
    assert tasks["iterate"]["awaitedBy"] == ["gather"]
    first = tasks["the first"]
    assert functions(first) == ["future"]
    [root] = [task["name"] for task in found["tasks"] if functions(task) == ["main"]]
    assert sorted(first["awaitedBy"]) == sorted([root, "shield", "wait"])
    assert tasks["gather"]["awaitedBy"] == [root]
    assert not any(task["running"] for task in found["tasks"])
    assert {task["thread"] for task in found["tasks"]} == {pid}


@pytest.mark.thorough
@pytest.mark.each_python
def test_names_of_tasks_may_have_any_characters(tmp_path: Path, python: str) -> None:
    if "3.14" in python:
        pytest.skip("CPython 3.14 takes the bytes of a name for ASCII; 3.15 does not")
    names = ["caf\u00e9", "\u0100\u0101", "\U0001f600", "plain"]
    text = f"""
        import asyncio

        async def main():
            tasks = [asyncio.create_task(asyncio.sleep(1000), name=name) for name in {names!a}]
            print("ready", flush=True)
            await asyncio.wait(tasks)

        asyncio.run(main())
    """
    with plain(text, tmp_path, python) as pid:
        assert {*names} < {task["name"] for task in dumped_json_once(pid, *names)["tasks"]}


@pytest.mark.thorough
@pytest.mark.each_python
def test_tasks_of_loops_in_several_threads_are_shown_by_thread(tmp_path: Path, python: str) -> None:
    with plain(LOOPS, tmp_path, python) as pid:
        found = dumped_json_once(pid, "first")
        page = dumped_once(pid, "Tasks of asyncio")
    threads = {thread["id"]: thread["name"] for thread in found["threads"]}
    leaves = {task["name"]: threads[task["thread"]] for task in found["tasks"] if functions(task) == ["leaf"]}
    if "3.14" in python:  # CPython 3.14, Modules/_remote_debugging: threads are read from the main one on
        assert leaves == {"first": "MainThread"}
        assert "Some tasks of asyncio are not known: Python 3.14 reads the main thread's, and not those in loop" in page
    else:
        assert leaves == {"first": "MainThread", "one": "loop one", "two": "loop two"}
        assert "Tasks of asyncio in loop two (2)" in page
        assert found["tasksUnknown"] is None


@pytest.mark.thorough
@pytest.mark.each_python
def test_task_that_runs_has_the_calls_of_its_thread(tmp_path: Path, python: str) -> None:
    with plain(RUNNING, tmp_path, python) as pid:
        found = dumped_json_once(pid, "the running one")
        page = dumped_once(pid, "the running one, runs, awaited by")
    [task] = [task for task in found["tasks"] if task["running"]]
    assert functions(task) == ["recurse", "recurse", "recurse"]
    assert [frame["line"] for frame in task["frames"][-3:]] == [7, 5, 5]
    assert "  recurse  prog.py:5  (2 times)\n" in page


@pytest.mark.thorough
@pytest.mark.each_python
def test_chain_is_that_of_the_program_though_it_is_traced(tmp_path: Path, python: str) -> None:
    with plain(WATCHED, tmp_path, python) as pid:
        tasks = {task["name"]: task for task in dumped_json_once(pid, "outer", "yields")["tasks"]}
    if READS_ITSELF & {python[-4:]}:  # CPython's own reading ends at what is not a coroutine
        assert functions(tasks["outer"]) == ["outer"]
        assert functions(tasks["yields"]) == ["yields"]
    else:
        assert functions(tasks["outer"]) == ["leaf", "each", "outer"]
        assert functions(tasks["yields"]) == ["bare", "yields"]


@pytest.mark.thorough
@pytest.mark.each_python
def test_tasks_that_rest_are_read_while_others_come_and_go(tmp_path: Path, python: str) -> None:
    with plain(MANY, tmp_path, python) as pid:
        found = dumped_json_once(pid, *(f"at rest {number}" for number in range(10)))
    tasks = {task["name"]: task for task in found["tasks"] if task["name"].startswith("at rest")}
    assert len(tasks) == 10
    assert all(functions(task) == ["rest"] * 6 for task in tasks.values())


@pytest.mark.thorough
@pytest.mark.each_python
def test_program_without_asyncio_has_no_tasks(tmp_path: Path, python: str) -> None:
    text = """
        import threading
        print("ready", flush=True)
        threading.Event().wait()
    """
    with plain(text, tmp_path, python) as pid:
        shown = dumped_once(pid, "MainThread")
    assert "of asyncio" not in shown


@pytest.mark.each_python
def test_interpreter_of_another_file_says_why_it_reads_no_tasks(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "3.14" in python or "3.15" in python or Path(python).resolve() == Path(sys.executable).resolve():
        pytest.skip("read by the standard library, or by this very interpreter")
    monkeypatch.setattr(contents, "own_interpreter", lambda _: sys.executable)
    monkeypatch.setattr(contents, "interpreter_for", lambda _: None)
    with plain(TASKS, tmp_path, python) as pid:
        reading = contents.reading_of(target.read(pid), blocking=True)
        page = dumped(pid)
    assert reading["tasks"] is None
    assert reading["reasons"]["tasks"] == (
        "the process does not run the file of this interpreter: it was replaced, or is not seen here"
    )
    assert "Tasks of asyncio" in page


def test_interpreter_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'It does not run.' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(contents, "own_interpreter", lambda _: None)
    monkeypatch.setattr(contents, "interpreter_for", lambda _: str(broken))
    with plain(TASKS, tmp_path, sys.executable) as pid:
        reading = contents.reading_of(target.read(pid), blocking=True)
    assert reading["reasons"]["tasks"] == f"{broken} failed with status 3 (It does not run)"


def test_stacks_of_3_15_that_nothing_reads_are_an_error_with_both_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "own_interpreter", lambda _: None)
    monkeypatch.setattr(contents, "interpreter_for", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with (
        plain(TASKS, tmp_path, str(interpreter("3.15"))) as pid,
        pytest.raises(stacks.NoPySpy, match=r"no Python 3\.15 was found here that could read them; .*pip install"),
    ):
        stacks.stacks_of_process(pid)
