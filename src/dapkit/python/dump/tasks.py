"""The asyncio tasks of a program of Python 3.14, which an interpreter of this version reads out of its memory."""

import json
import subprocess
from dataclasses import dataclass

from dapkit import limits
from dapkit.python.adapter.injection.remote_exec import OLDEST, interpreter_for
from dapkit.python.adapter.injection.target import TargetProcess

_READ = """
import json, sys
from _remote_debugging import RemoteUnwinder
print(json.dumps([
    {
        "number": task.task_id,
        "name": task.task_name,
        "thread": loop.thread_id,
        "stack": [list(frame)[:3] for coroutine in task.coroutine_stack for frame in coroutine.call_stack],
        "awaited_by": [waiting.task_name for waiting in task.awaited_by],
    }
    for loop in RemoteUnwinder(int(sys.argv[1])).get_all_awaited_by() for task in loop.awaited_by
]))
"""


@dataclass(frozen=True, slots=True)
class Task:
    """A task that has not ended.

    Attributes:
        name: of the task.
        thread: number of the thread whose event loop runs it.
        stack: file, line and function of what it awaits, the newest first.
        awaited_by: names of the tasks that wait for it.

    """

    name: str
    thread: int
    stack: tuple[tuple[str, int, str], ...]
    awaited_by: tuple[str, ...]


def tasks_of(target: TargetProcess) -> list[Task] | None:
    """Return the tasks of a program; None if they cannot be known."""
    interpreter = interpreter_for(target) if target.version >= OLDEST else None
    if interpreter is None:
        return None
    command = [interpreter, "-I", "-S", "-c", _READ, str(target.pid)]
    try:
        answer = subprocess.run(command, capture_output=True, check=False, timeout=limits.DUMP_SECONDS)
        found = json.loads(answer.stdout) if answer.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if found is None:
        return None
    names = {task["number"]: str(task["name"]) for task in found}
    return [
        Task(
            str(task["name"]),
            task["thread"],
            tuple((str(file), int(line or 0), str(function)) for file, line, function in task["stack"]),
            tuple(names.get(number, str(number)) for number in task["awaited_by"]),
        )
        for task in found
    ]
