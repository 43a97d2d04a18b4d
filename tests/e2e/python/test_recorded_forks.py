"""Children of a recorded program that were made by `fork` alone: recorded, opened, and debugged backwards."""

import sys
import time
import zipfile
from pathlib import Path

import pytest

from dapkit.python.recording.file import processes_of
from e2e.python.adapter_client import adapter_client
from e2e.python.test_recorded_processes import opened
from e2e.python.test_recordings import DEADLINE, record, said, written

pytestmark = pytest.mark.timeout(300)

FAILING = """
import os
total = 0
for number in range(3):
    total += number
child = os.fork()
if child == 0:
    for number in range(3):
        total += 10
    own = os.getpid()
    print("child", own, flush=True)
    total / 0
print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
POOL = """
import multiprocessing, os, time
def began():
    return [name for name in os.listdir() if name.startswith("began-")]
def work(number):
    open(f"began-{os.getpid()}", "w").close()
    for _ in range(6000):
        if len(began()) == 2:  # else one of them might do all before the other has begun
            break
        time.sleep(0.01)
    return number * 2
if __name__ == "__main__":
    for name in began():
        os.remove(name)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4)))
"""
WORKER = """
import multiprocessing
def work(number):
    return 12 / number
if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work, args=(0,))
    worker.start()
    worker.join()
"""
KINDS = """
import asyncio, os, signal, subprocess, sys, threading, time

def in_child(function):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    print(function.__name__, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

def nested():
    in_child(counts)

def counts():
    print("counts", sum(range(10)))

def executes():
    os.execvp("true", ["true"])

def is_signalled():
    got = []
    signal.signal(signal.SIGUSR1, lambda *_: got.append("handled"))
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.01)
    print(got)

def has_threads():
    ended = []
    threads = [threading.Thread(target=lambda n=n: (time.sleep(0.01), ended.append(n))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(ended))

def talks():
    async def talk():
        async def serve(reader, writer):
            writer.write((await reader.readline()).upper())
            await writer.drain()
            writer.close()
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\\n")
        print(await reader.readline())
        writer.close()
        server.close()
    asyncio.run(talk())

def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    for function in (nested, executes, is_signalled, has_threads, talks, is_killed):
        in_child(function)
    print(subprocess.run(["echo", "hi"], preexec_fn=os.setsid, capture_output=True).stdout)
    stop = threading.Event()
    waiting = threading.Thread(target=stop.wait)
    waiting.start()
    in_child(has_threads)
    stop.set()
    waiting.join()
    forking = threading.Thread(target=in_child, args=(counts,))
    forking.start()
    forking.join()
"""
OUTLIVES = """
import os, time
if os.fork() == 0:
    os.closerange(0, 3)
    for _ in range(6000):
        if os.path.exists("go"):
            break
        time.sleep(0.05)
    with open("written", "w") as file:
        file.write("by the child\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (
        ("failing", FAILING),
        ("pool", POOL),
        ("worker", WORKER),
        ("kinds", KINDS),
        ("outlives", OUTLIVES),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


async def test_a_fork_is_opened_at_its_failure_and_debugged_back_into_its_parent(project: Path) -> None:
    await _debug_backwards(project, sys.executable)


@pytest.mark.thorough
@pytest.mark.each_python
async def test_a_fork_is_debugged_backwards_on_each_python(project: Path, python: str) -> None:
    await _debug_backwards(project, python)


async def _debug_backwards(project: Path, python: str) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", python, "-W", "error", "failing.py")
    said_by_child, said_by_parent = recorded.stdout.splitlines()
    assert (recorded.returncode, said_by_parent) == (0, "parent 1"), recorded.stderr
    file = project / "run.dapkit"
    line = f"process 1: failing.py: fork, exit code 1. Open it with: dapkit launch {file} 1"
    assert recorded.stderr.splitlines()[-1] == line
    async with adapter_client(project) as driver:
        stopped = await opened(driver, file)
        assert stopped.description == "End of recorded history"
        assert written(driver) == "parent 1\n"
    async with adapter_client(project) as driver:
        stopped = await opened(driver, file, "1")
        assert (stopped.reason, stopped.text) == ("exception", "ZeroDivisionError")
        assert written(driver) == f"{said_by_child}\n"
        top = (await driver.frames())[0]
        evaluated = await driver.session.evaluate("total, child, own", frame_id=top.id)
        assert evaluated.result == f"(33, 0, {said_by_child.split()[1]})"
        await driver.session.reverse_continue(1)
        start = await driver.session.next_stop(deadline=DEADLINE)
        assert start.event.description == "Start of recorded history"
        for line_of_breakpoint in (5, 9):
            await driver.session.add_breakpoint(project / "failing.py", line_of_breakpoint)
        totals = []
        for _ in range(6):
            await driver.session.continue_(1)
            await driver.session.next_stop(deadline=DEADLINE)
            top = (await driver.frames())[0]
            totals.append((top.line, (await driver.session.evaluate("total", frame_id=top.id)).result))
        assert totals == [(5, "0"), (5, "0"), (5, "1"), (9, "3"), (9, "13"), (9, "23")]
        for line_before in (8, 9, 8, 9, 8, 7, 6):
            await driver.session.step_back(1)
            await driver.session.next_stop(deadline=DEADLINE)
            assert (await driver.where())[1] == line_before


@pytest.mark.thorough
@pytest.mark.each_python
async def test_forks_of_each_kind_are_executed_again(project: Path, python: str) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", python, "kinds.py")
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout.splitlines() == [
        *("counts 45", "counts 0", "nested 0", "executes 0", "['handled']", "is_signalled 0"),
        *("[0, 1, 2]", "has_threads 0", "b'HELLO\\n'", "talks 0", "is_killed -9"),
        *("b'hi\\n'", "[0, 1, 2]", "has_threads 0", "counts 45", "counts 0"),
    ]
    lines = [line.partition(". Open")[0] for line in recorded.stderr.splitlines() if line.startswith("process ")]
    assert sorted(lines) == [
        "process 1: kinds.py: fork, exit code 0",
        "process 2 of process 1: kinds.py: fork, exit code 0",
        "process 3: kinds.py: fork, exit code 0",
        "process 4: kinds.py: fork, exit code 0",
        "process 5: kinds.py: fork, exit code 0",
        "process 6: kinds.py: fork, signal 9",
        "process 7: kinds.py: fork, exit code 0",
        "process 8: kinds.py: fork, exit code 0",
    ]
    outputs = []
    for number in range(1, 9):
        async with adapter_client(project) as driver:
            stopped = await opened(driver, project / "run.dapkit", str(number))
            assert stopped.description == "End of recorded history", said(driver)
            ending = "The recorded program has ended"
            assert f"{ending} {'by signal 9' if number == 6 else 'with exit code 0'}." in said(driver)
            outputs.append(written(driver))
    assert [output.splitlines()[-1] for output in outputs] == [  # the parent's earlier output is there as well
        *("counts 0", "counts 45", "['handled']", "[0, 1, 2]", "b'HELLO\\n'", "talks 0", "[0, 1, 2]", "counts 45"),
    ]


@pytest.mark.thorough
@pytest.mark.each_python
async def test_workers_of_a_pool_are_recorded_and_their_end_is_no_failure(project: Path, python: str) -> None:
    recorded = record(project, "--children", "--keep", "failed", "-o", "run.dapkit", python, "-W", "error", "pool.py")
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "[0, 2, 4, 6]\n", "")
    assert not (project / "run.dapkit").exists()
    recorded = record(project, "--children", "-o", "run.dapkit", python, "pool.py")
    workers = [line for line in recorded.stderr.splitlines() if ": pool.py: fork, " in line]
    assert len(workers) == 2
    for number in (1, 2):
        async with adapter_client(project) as driver:
            stopped = await opened(driver, project / "run.dapkit", str(number))
            assert stopped.description == "End of recorded history", said(driver)


@pytest.mark.thorough
@pytest.mark.each_python
async def test_a_worker_is_opened_at_the_exception_that_ends_it(project: Path, python: str) -> None:
    record(project, "--children", "-o", "run.dapkit", python, "worker.py")
    async with adapter_client(project) as driver:
        await opened(driver, project / "run.dapkit")
        [failed] = await driver.session.wait_for_children(1, deadline=DEADLINE)
        stop = await failed.next_stop(deadline=DEADLINE)
        assert (stop.reason, stop.event.text) == ("exception", "ZeroDivisionError")
        [frame, *_] = (await failed.stack_trace(1)).stack_frames
        assert (frame.name, frame.line) == ("work", 4)


@pytest.mark.thorough
def test_a_fork_has_no_secrets(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "of-the-shop-alone")
    (project / "token.txt").write_text("of-the-shop-alone")
    (project / "secret.py").write_text(
        "import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nprint(len(open('token.txt').read()))\n"
    )
    recorded = record(project, "--children", "-o", "run.dapkit", sys.executable, "secret.py")
    assert recorded.stdout == "17\n17\n"
    with zipfile.ZipFile(project / "run.dapkit") as archive:
        [child] = [name for name in archive.namelist() if name.startswith("processes/")]
        with archive.open(child) as file, zipfile.ZipFile(file) as inner:
            packed = [*map(inner.read, inner.namelist()), *map(archive.read, archive.namelist())]
    assert not any(b"of-the-shop-alone" in content for content in packed)
    assert sum(content.count(b"*" * 17) for content in packed) >= 4


@pytest.mark.thorough
def test_a_fork_that_outlives_the_program_goes_on_and_is_not_in_the_file(project: Path) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", sys.executable, "outlives.py")
    assert (recorded.returncode, "process 1" in recorded.stderr) == (0, False), recorded.stderr
    (project / "go").touch()
    deadline = time.monotonic() + 2 * DEADLINE
    while not (project / "written").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    while (project / "written").stat().st_size == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (project / "written").read_text() == "by the child\n"


LATE_END = """
import atexit, os, subprocess, sys
def end():
    os._exit(9)
child = os.fork()
if child == 0:
    atexit.register(end)
    raise SystemExit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(subprocess.run([sys.executable, "-c", "import atexit, os; atexit.register(os._exit, 8)"]).returncode)
"""


@pytest.mark.thorough
def test_the_exit_code_is_that_which_the_parent_has_seen(project: Path) -> None:
    (project / "late_end.py").write_text(LATE_END)
    recorded = record(project, "--children", "-o", "run.dapkit", sys.executable, "late_end.py")
    assert recorded.stdout == "9\n8\n"
    codes = {each.exit_code for each in processes_of(project / "run.dapkit")}
    assert codes == {9, 8}
