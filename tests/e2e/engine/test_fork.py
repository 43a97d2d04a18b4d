"""Forks: of an expression while the program is stopped, of a program that runs, and of its children."""

import contextlib
import os
import signal
import subprocess

import pytest

from e2e.engine.conftest import Start

pytestmark = pytest.mark.each_python


def test_forks_of_one_native_call_leave_no_trace(start: Start) -> None:
    peer = start(
        """
        import itertools, os
        parent = os.getpid()
        list(itertools.starmap(os.fork, ((), ())))
        try:
            while True:
                os.wait()
        except ChildProcessError:
            if os.getpid() == parent:
                print("end", flush=True)
        os._exit(0)
        """
    )
    peer.configure()
    assert peer.finish() == (0, "end\n", "")


@pytest.mark.thorough
@pytest.mark.row("evaluate")
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("context", ["watch", "repl"])
def test_fork_in_an_expression_leaves_the_child_running_and_the_parent_stopped(
    start: Start, context: str, *, together: bool
) -> None:
    peer = start(
        """
        import os
        x = 1
        os.write(1, f"{os.getpid()} ".encode())
        """
    )
    peer.configure(lines=[2], stopAllThreads=together)
    peer.stopped("breakpoint")
    child = int(peer.value("os.fork()", context))
    try:
        assert peer.process.stdout is not None
        assert os.read(peer.process.stdout.fileno(), 100) == f"{child} ".encode()
        assert peer.value("'x' in globals()") == "False"
        peer.go()
        assert peer.finish()[:2] == (0, f"{peer.process.pid} ")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


FAMILY = """
import multiprocessing, os, signal, subprocess, sys, threading, warnings
warnings.simplefilter("always")
def fork(name, body=lambda: None):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        body()
        subprocess.run([sys.executable, "-c", ""], preexec_fn=lambda: None, check=True)
        state = sys.monitoring.get_tool(0), threading.active_count(), len(os.listdir("/proc/self/fd"))
        os.write(write, f"{name}: {state}".encode())
        os._exit(0)
    os.close(write)
    print(os.read(read, 1000), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    os.close(read)
fork("child", lambda: fork("grandchild", lambda: fork("grandgrandchild")))
list(map(fork, ["from native code"]))
def daemon():
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    os.write(write, b"daemon"); os._exit(0)
read, write = os.pipe()
child = os.fork()
if child == 0: daemon()
os.close(write); print(os.waitpid(child, 0)[1], os.read(read, 100), os.read(read, 100))
child = os.fork()
if child == 0: sys.exit(3)  # with everything that is done at exit
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
def work(queue): queue.put(sum(squares()))
def square(n): return n * n
def squares():
    with context.Pool(2) as pool: return pool.map(square, range(4))
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=work, args=(queue,))
process.start(); print(queue.get()); process.join(); print(process.exitcode)
warnings.simplefilter("ignore")  # from here on there may be threads that end
thread = threading.Thread(target=fork, args=("of a thread", lambda: fork("grandchild of a thread")))
thread.start(); thread.join()
"""


@pytest.mark.thorough
def test_nothing_of_ours_acts_in_children_of_any_generation(start: Start, python: str) -> None:
    peer = start(FAMILY)
    plain = subprocess.run([python, "prog.py"], cwd=peer.folder, capture_output=True, text=True, check=True)
    peer.configure(filters=["uncaught"])
    code, output, errors = peer.finish()
    assert (code, output) == (0, plain.stdout)
    assert errors == plain.stderr == ""


def test_no_fork_counts_the_thread_of_the_debugger_where_the_system_does_not_tell_of_threads(
    start: Start, python: str
) -> None:
    if "3.12" in python:
        pytest.skip("Python 3.12 cannot join a thread of that kind")
    peer = start(
        """
        import os, warnings
        counted = []
        warnings.showwarning = lambda *_: counted.append(1)
        warnings.simplefilter("always")
        for _ in range(200):
            child = os.fork()
            if not child: os._exit(0)
            os.waitpid(child, 0)
        print(len(counted))
        """,
        env={"DAPKIT_SYSTEM": "posix"},
    )
    peer.configure()
    assert peer.finish() == (0, "0\n", "")


def test_pauses_at_any_moment_around_forks_stop_the_program(start: Start) -> None:
    peer = start(
        """
        import os
        os.write(1, b"begun")
        while not os.path.exists("enough"):
            child = os.fork()
            if not child: os._exit(0)
            os.waitpid(child, 0)
            for i in range(500): pass
        """
    )
    peer.configure()
    assert peer.process.stdout is not None
    assert os.read(peer.process.stdout.fileno(), 100) == b"begun"
    for _ in range(40):
        peer.ask("pause", threadId=1)
        peer.stopped("pause")
        assert peer.stack()
        peer.go()
    (peer.folder / "enough").touch()
    assert peer.finish() == (0, "", "")  # no warning of a second thread


def test_program_stops_after_a_fork_whose_frame_an_exception_leaves_at_once(start: Start) -> None:
    peer = start(
        """
        import ctypes, os, signal
        from functools import partial
        def handler(*_): raise LookupError
        signal.signal(signal.SIGUSR1, handler)
        send = partial(ctypes.CDLL(None).kill, os.getpid(), signal.SIGUSR1)
        os.register_at_fork(after_in_parent=send)
        def forks():
            return os.fork()
        try:
            if not forks(): os._exit(0)
        except LookupError:
            os.write(1, b"left")
        while True: pass
        """
    )
    peer.configure(filters=[])
    assert peer.process.stdout is not None
    assert os.read(peer.process.stdout.fileno(), 100) == b"left"
    peer.ask("pause", threadId=1)
    peer.stopped("pause")


def test_program_stops_in_what_others_do_after_a_fork(start: Start) -> None:
    peer = start(
        """
        import os
        def after():
            x = 1
        os.register_at_fork(after_in_parent=after)
        if not os.fork(): os._exit(0)
        """
    )
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    assert peer.at() == ("after", 3)
    peer.go()
    assert peer.finish()[0] == 0
