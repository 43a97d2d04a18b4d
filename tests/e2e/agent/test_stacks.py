"""Where all threads of a program stand, and which lock keeps them there."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from action_fixtures import Caller
from dapkit.agent.calls.failures import ActionFailed

BANK = """\
import threading, time

class Bank:
    def __init__(self):
        self.a = threading.Lock()
        self.b = threading.Lock()
        self.both = threading.Barrier(2)

    def ab(self):
        with self.a:
            self.both.wait()
            with self.b:
                pass

    def ba(self):
        with self.b:
            self.both.wait()
            with self.a:
                pass

def idle():
    time.sleep(1000)

bank = Bank()
threads = [threading.Thread(target=bank.ab, name="ab"), threading.Thread(target=bank.ba, name="ba")]
threads += [threading.Thread(target=idle, name=f"idle-{n}") for n in range(3)]
for thread in threads:
    thread.daemon = True
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
"""

NATIVE = """\
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *given) { pthread_mutex_lock(&lock); return given; }
int main(void) {
    pthread_t threads[3];
    pthread_mutex_lock(&lock);
    for (int n = 0; n < 3; n++) pthread_create(&threads[n], NULL, worker, NULL);
    puts("ready");
    fflush(stdout);
    for (int n = 0; n < 3; n++) pthread_join(threads[n], NULL);
}
"""

GO = """\
package main

import (
	"fmt"
	"time"
)

func worker(numbers chan int) { fmt.Println(<-numbers) }

func main() {
	numbers := make(chan int)
	for n := 0; n < 3; n++ {
		go worker(numbers)
	}
	fmt.Println("ready")
	time.Sleep(1000 * time.Second)
}
"""

pytestmark = pytest.mark.timeout(300)  # for a busy machine

WORDS = {"gdb": "worker", "lldb-dap": "worker", "dlv": "main.worker", "dapkit": "idle", "debugpy": "idle"}


@pytest.fixture(
    params=["dapkit", *(pytest.param(each, marks=pytest.mark.each_adapter) for each in ("debugpy", *[*WORDS][:3]))]
)
def adapter(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> str:
    """Write a program that hangs, for an adapter."""
    name: str = request.param
    if name in ("gdb", "lldb-dap"):
        tool = require_tool("gdb" if name == "gdb" else "lldb-dap-22")
        source = caller.write("app.c", NATIVE)
        subprocess.run([require_tool("cc"), "-g", "-pthread", "-o", source.with_suffix(""), source], check=True)
    elif name == "dlv":
        tool, _ = require_tool("dlv"), caller.write("app.go", GO)
    else:
        tool, _ = Path(sys.executable), caller.write("app.py", BANK)
    caller.env = {**caller.env, "PATH": os.pathsep.join([str(tool.parent), caller.env["PATH"]])}
    return name


@pytest.fixture(autouse=True)
def _impatient(caller: Caller) -> None:
    """Let a launch return early: these programs do not stop."""
    caller.settings = replace(caller.settings, session_initial_stop_seconds=1)


def _names(group: dict[str, object], word: str) -> bool:
    return any(word in frame["name"] for frame in group["frames"])  # type: ignore[attr-defined]


async def test_equal_stacks_are_shown_once_and_the_program_runs_on(caller: Caller, adapter: str) -> None:
    program = {"gdb": "app", "lldb-dap": "app", "dlv": "app.go"}.get(adapter, "app.py")
    await caller("launch", program=program, adapter=adapter, stop_on_entry=False)
    for _ in range(600):
        answer = await caller("stacks", timeout=120)
        if any(group["count"] == 3 for group in answer.details["groups"] if _names(group, WORDS[adapter])):
            break  # each has come to where it waits
    [group] = [each for each in answer.details["groups"] if _names(each, WORDS[adapter])]
    assert group["count"] == 3
    assert len(group["own"]) >= 1
    assert "- 3 threads: " in answer.text
    assert len(answer.text.encode()) < 4000
    assert (await caller("sessions")).details["sessions"][0]["status"] == "running"


async def test_circle_of_locks_is_named(caller: Caller) -> None:
    caller.write("app.py", BANK)
    await caller("launch", program="app.py", stop_on_entry=False)
    for _ in range(200):
        answer = await caller("stacks", timeout=120)
        if answer.details.get("deadlock"):
            break
    assert sorted(answer.details["deadlock"]) == ["ab", "ba"]
    assert answer.text.startswith("Deadlock: ")
    assert f"Lock self.a: held by ab; awaited by ba at {caller.project / 'app.py'}:18" in answer.text
    assert f"Lock self.b: held by ba; awaited by ab at {caller.project / 'app.py'}:12" in answer.text


@pytest.mark.thorough
async def test_process_is_attached_to_and_released(caller: Caller) -> None:
    program = [sys.executable, str(caller.write("app.py", BANK))]
    async with await anyio.open_process(program, stderr=None) as process:
        try:
            assert process.stdout is not None
            assert (await process.stdout.receive()).startswith(b"ready")
            for _ in range(30):
                answer = await caller("stacks", pid=process.pid, timeout=120)
                if answer.details.get("deadlock"):
                    break
            assert sorted(answer.details["deadlock"]) == ["ab", "ba"]
            assert process.returncode is None
        finally:
            process.kill()
    assert (await caller("sessions")).details["sessions"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("action", ["stacks", "autopsy"])
async def test_process_is_released_also_if_the_answer_fails(
    caller: Caller, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise ActionFailed("internal", "broken")

    monkeypatch.setattr("dapkit.agent.actions.stacks._stacks", fails)
    monkeypatch.setattr("dapkit.agent.actions.autopsy._broken_off", fails)
    program = [sys.executable, str(caller.write("app.py", BANK))]
    async with await anyio.open_process(program, stderr=None) as process:
        try:
            assert process.stdout is not None
            assert (await process.stdout.receive()).startswith(b"ready")
            assert (await caller(action, pid=process.pid)).error == ("internal", "broken")
            assert (await caller("sessions")).details["sessions"] == []
            assert process.returncode is None
        finally:
            process.kill()
