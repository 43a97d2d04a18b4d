"""A session as an answer shows it."""

from datetime import UTC, datetime
from pathlib import Path

from dapkit.agent.results.snapshot import Child, Snapshot
from dapkit.client import FunctionLocation, SourceLocation
from dapkit.protocol import Source, changed
from dapkit.sessions.session import DebugSession
from dapkit.sessions.stops import Stop
from dapkit.sessions.targets import Target


def snapshot(session: DebugSession) -> Snapshot:
    """Show a session as it is now."""
    stop = session.state.stop
    output = session.output
    places = [placed.spec.location for placed in session.breakpoints if not placed.spec.temporary]
    on_lines = [place.file for place in places if isinstance(place, SourceLocation)]
    snapshot_of_session = Snapshot(
        id=session.name,
        adapter=session.adapter,
        status=session.state.status,
        cwd=str(session.cwd),
        launched_at=_time(session.created),
        last_used_at=_time(session.last_used),
        output_bytes=output.end,
        output_truncated=not output.read(since=0).complete,
        needs_configuration_done=session.state.status == "configuring",
        program=session.program,
        exit_code=session.state.exit_code,
        exit_signal=session.state.exit_signal,
        process_id=session.state.process_id,
        breakpoint_files=len(set(on_lines)),
        breakpoint_count=len(on_lines),
        function_breakpoint_count=sum(isinstance(place, FunctionLocation) for place in places),
        children=[_child(target) for target in session.state.targets.values() if target.number] or None,
    )
    return snapshot_of_session if stop is None or session.state.over else changed(snapshot_of_session, **_place(stop))


def _place(stop: Stop) -> dict[str, object]:
    return {
        "stop_reason": stop.reason,
        "stop_description": stop.description,
        "child": stop.target or None,
        "thread_id": stop.thread_id,
        "frame_id": stop.frame_id,
        "frame_name": stop.frame_name,
        "instruction_pointer_reference": stop.instruction_pointer,
        "source": None if stop.path is None else source_at(stop.path),
        "line": stop.line,
        "column": stop.column,
    }


def _child(target: Target) -> Child:
    process, stop = target.session.debugged_process, target.stop
    return Child(
        number=target.number,
        status="terminated" if not target.live else "running" if stop is None else "stopped",
        name=None if process is None else process.name,
        pid=None if process is None else process.system_process_id,
        source=None if stop is None or stop.path is None else source_at(stop.path),
        line=None if stop is None else stop.line,
    )


def source_at(path: str) -> Source:
    """Make a source of the path of a file, or of the name of something else."""
    return Source(path=path) if Path(path).is_absolute() else Source(name=path)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
