"""Profiles of programs of Python 3.15, by an interpreter of that version, which needs nothing that is not there.

It sees of each sample whether the thread ran, which py-spy does not, and knows builds that py-spy does not. It does not
make the program stand still.
"""

import json
import tempfile
from pathlib import Path

from dapkit.adapter import RequestFailed
from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.py_spy import SampledCall, stack_of, thread_name
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.samples import StackCounts
from dapkit.diagnostics.profiling.tools import running_tool
from dapkit.diagnostics.programs import Program
from dapkit.python.adapter.injection import target
from dapkit.python.adapter.injection.remote_exec import interpreter_for, own_interpreter
from dapkit.python.stacks.threads import name_in_system

_SCRIPT = Path(__file__).parent / "sampling_script.py"
_VERSION = (3, 15)


def interpreter_of(program: Program) -> str | None:
    """Return the interpreter that can profile a program; None if no interpreter can."""
    try:
        process = target.read(program.pid)
    except RequestFailed:
        return None
    return (own_interpreter(process) or interpreter_for(process)) if process.version == _VERSION else None


def record(program: Program, kind: ProfileKind, window: Window, *, interpreter: str) -> Profile:
    """Record a program of Python 3.15.

    Raises:
        DiagnosticsError: the process cannot be read.

    """
    command = [interpreter, "-I", "-S", "-B", str(_SCRIPT), str(program.pid), str(limits.PY_SPY_RATE)]
    window.report("starting the interpreter")
    with tempfile.TemporaryFile() as file, running_tool(interpreter, command, stdout=file) as tool:
        tool.wait_until_ready()
        seconds, complete = window.pass_by(lambda: tool.runs)
        window.report("reading the interpreter's samples")
        tool.interrupt()
        tool.finish()
        file.seek(0)
        try:
            answer = json.loads(file.read(limits.PROFILE_BYTES))
        except ValueError:
            raise tool.failure(f"cannot read process {program.pid}") from None
    if "error" in answer:
        raise DiagnosticsError("tool_failed", f"{interpreter} cannot read process {program.pid}: {answer['error']}")
    counts, hidden, folder = StackCounts(), 0, Path(program.snapshot.cwd)
    for number, calls, ran, waited in answer["samples"]:
        stack = stack_of([SampledCall(function, file, line) for file, line, function in reversed(calls)], folder)
        if stack is None:
            hidden += ran + waited
        elif stack and kind == "cpu":
            counts.add(stack, ran)
        elif stack:
            name = name_in_system(program.pid, number)
            head = f"thread ({number}): {name}" if name else f"thread ({number})"
            counts.add_thread(thread_name(head, program.pid), stack, ran=ran, waited=waited)
    return Profile(
        kind=kind,
        program=program.name,
        pid=program.pid,
        tool=f"Python {'.'.join(map(str, _VERSION))}",
        rate=limits.PY_SPY_RATE,
        of_each="thread",
        seconds=seconds,
        waiting_included=kind == "work",
        stacks=counts.counts,
        hidden=hidden,
        complete=complete,
    )
