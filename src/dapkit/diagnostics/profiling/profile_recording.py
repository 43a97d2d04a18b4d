"""Recording a profile of a session's program, which has to run for that."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling import go_pprof, interpreter_sampling, perf, py_spy
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.programs import Program, program_of
from dapkit.diagnostics.sessions import Where, snapshots
from dapkit.system.selection import IS_WINDOWS

# Which tool profiles a program, and why.
#
# | program | tool |
# | --- | --- |
# | Python | py-spy, of the extra `profile` |
# | Python 3.15 without py-spy, or which that cannot read | an interpreter of 3.15 |
# | Go that serves net/http/pprof | that: the program itself knows its goroutines' stacks best |
# | other Go, and native programs | perf, where it is installed |

type Record = Callable[[Program, ProfileKind, Window], Profile]
"""Records a profile with one of the tools."""


def recorder_for(program: Program) -> Record:
    """Return the tool for a program.

    Raises:
        DiagnosticsError: the tool is not installed, and the error says how to install it; or this is Windows.

    """
    if IS_WINDOWS:
        message = "Profiles need Linux or macOS: on Windows, a profiler cannot be asked to end and write its data."
        raise DiagnosticsError("not_possible", message, "dapkit threads shows the state of each thread.")
    if program.language == "python":
        return _by_py_spy_or_interpreter
    if program.language != "go":
        return perf.record
    if (server := go_pprof.find_server(program.pid)) is not None:
        return partial(go_pprof.record, server=server)
    if perf.find_perf() is None:
        message = "The Go program does not serve net/http/pprof, and perf is not installed."
        raise DiagnosticsError("not_installed", message, f"{go_pprof.ADVICE}. Or install perf: {perf.INSTALL}")
    return _by_perf_instead


def _by_py_spy_or_interpreter(program: Program, kind: ProfileKind, window: Window) -> Profile:
    try:
        return py_spy.record(program, kind, window)
    except DiagnosticsError as error:
        if (interpreter := interpreter_sampling.interpreter_of(program)) is None:
            raise
        profile = interpreter_sampling.record(program, kind, window, interpreter=interpreter)
        return replace(profile, notes=[*profile.notes, f"By the interpreter, since: {error}"])


def _by_perf_instead(program: Program, kind: ProfileKind, window: Window) -> Profile:
    profile = perf.record(program, kind, window)
    note = f"By perf, since the program does not serve net/http/pprof. {go_pprof.ADVICE}."
    return replace(profile, notes=[*profile.notes, note])


def running_program(where: Where) -> Program:
    """Find the program of a session, which must run.

    Raises:
        DiagnosticsError: there is no such program, or it is stopped.

    """
    program = program_of(where)
    match program.snapshot.status:
        case "running":
            return program
        case "stopped":
            reason = program.snapshot.stop_reason or "stop"
            message = f"The program of {program.snapshot.id} is stopped ({reason}): there is nothing to profile."
            raise DiagnosticsError("not_running", message, "Continue it first: dapkit continue")
        case status:
            message = f"The program of {program.snapshot.id} does not run yet: {status}."
            raise DiagnosticsError("not_running", message, "Try again once it runs.")


def record_profile(where: Where, program: Program, kind: ProfileKind, window: Window) -> Profile:
    """Record with the fitting tool, and note the program's state after it.

    Raises:
        DiagnosticsError: the tool is not installed, or fails.

    """
    profile = recorder_for(program)(program, kind, window)
    note = _note(where, program)
    return replace(profile, notes=[*profile.notes, note]) if note else profile


def _note(where: Where, program: Program) -> str:
    try:
        snapshots_now = snapshots(where)
    except DiagnosticsError:  # the profile is there all the same
        return ""
    now = next((snapshot for snapshot in snapshots_now if snapshot.id == program.snapshot.id), None)
    if now is None or now.status == "terminated":
        return "The program has ended meanwhile."
    if now.status == "stopped":
        return f"The program was stopped meanwhile ({now.stop_reason or 'stop'})."
    return ""
