"""The state of a program at one moment, read from its memory by an interpreter of its version.

The program's own interpreter is asked first: of one version there are builds whose objects are laid out differently.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dapkit.endpoint import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.injection.remote_exec import interpreter_for, own_interpreter
from dapkit.python.adapter.injection.target import TargetProcess, command_line, read
from dapkit.python.stacks.tasks import LOOP, Task, tasks_in
from dapkit.python.stacks.threads import DumpedThread, NoPySpy, stacks_of, threads_in
from dapkit.python.stacks.waits import Wait, circle_in, waits_of
from dapkit.python.versions import OLDEST
from dapkit.system.trusted_files import read_start

_FOLDER = Path(__file__).parent
_UNWINDER = (3, 14)
"""Versions from here on can read another process of their version themselves."""
INTERPRETER_READS_STACKS = (3, 15)
"""And from here on, the stacks of its threads."""
_START = "import sys, runpy; sys.path.append(sys.argv.pop(1)); runpy.run_module('remote_memory', run_name='__main__')"


def reading_of(target: TargetProcess, *, blocking: bool) -> dict[str, Any]:
    """Return `threads` and `tasks` of a program, each None if it is not known, with `reasons` for that.

    Args:
        target: the program.
        blocking: whether it may be made to stand still meanwhile.

    """
    version = ".".join(map(str, target.version))
    if target.version < OLDEST:
        return _refusal("they are read from Python 3.12 on")
    if target.version >= _UNWINDER:
        command = [str(_FOLDER / "unwinder_script.py"), str(target.pid), *([] if blocking else ["nonblocking"])]
    else:
        command = ["-c", _START, str(_FOLDER), str(target.pid)]
    interpreters = list(dict.fromkeys(filter(None, (own_interpreter(target), interpreter_for(target)))))
    answer = _refusal(f"no Python {version} was found here that could read them")
    for number, interpreter in enumerate(interpreters):
        reading = _answer([interpreter, "-I", "-S", "-B", *command])
        if reading["tasks"] is not None or reading["threads"] is not None:
            return reading
        if number == 0:
            answer = reading  # its reasons count, not another build's
    return answer


def _refusal(reason: str) -> dict[str, Any]:
    return {"threads": None, "tasks": None, "reasons": {"threads": reason, "tasks": reason}}


def _answer(command: Sequence[str]) -> dict[str, Any]:
    try:
        answer = subprocess.run(
            command, capture_output=True, check=False, timeout=limits.DUMP_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return _refusal(f"{command[0]} did not read them within {limits.DUMP_SECONDS:g} s")
    except OSError as error:
        return _refusal(f"{command[0]} cannot be run: {error.strerror}")
    try:
        reading: dict[str, Any] = json.loads(answer.stdout)
    except ValueError:
        last_line = answer.stderr.decode(errors="replace").strip().rpartition("\n")[2].strip().rstrip(".")
        failure = f"{command[0]} failed with status {answer.returncode}"
        return _refusal(f"{failure} ({last_line})" if last_line else failure)
    return reading


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
