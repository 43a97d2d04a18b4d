"""A session as an answer shows it."""

from datetime import UTC, datetime

from dapkit.agent.results.snapshot import Snapshot
from dapkit.hub.session import DebugSession
from dapkit.hub.stops import Stop
from dapkit.protocol import Source, changed


def snapshot(session: DebugSession) -> Snapshot:
    """Show a session as it is now."""
    stop = session.stop
    output = session.output
    shown = Snapshot(
        id=session.name,
        adapter=session.adapter,
        status=session.status,
        cwd=str(session.cwd),
        launched_at=_time(session.created),
        last_used_at=_time(session.last_used),
        output_bytes=output.end,
        output_truncated=not output.read(since=0).complete,
        needs_configuration_done=session.status == "configuring",
        program=session.program,
        exit_code=session.exit_code,
        process_id=session.process_id,
    )
    return shown if stop is None or session.over else changed(shown, **_place(stop))


def _place(stop: Stop) -> dict[str, object]:
    return {
        "stop_reason": stop.reason,
        "thread_id": stop.thread_id,
        "frame_id": stop.frame_id,
        "frame_name": stop.frame_name,
        "instruction_pointer_reference": stop.instruction_pointer,
        "source": None if stop.path is None else source_at(stop.path),
        "line": stop.line,
        "column": stop.column,
    }


def source_at(path: str) -> Source:
    """Make a source of the path of a file, or of the name of something else."""
    return Source(path=path) if path.startswith("/") else Source(name=path)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
