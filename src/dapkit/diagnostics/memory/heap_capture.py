"""Taking a snapshot of the heap of a session's program, and those that were taken before.

    <folder of the session>/memory-<time>.json

The snapshot is taken in the program, by its debugger (`dapkit.agent.queries.heap`). With `attaching`, memray traces the
program's later allocations.
"""

import json
import threading
import time
from pathlib import Path
from typing import Final

from dapkit import limits as shared_limits
from dapkit.agent.results.diagnostics import HeapResult
from dapkit.diagnostics import limits
from dapkit.diagnostics.artifacts import existing_session_folder, session_folder, timestamp, write_artifact
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory.snapshot import HeapSnapshot, load
from dapkit.diagnostics.programs import Language, Program, program_of
from dapkit.diagnostics.sessions import OnProgress, Where, ask, record_of
from dapkit.protocol import changed, from_json_value
from dapkit.system.platform_support import needs_linux
from dapkit.system.this_system import SYSTEM

_PREFIX, _SUFFIX = "memory-", ".json"

_INSTEAD: Final[dict[Language, tuple[str, str]]] = {
    "go": (
        "Go",
        "`go tool pprof` shows the program's heap as runtime/pprof or its /debug/pprof/heap reports it.",
    ),
    "native": (
        "native code",
        "heaptrack, or valgrind --tool=massif, shows allocations of native code.",
    ),
}


def memory(
    where: Where,
    *,
    attach: bool = False,
    seconds: float = shared_limits.HEAP_ATTACH_SECONDS,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
) -> HeapSnapshot:
    """Take a snapshot of the program's heap, and keep it in the session's folder.

    Args:
        where: whose program.
        attach: trace the program's later allocations with memray; the program must run.
        seconds: how long.
        on_progress: called with the current step.
        stop: ends the work early, with a partial result.

    Raises:
        DiagnosticsError: there is no such program, or it is not Python; or memray cannot look at it.

    """
    program = program_of(where)
    if program.language != "python":
        name, instead = _INSTEAD[program.language]
        raise DiagnosticsError(
            "not_possible", f"The program of {program.snapshot.id} is {name}: only Python's objects are known.", instead
        )
    if attach and (problem := needs_linux("memray in a running program")) is not None:
        raise DiagnosticsError("not_possible", f"{problem[0].upper()}{problem[1:]}.")
    if on_progress is not None:
        on_progress("counting objects", None)
    heap = _snapshot(where, program, is_needed=not attach)
    if attach:  # afterwards, since there are objects of memray in the program then
        from dapkit.diagnostics.memory.memray_attach import allocations_of

        allocations = allocations_of(program, seconds=seconds, on_progress=on_progress, stop=stop)
        heap = changed(heap, allocations=allocations)
    if stop is not None and stop.is_set():
        heap = changed(heap, complete=False)
    return _keep(program, heap)


def saved(where: Where) -> list[Path]:
    """Return the snapshots of a session that are kept, the oldest first.

    Raises:
        DiagnosticsError: there is no such session.

    """
    record = record_of(where)
    folder = existing_session_folder(record.project, record.snapshot.id, record.created)
    return _in(folder)


def last(where: Where) -> HeapSnapshot:
    """Return the last snapshot of a session that is kept.

    Raises:
        DiagnosticsError: the snapshot does not exist, or cannot be read.

    """
    snapshots = saved(where)
    if not snapshots:
        raise DiagnosticsError(
            "invalid_arguments", "No snapshot of this session is kept.", "`dapkit memory` takes one."
        )
    return load(snapshots[-1])


def _snapshot(where: Where, program: Program, *, is_needed: bool) -> HeapSnapshot:
    """Let the debugger count the objects; if the count is optional, a remark says why it failed."""
    resident, proportional = SYSTEM.memory_of(program.pid)
    heap, remark = None, ""
    try:
        details = ask(where, "heap", read_only=False, timeout=limits.HEAP_ANSWER_SECONDS)
        heap = from_json_value(HeapResult, details).heap
    except DiagnosticsError as error:
        if is_needed:
            raise
        remark = str(error)
    return HeapSnapshot(
        session=program.snapshot.id,
        adapter=program.snapshot.adapter,
        time=time.time(),
        heap=heap,
        resident=resident,
        proportional=proportional,
        remark=remark,
        complete=heap is None or not heap.uncounted,
    )


def _keep(program: Program, snapshot: HeapSnapshot) -> HeapSnapshot:
    """Write a snapshot to the session's folder; the oldest ones go if there are too many."""
    folder = session_folder(program.project, program.snapshot.id, program.created)
    path = folder / f"{_PREFIX}{timestamp()}{_SUFFIX}"
    saved_snapshot = changed(snapshot, path=str(path))
    write_artifact(path, json.dumps(saved_snapshot.as_json()).encode())
    for old in _in(folder)[: -limits.HEAP_FILES]:
        old.unlink(missing_ok=True)
    return saved_snapshot


def _in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))


def can_attach(where: Where) -> bool:
    """Whether memray could look at the program now: it runs, and is Python."""
    program = program_of(where)
    return program.language == "python" and program.snapshot.status == "running"
