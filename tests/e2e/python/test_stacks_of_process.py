"""`dapkit stacks`: the stacks of programs that answer nothing any more, and who has which lock."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dapkit.cli import exit_codes
from e2e.python.stack_command import dump_without_py_spy, dumped, dumped_once, number_of, plain

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

TWO_OBJECTS = """
    import threading

    class Account:
        def __init__(self):
            self.lock = threading.Lock()

        def keep(self):
            with self.lock:
                threading.Event().wait()

        def take(self):
            with self.lock:
                pass

    one, other = Account(), Account()
    other.lock.acquire()
    threading.Thread(target=one.keep, daemon=True).start()
    threading.Thread(target=other.take, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()
"""

STUCK = """
    import re

    def search(text):
        re.match("(a|a)*b", text)

    print("ready", flush=True)
    search("a" * 60)
"""


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.each_python
def test_program_that_is_stuck_in_native_code_gives_its_stacks(tmp_path: Path, python: str) -> None:
    with plain(STUCK, tmp_path, python) as pid:
        shown = dumped_once(pid, "search  prog.py:4")
    assert f"MainThread ({pid}), runs, and holds the interpreter\n" in shown
    assert "match (" in shown  # of the library, folded


@pytest.mark.thorough
def test_without_py_spy_it_is_said_how_to_install_it(tmp_path: Path) -> None:
    with plain(DEADLOCK, tmp_path, sys.executable) as pid:
        answer = dump_without_py_spy(pid)
    assert answer.returncode == exit_codes.NO_ADAPTER
    assert "pip install 'dapkit[dump]'" in answer.stderr


@pytest.mark.each_python
def test_interpreter_reads_the_stacks_of_3_15_without_py_spy(tmp_path: Path, python: str) -> None:
    if "3.15" not in python:
        pytest.skip("py-spy reads the stacks of this version")
    with plain(DEADLOCK, tmp_path, python) as pid:
        shown = dumped_once(pid, "Deadlock:")
        answer = dump_without_py_spy(pid)
        found = json.loads(dump_without_py_spy(pid, "--json").stdout)
        with_py_spy = json.loads(dumped(pid, "--json"))
    assert answer.returncode == exit_codes.DONE, answer.stderr
    assert "take waits for first at prog.py:19, which pay has" in shown
    assert f"\npay ({number_of(found, 'pay')}), waits\n  waits for self.lock at prog.py:13\n" in answer.stdout
    assert "waits for first at prog.py:19, which pay has" in answer.stdout
    assert "Deadlock" not in answer.stdout  # whose `self` it is cannot be known
    assert found["stacksBy"] == with_py_spy["stacksBy"] == "the interpreter"
    stacks = [{thread["id"]: thread["frames"] for thread in dump["threads"]} for dump in (found, with_py_spy)]
    assert stacks[0] == stacks[1]


@pytest.mark.thorough
@pytest.mark.each_python
def test_lock_of_another_object_is_not_taken_for_the_same_one(tmp_path: Path, python: str) -> None:
    with plain(TWO_OBJECTS, tmp_path, python) as pid:
        shown = dumped_once(pid, "waits for self.lock")
        without = dump_without_py_spy(pid)
    for page in (shown, without.stdout):
        assert "which" not in page
    if "3.15" in python:
        assert "waits for self.lock at prog.py:" in without.stdout


@pytest.mark.thorough
def test_process_that_is_not_there_is_an_error_in_words() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "dapkit.cli", "stacks", "4194305"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == exit_codes.FAILED
    assert answer.stderr == "Error: process 4194305 does not exist: it has ended, or its id is wrong\n"
