"""Taking a snapshot of the heap of a session's program, and those that were taken before.

    <folder of the session>/memory-<time>.json

The snapshot is taken in the program, by its debugger (`dapkit.agent.queries.heap`). What the program allocates from
now on is looked at by memray, if it is asked for (`attaching`).
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

_PREFIX, _SUFFIX = "memory-", ".json"

_INSTEAD: Final[dict[Language, tuple[str, str]]] = {
    "go": (
        "Go",
        "`go tool pprof` shows what runtime/pprof, or /debug/pprof/heap of the program, says of its heap.",
    ),
    "native": (
        "native code",
        "heaptrack, or valgrind --tool=massif, shows what native code allocates.",
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
    """Take a snapshot of what the program's heap holds, and keep it in the session's folder.

    Args:
        where: whose program.
        attach: have memray look at what the program, which has to run, allocates from now on.
        seconds: how long.
        on_progress: called with what is being done.
        stop: ends that early, with what there is.

    Raises:
        DiagnosticsError: there is no such program, or it is not Python; or memray cannot look at it.

    """
    program = program_of(where)
    if program.language != "python":
        name, instead = _INSTEAD[program.language]
        raise DiagnosticsError(
            "not_possible", f"The program of {program.snapshot.id} is {name}: only Python's objects are known.", instead
        )
    if on_progress is not None:
        on_progress("counting objects", None)
    found = _snapshot(where, program, needed=not attach)
    if attach:  # afterwards, since there are objects of memray in the program then
        from dapkit.diagnostics.memory.memray_attach import allocations_of

        made = allocations_of(program, seconds=seconds, on_progress=on_progress, stop=stop)
        found = changed(found, allocations=made)
    if stop is not None and stop.is_set():
        found = changed(found, complete=False)
    return _keep(program, found)


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
        DiagnosticsError: there is none, or it cannot be read.

    """
    found = saved(where)
    if not found:
        raise DiagnosticsError(
            "invalid_arguments", "No snapshot of this session is kept.", "`dapkit memory` takes one."
        )
    return load(found[-1])


def _snapshot(where: Where, program: Program, *, needed: bool) -> HeapSnapshot:
    """Have the debugger count what there is; if that is not needed, a remark says why it could not."""
    resident, proportional = _in_memory(program.pid)
    heap, remark = None, ""
    try:
        details = ask(where, "heap", read_only=False, timeout=limits.HEAP_ANSWER_SECONDS)
        heap = from_json_value(HeapResult, details).heap
    except DiagnosticsError as error:
        if needed:
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
    kept = changed(snapshot, path=str(path))
    write_artifact(path, json.dumps(kept.as_json()).encode())
    for old in _in(folder)[: -limits.HEAP_FILES]:
        old.unlink(missing_ok=True)
    return kept


def _in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))


def _in_memory(pid: int) -> tuple[int | None, int | None]:
    """Return how many bytes of a process are in memory, and the same with what it shares in parts."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return None, None
    sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)}
    return sizes.get("Rss"), sizes.get("Pss")


def can_attach(where: Where) -> bool:
    """Whether memray could look at the program now: it runs, and is Python."""
    program = program_of(where)
    return program.language == "python" and program.snapshot.status == "running"
