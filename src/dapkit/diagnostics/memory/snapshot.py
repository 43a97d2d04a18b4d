"""A snapshot of a heap, as it is shown and as it is kept in a file."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory.tables import bytes_text, number_text, share_text, table, with_source
from dapkit.protocol import DapkitError, ProtocolObject, from_json_value, to_json_value
from dapkit.protocol.heap import HeapBody, HeapTable
from dapkit.system.trusted_files import read_file

type By = Literal["type", "line"]

NO_LINES = (
    "Lines are known of programs that trace their allocations: launch it with -X tracemalloc, or with "
    "PYTHONTRACEMALLOC=1 in its environment. For a running program, --attach traces its later allocations with memray."
)


class Allocations(ProtocolObject, frozen=True, kw_only=True):
    """Allocations while memray traced the program that were still held at the end.

    Attributes:
        seconds: how long that was.
        size: bytes of all of it.
        count: allocations that these are.
        lines: by the line that has allocated them.
        left: modules that stay in the program, for people.

    """

    seconds: float
    size: int
    count: int
    lines: HeapTable
    left: str


class HeapSnapshot(ProtocolObject, frozen=True, kw_only=True):
    """The contents of a program's heap at one moment.

    Attributes:
        session: whose program it is.
        adapter: that debugs it.
        time: when that was, in seconds since the epoch.
        heap: its objects; None if they could not be counted and only `allocations` is known.
        resident: bytes of the process in memory, as far as the system says.
        proportional: the same, with shared memory in proportion.
        allocations: the allocations shortly afterwards, if memray traced them.
        remark: why there is no `heap`.
        complete: whether it was not ended early.
        path: the file that it is kept in.

    """

    session: str
    adapter: str
    time: float
    heap: HeapBody | None = None
    resident: int | None = None
    proportional: int | None = None
    allocations: Allocations | None = None
    remark: str = ""
    complete: bool = True
    path: str = ""

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it; sizes are in bytes."""
        value: dict[str, object] = to_json_value(self)  # type: ignore[assignment]  # an object becomes one
        return value

    def as_text(self, *, by: By | None = None, most: int = limits.HEAP_ROWS_SHOWN) -> str:
        """Return its tables.

        Args:
            by: which ones; None for all.
            most: rows of each.

        """
        heap = self.heap
        parts = ["\n".join(self._heading())]
        if heap is not None and by != "line":
            parts += [
                "\n".join(["By type:", *_rows("type", heap.types, most)]),
                "\n".join(["Held by:", *_rows("holder", heap.holders, most)]),
            ]
        if by != "type" or heap is None:
            parts += self._by_line(most)
        if self.path:
            parts.append(f"Kept in {self.path}")
        return "\n\n".join(parts)

    def _heading(self) -> Iterator[str]:
        when = datetime.fromtimestamp(self.time, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        process = ""
        if self.resident is not None:
            shared = "" if self.proportional is None else f", {bytes_text(self.proportional)} without shared memory"
            process = f"The process has {bytes_text(self.resident)} in memory{shared}."
        heap = self.heap
        if heap is None:
            yield from (f"Heap of {self.session} at {when}", process, self.remark)
            return
        yield f"Heap of {self.session} at {when} (process {heap.pid}, Python {heap.python})"
        yield f"{number_text(heap.objects)} objects, {bytes_text(heap.size)}. {process}".rstrip()
        if heap.uncounted:
            yield f"There are more: at least {number_text(heap.uncounted)} objects were not counted within the limits."
        if heap.frozen:
            yield f"{number_text(heap.frozen)} objects are not listed, since they are frozen (gc.freeze)."
        if heap.debugger_objects:
            size = bytes_text(heap.debugger_size)
            yield f"The debugger's own {number_text(heap.debugger_objects)} objects ({size}) are left out."

    def _by_line(self, most: int) -> Iterator[str]:
        allocations, heap = self.allocations, self.heap
        if allocations is not None:
            title = f"Allocated within {allocations.seconds:.0f} s and still there, by line (memray):"
            yield "\n".join([title, *_rows("line", allocations.lines, most), allocations.left])
        if heap is not None and heap.lines is not None:
            yield "\n".join(["By line (tracemalloc):", *_rows("line", heap.lines, most)])
        elif heap is not None and heap.trace_size is not None:
            yield f"The traces of tracemalloc have {bytes_text(heap.trace_size)}: too many to be read."
        elif allocations is None:
            yield NO_LINES


def load(path: Path) -> HeapSnapshot:
    """Read a snapshot from a file.

    Raises:
        DiagnosticsError: the file cannot be read, or is not a snapshot.

    """
    try:
        return from_json_value(HeapSnapshot, json.loads(read_file(path, limits.HEAP_FILE_BYTES)))
    except OSError as error:
        raise DiagnosticsError("no_folder", f"{path} cannot be read: {error.strerror or error}") from error
    except (DapkitError, ValueError) as error:
        raise DiagnosticsError("invalid_arguments", f"{path} is not a snapshot of a heap: {error}") from error


def _rows(name: str, heap_table: HeapTable, most: int) -> Iterator[str]:
    first_rows, rest = heap_table.rows[:most], heap_table.rows[most:]
    whole = sum(row.size for row in heap_table.rows) + heap_table.other_size
    rows = [
        (
            bytes_text(row.size),
            share_text(row.size, whole),
            number_text(row.count),
            with_source(row.name) if name == "line" else row.name,
        )
        for row in first_rows
    ]
    if not rows:
        yield "  nothing"
        return
    yield from table(("size", "share", "objects", name), rows)
    if more := len(rest) + heap_table.others:
        size = sum(row.size for row in rest) + heap_table.other_size
        yield f"  and {number_text(more)} more, {bytes_text(size)} together"
