"""Recording a profile of a session's program, which has to run for that."""

from dataclasses import replace

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.tool_choice import recorder_for
from dapkit.diagnostics.programs import Program, program_of
from dapkit.diagnostics.sessions import Where, snapshots


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
