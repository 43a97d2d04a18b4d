"""All that is known of what a program does at one moment."""

from dataclasses import dataclass
from pathlib import Path

from dapkit import limits
from dapkit.python.adapter.injection.target import TargetProcess, command_line, read
from dapkit.python.dump.stacks import DumpedThread, stacks_of
from dapkit.python.dump.tasks import Task, tasks_of
from dapkit.python.dump.waits import Wait, circle_in, waits_of
from dapkit.trusted_files import read_start


@dataclass(frozen=True, slots=True)
class Dump:
    """A program at one moment.

    Attributes:
        command: its command line.
        folder: that it runs in.
        threads: those with code of the program's own first, and among these the one that holds the interpreter.
        waits: what threads wait for, as far as that is known.
        deadlock: those of them that wait for each other.
        tasks: of asyncio; None where they cannot be read.

    """

    target: TargetProcess
    command: str
    folder: str
    threads: list[DumpedThread]
    waits: list[Wait]
    deadlock: list[Wait]
    tasks: list[Task] | None


def dump_of(pid: int, *, native: bool = False) -> Dump:
    """Look at a program, which stands still for some milliseconds.

    Raises:
        NoPySpy: there is nothing to do it by.
        RequestFailed: it cannot be looked at.

    """
    target = read(pid)
    threads = sorted(stacks_of(pid, native=native, traced=bool(target.tracer)), key=lambda thread: _rank(thread, pid))
    waits = waits_of(threads, lambda file: _text(pid, file))
    try:
        folder = str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        folder = ""
    return Dump(target, command_line(pid), folder, threads, waits, circle_in(waits), tasks_of(target))


def _rank(thread: DumpedThread, pid: int) -> tuple[object, ...]:
    has_own = any(frame.is_own for frame in thread.frames)
    return not has_own, not thread.has_interpreter, thread.number != pid, not thread.is_running, thread.number


def _text(pid: int, file: str) -> str | None:
    """Return a source file as the program sees it."""
    try:
        return read_start(Path(f"/proc/{pid}/root/{file.lstrip('/')}"), limits.DUMP_SOURCE_BYTES).decode()
    except (OSError, ValueError):
        return None
