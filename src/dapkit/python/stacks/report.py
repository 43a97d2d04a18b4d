"""A dump as the lines of a page, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from dapkit.python import limits
from dapkit.python.stacks.contents import ProcessStacks
from dapkit.python.stacks.tasks import Task
from dapkit.python.stacks.threads import DumpedThread, Frame, is_own
from dapkit.python.stacks.waits import Wait

type _FrameRow = tuple[str, str, int, bool]
"""Function, file, line, and whether it is the program's own."""

_ADVICE = "A session shows them as threads: `dapkit attach PID`."


def as_lines(stacks: ProcessStacks, *, everything: bool = False) -> list[str]:
    """Return one page: library calls are folded, equal threads are one, and long stacks cut, unless all is wanted.

    Names are as the program has them, whatever characters they have.
    """
    target = stacks.target
    version = ".".join(map(str, target.version)) if any(target.version) else "of a version before 3.11"
    lines = [f"Process {target.pid}: {stacks.command}", f"Python {version} ({target.executable})"]
    if stacks.deadlock:
        lines += ["", f"Deadlock: {'; '.join(_sentence(wait, stacks) for wait in stacks.deadlock)}."]
    for _, alike in groupby(stacks.threads, lambda thread: _likeness(thread, everything=everything)):
        lines += ["", *_thread(list(alike), stacks, everything=everything)]
    for thread, of_thread in _by_thread(stacks):
        lines += ["", f"Tasks of asyncio{f' in {thread}' if thread else ''} ({len(of_thread)})"]
        for together in _alike(of_thread, everything=everything):
            lines += ["", *_task(together, stacks, everything=everything)]
    if stacks.tasks_reason and any("/asyncio/" in frame.file for thread in stacks.threads for frame in thread.frames):
        some = "Some tasks" if stacks.tasks else "Tasks"
        lines += ["", f"{some} of asyncio are not known: {stacks.tasks_reason}. {_ADVICE}"]
    return lines


def as_json(stacks: ProcessStacks) -> dict[str, Any]:
    """Return everything, as JSON has it."""
    return {
        "pid": stacks.target.pid,
        "command": stacks.command,
        "executable": str(stacks.target.executable),
        "version": list(stacks.target.version),
        "threads": [
            {
                "id": thread.number,
                "name": thread.name,
                "running": thread.is_running,
                "holdsInterpreter": thread.has_interpreter,
                "waitsFor": [_json_wait(wait) for wait in stacks.waits if wait.thread is thread],
                "frames": [
                    {"name": frame.function, "file": frame.file, "line": frame.line, "own": frame.is_own}
                    for frame in thread.frames
                ],
            }
            for thread in stacks.threads
        ],
        "deadlock": [wait.thread.number for wait in stacks.deadlock],
        "stacksBy": stacks.tool,
        "tasksUnknown": stacks.tasks_reason or None,
        "tasks": None
        if stacks.tasks is None
        else [
            {
                "name": task.name,
                "thread": task.thread or None,
                "running": task.is_running,
                "awaitedBy": list(task.awaited_by),
                "frames": [{"name": name, "file": file, "line": line} for file, line, name in task.stack],
            }
            for task in stacks.tasks
        ],
    }


def _json_wait(wait: Wait) -> dict[str, Any]:
    return {
        "lock": wait.expression or None,
        "file": wait.frame.file,
        "line": wait.frame.line,
        "heldBy": [holder.number for holder in wait.holders],
    }


def _likeness(thread: DumpedThread, *, everything: bool) -> object:
    return (thread.frames, thread.is_running, thread.has_interpreter, thread.number if everything else 0)


def _thread(alike: Sequence[DumpedThread], stacks: ProcessStacks, *, everything: bool) -> Iterator[str]:
    first = alike[0]
    names = ", ".join(str(thread) for thread in alike[:8]) + (", ..." if len(alike) > 8 else "")
    count = f"{len(alike)} threads: " if len(alike) > 1 else ""
    number = f" ({first.number})" if first.name and len(alike) == 1 else ""
    yield f"{count}{names}{number}, {_state(first)}"
    for wait in stacks.waits:
        if wait.thread is first:
            yield f"  {_sentence(wait, stacks, subject='')}"
    places = [(frame.function, frame.file, frame.line, frame.is_own) for frame in first.frames]
    yield from _stack(places, stacks.folder, everything=everything)


def _state(thread: DumpedThread) -> str:
    if thread.has_interpreter:
        return "runs, and holds the interpreter"
    return "runs" if thread.is_running else "waits"


def _sentence(wait: Wait, stacks: ProcessStacks, subject: str | None = None) -> str:
    """Describe the wait of a thread."""
    who = f"{wait.thread} " if subject is None else subject
    holders = ", ".join(map(str, wait.holders))
    at = f" at {_at(wait.frame, stacks.folder)}"
    if not wait.expression:
        return f"{who}waits for the end of {holders or 'a thread'}{at}"
    return f"{who}waits for {wait.expression}{at}" + (f", which {holders} has" if holders else "")


def _at(frame: Frame, folder: str) -> str:
    return f"{_relative(frame.file, folder)}:{frame.line}"


def _by_thread(stacks: ProcessStacks) -> list[tuple[str, list[Task]]]:
    """Return the tasks of each thread, with its name where there are several."""
    of_thread: dict[int, list[Task]] = {}
    for task in stacks.tasks or ():
        of_thread.setdefault(task.thread, []).append(task)
    if len(of_thread) < 2:
        return [("", tasks) for tasks in of_thread.values()]
    names = {thread.number: str(thread) for thread in stacks.threads}
    return [(names.get(number, "a loop that does not run"), tasks) for number, tasks in of_thread.items()]


def _alike(tasks: Sequence[Task], *, everything: bool) -> Iterable[list[Task]]:
    """Put tasks together that await the same calls, unless each is wanted."""
    groups: dict[object, list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.stack, task.is_running, task.awaited_by, everything and task.name), []).append(task)
    return groups.values()


def _task(alike: Sequence[Task], stacks: ProcessStacks, *, everything: bool) -> Iterator[str]:
    task = alike[0]
    running = ", runs" if task.is_running else ""
    waiting = f", awaited by {', '.join(task.awaited_by)}" if task.awaited_by else ""
    names = ", ".join(each.name for each in alike[:8]) + (", ..." if len(alike) > 8 else "")
    yield f"{f'{len(alike)} tasks: ' if len(alike) > 1 else ''}{names}{running}{waiting}"
    places = [(function, file, line, is_own(file)) for file, line, function in task.stack]
    yield from _stack(places, stacks.folder, everything=everything)


def _stack(places: Sequence[_FrameRow], folder: str, *, everything: bool) -> Iterator[str]:
    lines = list(_lines(places, folder, everything=everything))
    most = limits.DUMP_LINES
    if everything or len(lines) <= most:
        yield from lines
        return
    half = most // 2
    yield from lines[:half]
    yield f"  ... {len(lines) - 2 * half} lines more"
    yield from lines[-half:]


def _lines(places: Iterable[_FrameRow], folder: str, *, everything: bool) -> Iterator[str]:
    if everything:
        yield from (_line(place, folder) for place in places)
        return
    for of_program, group in groupby(places, lambda place: place[3]):
        together = list(group)
        if of_program:
            for place, repeated in groupby(together):
                times = len(list(repeated))
                yield _line(place, folder) + (f"  ({times} times)" if times > 1 else "")
        else:
            name, file, line, _ = together[0]
            more = f" < {len(together) - 1} more of libraries" if len(together) > 1 else ""
            yield f"  ... {name} ({file.rpartition('/')[2]}:{line}){more}"


def _line(place: _FrameRow, folder: str) -> str:
    name, file, line, _ = place
    where = _relative(file, folder)
    return f"  {name}  {f'{where}:{line}' if line else where}"


def _relative(file: str, folder: str) -> str:
    return file.removeprefix(f"{folder}/") if folder not in ("", "/") else file
