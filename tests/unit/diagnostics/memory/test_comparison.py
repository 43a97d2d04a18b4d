"""Two snapshots compared, and one as text."""

import json
from pathlib import Path

import pytest

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory import Allocations, HeapSnapshot, compare, load
from dapkit.diagnostics.memory.tables import bytes_text, number_text, table
from dapkit.protocol.heap import HeapBody, HeapRow, HeapTable


def rows(others: int = 0, /, **found: tuple[int, int]) -> HeapTable:
    made = [HeapRow(name=name, count=count, size=size) for name, (count, size) in found.items()]
    return HeapTable(rows=made, others=others, other_count=others, other_size=others * 10)


def heap(types: HeapTable, *, lines: HeapTable | None = None, pid: int = 7, uncounted: int = 0) -> HeapBody:
    return HeapBody(
        pid=pid,
        python="3.13.0",
        seconds=0.1,
        objects=sum(row.count for row in types.rows),
        size=sum(row.size for row in types.rows),
        uncounted=uncounted,
        frozen=0,
        debugger_objects=3,
        debugger_size=2048,
        types=types,
        holders=types,
        lines=lines,
    )


def snapshot(found: HeapBody | None, *, time: float = 1_000_000.0, resident: int = 2**20) -> HeapSnapshot:
    return HeapSnapshot(session="debug-1", adapter="dapkit", time=time, heap=found, resident=resident)


def test_growth_is_sorted_from_the_largest_to_what_has_shrunk() -> None:
    before = snapshot(heap(rows(a=(1, 100), b=(5, 500), gone=(2, 50), same=(1, 1))))
    after = snapshot(heap(rows(a=(11, 1100), b=(1, 100), new=(1, 30), same=(1, 1))), time=1_000_030.0)
    found = compare(before, after)
    assert [(row.name, row.count, row.size, row.now) for row in found.types] == [
        ("a", 10, 1000, 1100),
        ("new", 1, 30, 30),
        ("gone", -2, -50, 0),
        ("b", -4, -400, 100),
    ]
    assert (found.objects, found.size, found.remarks) == (14 - 9, 1231 - 651, [])
    assert "30 s:\n+5 objects, +580 B; in memory +0 B" in found.as_text()
    assert found.as_json()["types"] == [
        {"name": row.name, "count": row.count, "size": row.size, "now": row.now} for row in found.types
    ]


def test_largest_changes_are_shown_and_others_counted() -> None:
    before = snapshot(heap(rows()))
    after = snapshot(heap(rows(large=(1, 300), minor=(1, 1), middle=(1, 200))))
    text = compare(before, after).as_text(most=2)
    assert "large" in text
    assert "middle" in text
    assert "minor" not in text
    assert "  and 1 more with smaller changes" in text


def test_equal_snapshots_have_no_growth() -> None:
    same = snapshot(heap(rows(a=(1, 100))))
    assert "  nothing has changed" in compare(same, same).as_text()


def test_lines_are_compared_where_both_know_them() -> None:
    with_lines = snapshot(heap(rows(), lines=rows(**{"/nowhere/app.py:3": (4, 400)})))
    without = snapshot(heap(rows()))
    assert compare(with_lines, with_lines).lines == []
    assert compare(without, with_lines).lines is None
    assert "Lines are not known in both snapshots." in compare(without, with_lines).as_text(by="line")


def test_what_makes_a_comparison_doubtful_is_said() -> None:
    before = snapshot(heap(rows(3, a=(1, 1)), pid=1))
    after = snapshot(heap(rows(a=(1, 1)), pid=2, uncounted=4))
    assert compare(before, after).remarks == [
        "They are of different processes: 1 and 2.",
        "Not all objects were counted in both, so that growth may only seem so.",
        "Groups outside the 1 largest counts as nothing.",
    ]


def test_snapshot_without_objects_cannot_be_compared() -> None:
    with pytest.raises(DiagnosticsError, match="only allocations"):
        compare(snapshot(None), snapshot(heap(rows())))


def test_snapshot_comes_back_from_its_file(tmp_path: Path) -> None:
    made = snapshot(heap(rows(a=(1, 100)), lines=rows(b=(1, 2))))
    file = tmp_path / "memory.json"
    file.write_text(json.dumps(made.as_json()))
    assert load(file) == made


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"session": 1}', "\x00"])
def test_file_that_is_not_a_snapshot_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "memory.json"
    file.write_text(content)
    with pytest.raises(DiagnosticsError, match="is not a snapshot of a heap"):
        load(file)


def test_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticsError, match="cannot be read"):
        load(tmp_path / "nowhere.json")


def test_tables_stand_in_columns_with_shares(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text("x = 1\ncache[key] = load(key)\n")
    found = heap(rows(bytes=(1500, 3 * 2**20), str=(2, 2**20)), lines=rows(**{f"{file}:2": (1500, 3 * 2**20)}))
    text = snapshot(found).as_text()
    assert (
        "By type:\n"
        "     size   share  objects  type\n"
        "  3.0 MiB  75.0 %    1,500  bytes\n"
        "  1.0 MiB  25.0 %        2  str\n"
    ) in text
    assert f"{file}:2  cache[key] = load(key)" in text
    assert "By type:" not in snapshot(found).as_text(by="line")
    assert "By line" not in snapshot(found).as_text(by="type")
    assert "  and 1 more, 1.0 MiB together" in snapshot(found).as_text(by="type", most=1)


def test_names_of_the_program_cannot_steer_the_terminal() -> None:
    text = snapshot(heap(rows(**{"\x1b]0;title\x07\n": (1, 1)}))).as_text()
    assert "\\x1b]0;title\\x07\\n" in text
    assert "\x1b" not in text


def test_what_is_not_known_is_said() -> None:
    text = snapshot(heap(rows(), uncounted=12_345)).as_text()
    assert "at least 12,345 objects were not counted" in text
    assert "The debugger's own 3 objects (2.0 KiB) are left out." in text
    assert "-X tracemalloc" in text
    assert "--attach" in text


def test_allocations_are_shown_with_what_is_left_in_the_program() -> None:
    made = Allocations(
        seconds=3.2, size=10, count=1, lines=rows(**{"/nowhere/app.py:3": (1, 10)}), left="Some is left."
    )
    found = HeapSnapshot(session="s", adapter="a", time=0, allocations=made, remark="It runs.")
    text = found.as_text(by="type")
    assert "It runs." in text
    assert "Allocated within 3 s and still there, by line (memray):" in text
    assert "Some is left." in text


def test_sizes_have_units_that_people_read() -> None:
    assert [bytes_text(size) for size in (0, 1023, 1024, 10**7, 10**15)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "9.5 MiB",
        "909.5 TiB",
    ]
    assert (bytes_text(-2048, signed=True), bytes_text(0, signed=True)) == ("-2.0 KiB", "+0 B")
    assert (number_text(1234567), number_text(12, signed=True)) == ("1,234,567", "+12")


def test_table_without_rows_has_its_heading() -> None:
    assert table(("size", "type"), []) == ["  size  type"]
