"""Profiles of native programs, by Linux's `perf`.

It counts a clock of the processor (`cpu-clock`), which there is in virtual machines, too. Callers are found by frame
pointers: a debug build has them, and Go; in other code a stack may end early, and the function itself is right. Samples
go through a pipe into `perf script`, and are counted as they come, so that no file is written.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator

from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.go_pprof import is_own_in_go
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.samples import KERNEL, SampledFrame, SampledStack, StackCounts
from dapkit.diagnostics.profiling.tools import RecordingTool, running_tool
from dapkit.diagnostics.programs import Program
from dapkit.system.this_system import SYSTEM

INSTALL = "apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu), perf (Fedora, Arch)"

_CALL = re.compile(r"\s*(?P<address>[0-9a-f]+) (?P<function>.*?) \((?P<object>/.*|\[.*\]|[^()]*)\)")
_UNKNOWN = "[unknown]"
_KERNEL_HALF = 1 << 63


def find_perf() -> str | None:
    """Return its path; None if it is not installed."""
    return shutil.which("perf")


def record(program: Program, kind: ProfileKind, window: Window) -> Profile:
    """Record a program.

    Raises:
        DiagnosticsError: perf is not installed, or may not look at the process.

    """
    executable = find_perf()
    if executable is None:
        message = "Native programs are profiled by perf, which is not installed."
        raise DiagnosticsError("not_installed", message, f"Install it: {INSTALL}")
    sampling = [executable, "record", "--event", "cpu-clock", "--freq", f"{limits.PERF_RATE}"]
    sampling += ["--call-graph", "fp", "--pid", str(program.pid), "--output", "-"]
    reading = [executable, "script", "--input", "-", "--no-inline", "--pid", str(program.pid)]
    reading += ["--fields", "tid,ip,sym,dso"]
    window.report("starting perf")
    with running_tool("perf", sampling, stdout=subprocess.PIPE) as sampler:
        samples = sampler.process.stdout
        with running_tool("perf script", reading, stdin=samples or -1, stdout=subprocess.PIPE) as reader:
            if samples is not None:
                samples.close()  # ours: else the end of the one is not noticed by the other
            counter = _Counter(reader, program)
            counter.start()
            sampler.wait_until_ready()
            seconds, complete = window.pass_by(lambda: sampler.runs)
            ended_itself = not sampler.runs
            window.report("reading perf's samples")
            sampler.interrupt()
            sampler.finish()
            counter.join(limits.PROFILE_FINISH_SECONDS)
            late = counter.is_alive()
        counter.join()  # perf script ends when the pipe ends
    if ended_itself and not counter.counts.counts and SYSTEM.exists(program.pid):
        raise sampler.failure(f"cannot look at process {program.pid}")
    notes = ["perf script did not read all samples in time"] if late else []
    return Profile(
        kind=kind,
        program=program.name,
        pid=program.pid,
        tool="perf",
        rate=limits.PERF_RATE,
        of_each="processor",
        seconds=seconds,
        waiting_included=False,
        stacks=counter.counts.counts,
        notes=notes,
        complete=complete and not late,
    )


class _Counter(threading.Thread):
    """Counts samples as they come, while others wait for the end of the profile."""

    def __init__(self, reader: RecordingTool, program: Program) -> None:
        super().__init__(name="perf samples", daemon=True)
        self._reader = reader
        self._program = program
        self.counts = StackCounts()

    def run(self) -> None:
        """Read until the end, or until the pipe is closed."""
        pipe = self._reader.process.stdout
        if pipe is None:
            return
        lines = (line.decode(errors="replace") for line in iter(lambda: pipe.readline(limits.PROFILE_LINE_BYTES), b""))
        executable = _executable(self._program.pid)
        try:
            for stack in stacks_in(lines, executable, is_go=self._program.language == "go"):
                self.counts.add(stack)
        except ValueError:  # the pipe was closed, since it took too long
            return


def stacks_in(lines: Iterable[str], executable: str, *, is_go: bool = False) -> Iterator[SampledStack]:
    """Read the samples of `perf script --fields tid,ip,sym,dso`; lines that are neither are left out.

    Args:
        lines: a line for the thread, one for each call, the innermost first, and an empty one after each sample.
        executable: the program's own file.
        is_go: whether functions have names as in Go.

    """
    calls: list[SampledFrame] = []
    for line in lines:
        if not line.strip():
            if calls:
                yield tuple(reversed(calls))
            calls = []
        elif line[0] == "\t" and (match := _CALL.fullmatch(line.rstrip("\n"))) is not None:
            frame = _frame(match, executable, is_go=is_go)
            if not (calls and calls[-1] == frame and _is_mark(frame)):
                calls.append(frame)
    if calls:
        yield tuple(reversed(calls))


def _frame(match: re.Match[str], executable: str, *, is_go: bool) -> SampledFrame:
    if int(match["address"], 16) >= _KERNEL_HALF:
        return KERNEL
    library = "" if match["object"] == _UNKNOWN else match["object"]
    place = library.rpartition("/")[2]
    is_own = library == executable and (not is_go or is_own_in_go(match["function"]))
    return SampledFrame(match["function"], place, kind="own" if is_own else "library")


def _is_mark(frame: SampledFrame) -> bool:
    """Whether a row of these says no more than one of them; else it is recursion."""
    return frame is KERNEL or frame.function == _UNKNOWN


def _executable(pid: int) -> str:
    try:
        return SYSTEM.executable_of(pid)
    except OSError:
        return ""
