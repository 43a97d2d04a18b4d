"""One look at processes of this machine, from outside: no process is stopped, and none runs any code for it.

py-spy reads the stacks of all versions; where it is not installed, or cannot, an interpreter of 3.15 reads programs of
its version. A process that changes while it is read is read again.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from dapkit.adapter import RequestFailed
from dapkit.cluster import limits
from dapkit.cluster.stack_groups import StackGroups
from dapkit.python.adapter.injection.target import read
from dapkit.python.stacks.contents import INTERPRETER_READS_STACKS, reading_of
from dapkit.python.stacks.threads import DumpedThread, NoPySpy, find_py_spy, thread_of, threads_in

_MODULE: Final = "<module>"

DISK_SLEEP: Final = "D"
"""State of a thread in /proc that waits in the system, and cannot be interrupted."""


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """A process at one moment.

    Attributes:
        threads: its threads; none if it runs no Python code.
        states: the system's letters for the states of its threads, by number. Those are left out that changed their
            states while their stacks were read: a thread that a signal stops then has the stack from before.
        problem: why it could not be read; empty if it was.

    """

    threads: tuple[DumpedThread, ...] = ()
    states: Mapping[int, str] = field(default_factory=dict)
    problem: str = ""


def read_processes(pids: Sequence[int]) -> dict[int, ProcessReading]:
    """Read processes of this machine, several at a time.

    Raises:
        NoPySpy: nothing can read them: py-spy is not installed, and they are of a version before 3.15.

    """
    with ThreadPoolExecutor(limits.READERS) as readers:
        try:
            readings = readers.map(partial(_by_py_spy, find_py_spy()), pids)
        except NoPySpy as error:
            readings = readers.map(partial(_by_interpreter, error), pids)
        return dict(zip(pids, readings, strict=True))


def add_reading(groups: StackGroups, member: str, pid: int, reading: ProcessReading) -> None:
    """Add the thread that a process is compared by to groups, and its other threads with own code.

    That is the main thread, or where this runs none of the program's code, as in a worker of Dask, the first that does.
    """
    main = next((thread for thread in reading.threads if thread.number == pid), None)
    main = main or next((thread for thread in reading.threads if thread.name == "MainThread"), None)
    if main is None:
        main = DumpedThread(pid, "", is_running=False, has_interpreter=False, frames=())
    own = [thread for thread in reading.threads if any(frame.is_own for frame in thread.frames)]
    compared = main if main in own or not own or _has_left(main) else own[0]
    for thread in dict.fromkeys((compared, *own)):
        groups.add(
            member,
            thread,
            is_main=thread is compared,
            in_kernel=reading.states.get(thread.number) == DISK_SLEEP,
            ended=thread is main and _has_left(main),
        )


def _has_left(main: DumpedThread) -> bool:
    """Return whether a main thread has left the program's code, whose outermost call is the module."""
    return not any(frame.function == _MODULE for frame in main.frames)


def _by_py_spy(py_spy: str, pid: int) -> ProcessReading:
    problem = ""
    for _ in range(limits.READ_ATTEMPTS):
        before = states_of(pid)
        try:
            answer = subprocess.run(
                [py_spy, "dump", "--pid", str(pid), "--json", "--nonblocking"],
                capture_output=True,
                check=False,
                timeout=limits.READ_SECONDS,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "RUST_BACKTRACE": "0"},
            )
        except subprocess.TimeoutExpired:
            return ProcessReading(problem=f"py-spy did not read it within {limits.READ_SECONDS:g} s")
        if answer.returncode == 0:
            threads = tuple(thread_of(entry, pid) for entry in json.loads(answer.stdout))
            return ProcessReading(threads, _unchanged(before, states_of(pid)))
        problem = " ".join(answer.stderr.decode(errors="replace").split()).removeprefix("Error: ")
        if not Path(f"/proc/{pid}/exe").exists():
            return ProcessReading(problem="its process has ended")
    try:
        return _by_interpreter(NoPySpy(), pid)
    except NoPySpy:
        return ProcessReading(states=states_of(pid), problem=f"py-spy cannot read it: {problem[:200]}")


def _by_interpreter(no_py_spy: NoPySpy, pid: int) -> ProcessReading:
    """Read a process of 3.15. Raises: `no_py_spy`, if it is of an earlier version."""
    try:
        target = read(pid)
    except RequestFailed as error:
        return ProcessReading(problem=error.text)
    if target.version < INTERPRETER_READS_STACKS:
        raise no_py_spy
    before = states_of(pid)
    reading = reading_of(target, blocking=False)
    states = _unchanged(before, states_of(pid))
    if reading["threads"] is None:
        return ProcessReading(states=states, problem=str(reading["reasons"]["threads"]))
    return ProcessReading(tuple(threads_in(reading["threads"], pid, ())), states)


def _unchanged(before: Mapping[int, str], after: Mapping[int, str]) -> dict[int, str]:
    return {thread: state for thread, state in before.items() if after.get(thread) == state}


def states_of(pid: int) -> dict[int, str]:
    """Return the system's letters for the states of a process's threads."""
    states: dict[int, str] = {}
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return states
    for task in tasks:
        try:
            states[int(task.name)] = (task / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue  # it has ended
    return states
