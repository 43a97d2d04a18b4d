"""`dapkit dump`: the stacks of programs that answer nothing any more, and who has which lock."""

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapkit.cli import exit_codes

DEADLOCK = """
    import queue, threading

    first, both = threading.Lock(), threading.Barrier(2)
    jobs = queue.Queue()

    class Account:
        def __init__(self):
            self.lock = threading.RLock()

        def pay(self):
            with first:
                both.wait()
                with self.lock:
                    pass

        def take(self):
            with self.lock:
                both.wait()
                first.acquire()

    def work():
        jobs.get()

    account = Account()
    for name in ("one", "two", "three"):
        threading.Thread(target=work, name=name, daemon=True).start()
    pay = threading.Thread(target=account.pay, name="pay", daemon=True)
    pay.start()
    threading.Thread(target=account.take, name="take", daemon=True).start()
    print("ready", flush=True)
    pay.join()
"""

STUCK = """
    import re

    def search(text):
        re.match("(a|a)*b", text)

    print("ready", flush=True)
    search("a" * 60)
"""

TASKS = """
    import asyncio

    async def leaf():
        print("ready", flush=True)
        await asyncio.sleep(1000)

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(leaf(), name="the leaf")

    asyncio.run(main())
"""


@contextmanager
def plain(text: str, folder: Path, python: str) -> Iterator[int]:
    """Start a program and wait until it is ready; yield its process id."""
    file = folder / "prog.py"
    file.write_text(textwrap.dedent(text).lstrip("\n"))
    with subprocess.Popen([python, str(file)], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process.pid
        finally:
            process.kill()


def dumped(pid: int, *options: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", "dapkit.cli", "dump", str(pid), *options], capture_output=True, text=True, check=False
    )
    assert answer.returncode == exit_codes.DONE, answer.stderr
    return answer.stdout


def dumped_once(pid: int, expected: str) -> str:
    """Return what is shown once that contains something: the program is on its way there."""
    while expected not in (shown := dumped(pid)):
        time.sleep(0.1)
    return shown


@pytest.mark.each_python
def test_deadlock_is_shown_with_the_threads_that_have_the_locks(tmp_path: Path, python: str) -> None:
    with plain(DEADLOCK, tmp_path, python) as pid:
        shown = dumped_once(pid, "Deadlock:")
        found = json.loads(dumped(pid, "--json"))
    assert "pay waits for self.lock at prog.py:13, which take has" in shown
    assert "take waits for first at prog.py:19, which pay has" in shown
    assert "  Account.pay  prog.py:13\n" in shown
    assert "  waits for the end of pay at prog.py:31\n" in shown
    assert "3 threads: one, two, three, waits\n" in shown
    assert "Condition.wait" in shown
    numbers = {thread["name"]: thread["id"] for thread in found["threads"]}
    assert sorted(found["deadlock"]) == sorted([numbers["pay"], numbers["take"]])
    [waiting] = [thread for thread in found["threads"] if thread["name"] == "take"]
    assert waiting["waitsFor"] == [
        {"lock": "first", "file": str(tmp_path / "prog.py"), "line": 19, "heldBy": [numbers["pay"]]}
    ]
    assert [frame["own"] for frame in waiting["frames"]] == [True, False, False, False]


def test_names_of_the_program_cannot_steer_the_terminal(tmp_path: Path) -> None:
    text = """
        import threading
        threading.current_thread().name = "\\x1b]0;title\\x07\\nmain"
        print("ready", flush=True)
        threading.Event().wait()
    """
    with plain(text, tmp_path, sys.executable) as pid:
        shown = dumped_once(pid, "title")
    assert "\\x1b]0;title\\x07\\nmain" in shown
    assert not {"\x1b", "\x07"} & set(shown)


@pytest.mark.each_python
def test_program_that_is_stuck_in_native_code_gives_its_stacks(tmp_path: Path, python: str) -> None:
    with plain(STUCK, tmp_path, python) as pid:
        shown = dumped_once(pid, "search  prog.py:4")
    assert f"MainThread ({pid}), runs, and holds the interpreter\n" in shown
    assert "match (" in shown  # of the library, folded


@pytest.mark.each_python
def test_tasks_are_shown_where_the_interpreter_knows_them(tmp_path: Path, python: str) -> None:
    with plain(TASKS, tmp_path, python) as pid:
        if "3.14" in python:
            shown = dumped_once(pid, "the leaf, awaited by Task-1")
            assert "  leaf  prog.py:5\n" in shown
        else:
            assert json.loads(dumped(pid, "--json"))["tasks"] is None


def test_without_py_spy_it_is_said_how_to_install_it(tmp_path: Path) -> None:
    script = "import shutil; shutil.which = lambda *_, **__: None\nfrom dapkit.cli.main import dapkit; dapkit()"
    with plain(TASKS, tmp_path, sys.executable) as pid:
        answer = subprocess.run(
            [sys.executable, "-c", script, "dump", str(pid)], capture_output=True, text=True, check=False
        )
    assert answer.returncode == exit_codes.NO_ADAPTER
    assert "pip install 'dapkit[dump]'" in answer.stderr


def test_process_that_is_not_there_is_an_error_in_words() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "dapkit.cli", "dump", "4194305"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == exit_codes.FAILED
    assert answer.stderr == "Error: process 4194305 is not there: it has ended, or its number is another one\n"
