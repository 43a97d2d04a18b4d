"""The state of a program at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.injection.target import TargetProcess, command_line, read
from dapkit.python.stacks.interpreters import INTERPRETER_READS_STACKS, reading_of
from dapkit.python.stacks.tasks import LOOP, Task, tasks_in
from dapkit.python.stacks.threads import DumpedThread, NoPySpy, stacks_of, threads_in
from dapkit.python.stacks.waits import Wait, circle_in, waits_of
from dapkit.system.trusted_files import read_start


@dataclass(frozen=True, slots=True)
class ProcessStacks:
    """A program at one moment.

    Attributes:
        command: its command line.
        folder: that it runs in.
        threads: those with code of the program's own first, and among these the one that holds the interpreter.
        waits: the waits of threads, as far as they are known.
        deadlock: the waits among them that form a circle.
        tasks: of asyncio; None where they cannot be read.
        tasks_reason: why they, or some of them, cannot be; empty if they were.
        tool: that read the stacks.

    """

    target: TargetProcess
    command: str
    folder: str
    threads: list[DumpedThread]
    waits: list[Wait]
    deadlock: list[Wait]
    tasks: list[Task] | None
    tasks_reason: str
    tool: str


def stacks_of_process(pid: int, *, native: bool = False) -> ProcessStacks:
    """Look at a program, which is stopped for some milliseconds.

    Raises:
        NoPySpy: there is nothing to do it by.
        RequestFailed: it cannot be looked at.

    """
    target = read(pid)
    traced = bool(target.tracer)
    reading = reading_of(target, blocking=not traced)
    threads, tool = _threads(target, reading, native=native, traced=traced)
    threads.sort(key=lambda thread: _rank(thread, pid))
    waits = waits_of(threads, lambda file: _text(pid, file))
    try:
        folder = str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        folder = ""
    tasks = None if reading["tasks"] is None else tasks_in(reading["tasks"], threads)
    reason = reading["reasons"].get("tasks", "") or _missing(target, threads, tasks or ())
    return ProcessStacks(target, command_line(pid), folder, threads, waits, circle_in(waits), tasks, reason, tool)


def _threads(
    target: TargetProcess, reading: Mapping[str, Any], *, native: bool, traced: bool
) -> tuple[list[DumpedThread], str]:
    """Return the threads, and the tool that read their stacks: the interpreter where it can, and py-spy elsewhere."""
    by_interpreter = None if native else reading["threads"]
    if by_interpreter is None:
        try:
            return stacks_of(target.pid, native=native, traced=traced), "py-spy"
        except NoPySpy as error:
            if native or target.version < INTERPRETER_READS_STACKS:
                raise
            raise NoPySpy(f"the interpreter cannot read it: {reading['reasons']['threads']}; {error}") from None
    try:
        others = stacks_of(target.pid, native=False, traced=traced)
    except (NoPySpy, RequestFailed):
        others = []
    return threads_in(by_interpreter, target.pid, others), "the interpreter"


def _missing(target: TargetProcess, threads: Sequence[DumpedThread], tasks: Sequence[Task]) -> str:
    """Name the tasks that an interpreter has not read: an interpreter of 3.14 reads the main thread's only."""
    if target.version != (3, 14):
        return ""
    of_tasks = {task.thread for task in tasks}
    loops = [
        str(thread)
        for thread in threads
        if thread.number not in {target.pid, *of_tasks} and any(frame.function == LOOP for frame in thread.frames)
    ]
    return f"Python 3.14 reads the main thread's, and not those in {', '.join(loops)}" if loops else ""


def _rank(thread: DumpedThread, pid: int) -> tuple[object, ...]:
    has_own = any(frame.is_own for frame in thread.frames)
    return not has_own, not thread.has_interpreter, thread.number != pid, not thread.is_running, thread.number


def _text(pid: int, file: str) -> str | None:
    """Return a source file as the program sees it."""
    try:
        return read_start(Path(f"/proc/{pid}/root/{file.lstrip('/')}"), limits.DUMP_SOURCE_BYTES).decode()
    except (OSError, ValueError):
        return None
