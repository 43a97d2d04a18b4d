"""The tasks of asyncio in a program: where each is, and which tasks wait for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dapkit.python.stacks.threads import DumpedThread

LOOP = "BaseEventLoop.run_forever"
"""The function in which asyncio's own event loops run."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task that has not ended.

    Attributes:
        name: of the task.
        thread: number of the thread whose event loop runs it; 0 if that is not known.
        is_running: whether its coroutine is being executed, and does not wait.
        stack: file, line and function of its awaited calls, the newest first.
        awaited_by: names of the tasks that wait for it.

    """

    name: str
    thread: int
    is_running: bool
    stack: tuple[tuple[str, int, str], ...]
    awaited_by: tuple[str, ...]


def tasks_in(reading: Sequence[Mapping[str, Any]], threads: Sequence[DumpedThread]) -> list[Task]:
    """Make tasks of the raw data, completed from the stacks of the threads."""
    names = {task["number"]: str(task["name"]) for task in reading}
    of_loops = _threads_of_loops(reading, threads)
    of_number = {thread.number: thread for thread in threads}
    tasks: list[Task] = []
    for task in sorted(reading, key=lambda task: _order(names[task["number"]])):
        number = task.get("thread") or of_loops.get(task.get("loop", 0), 0)
        stack = tuple((str(file), int(line), str(function)) for file, line, function in task["stack"])
        if task["running"] and number in of_number:
            stack = _running_stack(stack, of_number[number])
        awaited_by = tuple(names.get(waiting, f"task {waiting:#x}") for waiting in task["awaited_by"])
        tasks.append(Task(names[task["number"]], number, task["running"], stack, awaited_by))
    return tasks


def _order(name: str) -> tuple[int, str]:
    return len(name), name


def _threads_of_loops(reading: Sequence[Mapping[str, Any]], threads: Sequence[DumpedThread]) -> dict[int, int]:
    """Return the threads that run event loops, by the loops' addresses: they are in a variable of asyncio there."""
    of_task = {task["number"]: task.get("loop") for task in reading}
    threads_by_loop: dict[int, int] = {}
    for thread in threads:
        for frame in thread.frames:
            if frame.function == LOOP and "self" in frame.roots:
                threads_by_loop.setdefault(frame.roots["self"], thread.number)
            elif frame.function == "Runner.run" and (loop := of_task.get(frame.roots.get("task", 0))):
                threads_by_loop.setdefault(loop, thread.number)  # a loop that is not asyncio's own
    return threads_by_loop


def _running_stack(stack: tuple[tuple[str, int, str], ...], thread: DumpedThread) -> tuple[tuple[str, int, str], ...]:
    """Return the calls of a running task: its thread's calls, down to the coroutine that the task was made for."""
    calls = [(frame.file, frame.line, frame.function) for frame in thread.frames]
    places = [number for number, call in enumerate(calls) if stack and call[::2] == stack[-1][::2]]
    return tuple(calls[: places[-1] + 1]) if places else stack
