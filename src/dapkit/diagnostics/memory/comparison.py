"""The comparison of two snapshots of a heap: growth and shrinkage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory.snapshot import By, HeapSnapshot
from dapkit.diagnostics.memory.tables import bytes_text, number_text, table, with_source
from dapkit.protocol.heap import HeapBody, HeapTable


@dataclass(frozen=True, slots=True)
class Growth:
    """The change of a group of objects.

    Attributes:
        name: as in the snapshots.
        count: how many more there are; negative for fewer.
        size: how many more bytes these have.
        now: bytes that they have now.

    """

    name: str
    count: int
    size: int
    now: int


@dataclass(frozen=True, slots=True)
class HeapComparison:
    """The changes between two snapshots.

    Attributes:
        types: the changes by type, the largest growth first.
        holders: the changes by holder.
        lines: by line; None if both snapshots do not know lines.
        objects: how many more there are.
        size: how many more bytes.
        remarks: limits of the comparison, for people.

    """

    before: HeapSnapshot
    after: HeapSnapshot
    objects: int
    size: int
    types: Sequence[Growth]
    holders: Sequence[Growth]
    lines: Sequence[Growth] | None
    remarks: Sequence[str]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it; sizes are in bytes."""
        return {
            "before": _summary(self.before),
            "after": _summary(self.after),
            "objects": self.objects,
            "size": self.size,
            "types": _as_json(self.types),
            "holders": _as_json(self.holders),
            "lines": None if self.lines is None else _as_json(self.lines),
            "remarks": [*self.remarks],
        }

    def as_text(self, *, by: By | None = None, most: int = limits.HEAP_ROWS_SHOWN) -> str:
        """Return its tables; parameters as of `HeapSnapshot.as_text`."""
        parts = ["\n".join(self._heading())]
        if by != "line":
            parts += [
                "\n".join(["Growth by type:", *_rows("type", self.types, most)]),
                "\n".join(["Growth by holder:", *_rows("holder", self.holders, most)]),
            ]
        if by != "type" and self.lines is not None:
            parts.append("\n".join(["Growth by line (tracemalloc):", *_rows("line", self.lines, most)]))
        if by == "line" and self.lines is None:
            parts.append("Lines are not known in both snapshots.")
        return "\n\n".join(parts)

    def _heading(self) -> Iterator[str]:
        before, after = self.before, self.after
        yield f"Since {_time(before)}, {_span(after.time - before.time)}:"
        line = f"{number_text(self.objects, signed=True)} objects, {bytes_text(self.size, signed=True)}"
        if before.resident is not None and after.resident is not None:
            line += f"; in memory {bytes_text(after.resident - before.resident, signed=True)}"
        yield line
        yield from self.remarks


def compare(before: HeapSnapshot, after: HeapSnapshot) -> HeapComparison:
    """Compare two snapshots.

    Raises:
        DiagnosticsError: one of them does not know the objects.

    """
    old, new = _heap_of(before), _heap_of(after)
    tables = [(old.types, new.types), (old.holders, new.holders)]
    if old.lines is not None and new.lines is not None:
        tables.append((old.lines, new.lines))
    types, holders, *lines = [_growth(*pair) for pair in tables]
    return HeapComparison(
        before,
        after,
        objects=new.objects - old.objects,
        size=new.size - old.size,
        types=types,
        holders=holders,
        lines=lines[0] if lines else None,
        remarks=[*_remarks(old, new, partial=any(table.others for pair in tables for table in pair))],
    )


def _heap_of(snapshot: HeapSnapshot) -> HeapBody:
    if snapshot.heap is None:
        raise DiagnosticsError(
            "invalid_arguments", f"{snapshot.path} knows no objects, only allocations: {snapshot.remark}"
        )
    return snapshot.heap


def _remarks(old: HeapBody, new: HeapBody, *, partial: bool) -> Iterator[str]:
    if old.pid != new.pid:
        yield f"They are of different processes: {old.pid} and {new.pid}."
    if old.uncounted or new.uncounted:
        yield "Not all objects were counted in both, so that growth may only seem so."
    if partial:
        yield f"Groups outside the {number_text(len(old.types.rows))} largest counts as nothing."


def _growth(before: HeapTable, after: HeapTable) -> list[Growth]:
    """Return the differences; the largest growth first, the largest shrinkage last."""
    old = {row.name: (row.count, row.size) for row in before.rows}
    new = {row.name: (row.count, row.size) for row in after.rows}
    growths = []
    for name in {**new, **old}:
        count, size = old.get(name, (0, 0))
        now, bytes_now = new.get(name, (0, 0))
        if (count, size) != (now, bytes_now):
            growths.append(Growth(name, now - count, bytes_now - size, bytes_now))
    return sorted(growths, key=lambda row: (-row.size, -row.count, row.name))


def _rows(name: str, growths: Sequence[Growth], most: int) -> Iterator[str]:
    if not growths:
        yield "  nothing has changed"
        return
    largest = sorted(growths, key=lambda row: -abs(row.size))[:most]
    ordered = sorted(largest, key=lambda row: (-row.size, -row.count, row.name))
    rows = [
        (
            bytes_text(row.size, signed=True),
            number_text(row.count, signed=True),
            bytes_text(row.now),
            with_source(row.name) if name == "line" else row.name,
        )
        for row in ordered
    ]
    yield from table(("growth", "objects", "now", name), rows)
    if more := len(growths) - len(largest):
        yield f"  and {number_text(more)} more with smaller changes"


def _as_json(rows: Sequence[Growth]) -> list[dict[str, object]]:
    return [{"name": row.name, "count": row.count, "size": row.size, "now": row.now} for row in rows]


def _summary(snapshot: HeapSnapshot) -> dict[str, object]:
    heap = _heap_of(snapshot)
    return {
        "time": snapshot.time,
        "path": snapshot.path,
        "pid": heap.pid,
        "objects": heap.objects,
        "size": heap.size,
        "resident": snapshot.resident,
    }


def _time(snapshot: HeapSnapshot) -> str:
    return datetime.fromtimestamp(snapshot.time, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
