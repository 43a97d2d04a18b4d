"""Profiles of Python programs, by py-spy, and which of their samples ran or waited.

It reads the program from outside and does not make it stand still (`--nonblocking`): stopped for each sample, a program
lost up to 8 % of its speed at 100 samples a second, and threads that wait counted as running, since their wait is ended
by that and begun again (0.4.1). So it works where another debugger holds the process, too. Its cost to the program was
too small to be measured; py-spy itself takes some hundredths of a processor.

py-spy does not say of a sample whether it waited. So it runs three times at once: one sees all threads, one those that
hold the interpreter's lock (GIL), and one those that the system calls running. The lock says it exactly, but for code
in C that has let go of it. The state of the system is read a moment before the stack, so that it means something only
where a thread stays for long (0.4.1): of a program that computes for less than a millisecond at a time, it reports the
lines in which that waits. From the three, the share that ran is estimated for each line of each thread: a thread waits
in few lines.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import dropwhile
from math import sqrt
from pathlib import Path
from typing import IO

from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.samples import DEBUGGER, SampledFrame, SampledStack, StackCounts
from dapkit.diagnostics.profiling.tools import RecordingTool, running_tool
from dapkit.diagnostics.programs import Program
from dapkit.python.stacks.threads import NoPySpy, find_py_spy, is_own
from dapkit.system.this_system import SYSTEM

type ThreadStacks = Counter[tuple[str, SampledStack]]
"""How often each stack of each thread was seen; a thread is known by a text."""

_DEVIATIONS = 3.0
"""Standard deviations within which two counts may be of the same."""
_LEAST_SHARE = 0.15
"""A line that ran in a smaller share of its samples waits: it runs when the wait begins and ends."""


def with_waiting(
    everything: ThreadStacks, with_lock: ThreadStacks, running: ThreadStacks
) -> Iterator[tuple[str, SampledStack, int, int]]:
    """Return each stack of each thread, with the samples that ran and those that waited.

    All three were recorded for the same time and at the same rate, but saw other moments.

    Args:
        everything: samples of all threads.
        with_lock: samples of those that held the lock.
        running: samples of those that the system called running.

    """
    all_counts, lock_counts, ran = _by_line(everything), _by_line(with_lock), _by_line(running)
    shares = {line: share_that_ran(count, lock_counts[line], ran[line]) for line, count in all_counts.items()}
    carried: Counter[str] = Counter()  # in thousandths, so that rounding changes no sum of a thread
    for (thread, stack), count in everything.items():
        exact = round(1000 * count * shares[thread, stack[-1]]) + carried[thread]
        active = min(count, max(0, round(exact / 1000)))
        carried[thread] = exact - 1000 * active
        yield thread, stack, active, count - active


def share_that_ran(count: int, with_lock: int, running: int) -> float:
    """Estimate which share of the samples of a line ran.

    Args:
        count: how many there are, at least one.
        with_lock: how many were seen that held the lock.
        running: how many were seen that the system called running.

    """
    ran = max(with_lock, running if 2 * running >= count else 0)
    if count - ran < _DEVIATIONS * sqrt(count + ran):
        return 1.0
    return ran / count if ran >= _LEAST_SHARE * count else 0.0


def _by_line(stacks: ThreadStacks) -> Counter[tuple[str, SampledFrame]]:
    counts: Counter[tuple[str, SampledFrame]] = Counter()
    for (thread, stack), count in stacks.items():
        counts[thread, stack[-1]] += count
    return counts


INSTALL = "pip install 'dapkit[profile]'"

_ENGINE = f"{Path(__file__).parents[2] / 'python' / 'debuggee'}{os.sep}"
_OTHER_DEBUGGER = re.compile(r"/(?:debugpy|pydevd)(?:/|_)")
_THREAD_OF_DEBUGGER = (f"{_ENGINE}connection/thread.py", "/pydevd_daemon_thread.py")
"""Files of the outermost function of each thread that a debugger has for itself: ours, and debugpy."""
_STARTS = ("<frozen runpy>", "runpy.py", "threading.py")
_THREAD = re.compile(r"thread \((\w+)\)(?:: (.*))?", re.DOTALL)
_FRAME = re.compile(r"(?P<function>.*?) \((?P<file>[/<].*?|[^()]*?)(?::(?P<line>\d+))?\)", re.DOTALL)
_LIBRARY = re.compile(r".*/(?:site-packages|dist-packages|python\d+(?:\.\d+)?|python\d+\.zip)/")


def record(program: Program, kind: ProfileKind, window: Window) -> Profile:
    """Record a Python program.

    Raises:
        DiagnosticsError: py-spy is not installed, or cannot read the process.

    """
    try:
        executable = find_py_spy()
    except NoPySpy:
        message = f"Python programs are profiled by py-spy, which is not installed: {INSTALL}"
        raise DiagnosticsError("not_installed", message) from None
    command = [executable, "record", "--pid", str(program.pid), "--rate", f"{limits.PY_SPY_RATE}", "--nonblocking"]
    command += ["--threads", "--full-filenames", "--format", "raw"]
    window.report("starting py-spy")
    with ExitStack() as opened:
        recordings = [_Recording(opened, [*command, *option]) for option in (["--idle"], ["--gil"], [])]
        for recording in recordings:
            recording.tool.wait_until_ready()
        seconds, complete = window.pass_by(lambda: all(recording.tool.runs for recording in recordings))
        window.report("reading py-spy's samples")
        for recording in recordings:
            recording.end()
        everything, with_lock, running = (recording.stacks(program) for recording in recordings)
    hidden = everything.pop(_HIDDEN, 0)
    counts = StackCounts()
    for thread, stack, ran, waited in with_waiting(everything, with_lock, running):
        if kind == "cpu":
            counts.add(stack, ran)
        else:
            counts.add_thread(thread_name(thread, program.pid), stack, ran=ran, waited=waited)
    return Profile(
        kind=kind,
        program=program.name,
        pid=program.pid,
        tool="py-spy",
        rate=limits.PY_SPY_RATE,
        of_each="thread",
        seconds=seconds,
        waiting_included=kind == "work",
        stacks=counts.counts,
        hidden=hidden,
        complete=complete,
    )


_HIDDEN = ("debugger", (DEBUGGER,))
"""Stands for all threads that the debugger has for itself."""


class _Recording:
    """One py-spy, and the file that it writes, which has no name."""

    def __init__(self, opened: ExitStack, command: list[str]) -> None:
        self._file: IO[bytes] = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is closed with the others
        descriptor = self._file.fileno()
        command = [*command, "--output", f"/dev/fd/{descriptor}"]
        self.tool: RecordingTool = opened.enter_context(running_tool("py-spy", command, keep=[descriptor]))
        self._failed = False

    def end(self) -> None:
        """Make it write its samples."""
        self._failed = not self.tool.runs and self.tool.process.returncode != 0
        self.tool.interrupt()

    def stacks(self, program: Program) -> ThreadStacks:
        """Read its output. Raises: DiagnosticsError, if it has failed."""
        self.tool.finish()
        self._file.seek(0)
        folded = fold(self._file.read(limits.PROFILE_BYTES), Path(program.snapshot.cwd))
        if not folded and self._failed and SYSTEM.exists(program.pid):
            raise self.tool.failure(f"cannot read process {program.pid}")
        return folded  # nothing: it was ended before its first sample, as the program may be


def fold(output: bytes, folder: Path) -> ThreadStacks:
    """Read py-spy's folded stacks; incomplete or invalid lines are left out.

    Args:
        output: by `py-spy record --format raw --threads --full-filenames`.
        folder: files in it are shown by their path from there.

    """
    stacks: ThreadStacks = Counter()
    for line in output.decode(errors="replace").split("\n")[:-1]:
        text, _, count = line.rpartition(" ")
        head, *rest = text.split(";")
        if not count.isdecimal() or _THREAD.fullmatch(head) is None:
            continue
        stack = stack_of([SampledCall.read(frame) for frame in _joined(rest)], folder)
        if stack is None:
            stacks[_HIDDEN] += int(count)
        elif stack:
            stacks[head, stack] += int(count)
    return stacks


class SampledCall:
    """One call, as it was sampled."""

    def __init__(self, function: str, file: str, line: int) -> None:
        self.function, self.file, self.line = function, file, line
        self.is_debugger = file.startswith(_ENGINE) or _OTHER_DEBUGGER.search(file) is not None
        self.is_around = self.is_debugger or file.endswith(_STARTS)

    @classmethod
    def read(cls, text: str) -> "SampledCall":
        """Read `function (file:line)`."""
        match = _FRAME.fullmatch(text)
        return cls(match["function"], match["file"], int(match["line"] or 0)) if match else cls(text, "", 0)


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """Put parts together again whose names have the separator in them: a frame ends with its file in parentheses."""
    unfinished: list[str] = []
    for part in parts:
        unfinished.append(part)
        if _FRAME.fullmatch(";".join(unfinished)):
            yield ";".join(unfinished)
            unfinished.clear()
    yield from unfinished


def stack_of(frames: list[SampledCall], folder: Path) -> SampledStack | None:
    """Leave the debugger's own calls out; None for a thread of its own.

    The debugger's frames around the program are removed, as are the interpreter's frames around those. The debugger's
    frames inside the program's calls become one mark: they cost the program time.
    """
    outer = next((number for number, frame in enumerate(frames) if not frame.is_around), len(frames))
    around = frames[:outer]
    if any(frame.file.endswith(_THREAD_OF_DEBUGGER) for frame in around):
        return None
    if any(frame.is_debugger for frame in around):
        frames = frames[outer:]
    frames = list(dropwhile(lambda frame: frame.function.startswith("Thread._bootstrap"), frames))
    stack: list[SampledFrame] = []
    for frame in frames:
        if not frame.is_debugger:
            stack.append(_shown(frame, folder))
        elif not stack or stack[-1] is not DEBUGGER:
            stack.append(DEBUGGER)
    return tuple(stack)


def _shown(frame: SampledCall, folder: Path) -> SampledFrame:
    file = Path(frame.file)
    if file.is_relative_to(folder):
        return SampledFrame(frame.function, str(file.relative_to(folder)), frame.line, "own")
    if is_own(frame.file) and frame.file:
        return SampledFrame(frame.function, frame.file, frame.line, "own")
    return SampledFrame(frame.function, _LIBRARY.sub("", frame.file), frame.line, "library")


def thread_name(head: str, pid: int) -> str:
    """Return the name of a thread; of those whose names differ by numbers alone, the same."""
    match = _THREAD.fullmatch(head)
    if match is None or match[2] is None:  # a program without `threading` gives no names
        return "MainThread" if match is not None and match[1] == str(pid) else "thread"
    return re.sub(r"\d+", "*", match[2])
