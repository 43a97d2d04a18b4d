"""A snapshot of the heap of this very process: what is counted, what holds it, and what is not called for it."""

import gc
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from dapkit.python.debuggee import heap
from dapkit.python.debuggee.heap import LEFT_OVER, snapshot


@pytest.fixture(autouse=True)
def _small_heap() -> Iterator[None]:
    """Leave out what there was before: a worker of pytest has very many objects."""
    gc.freeze()
    yield
    gc.unfreeze()


def taken(*, seconds: float = 60, most: int = 10**8, rows: int = 100_000, trace_bytes: int = 2**30) -> dict[str, Any]:
    return snapshot(
        seconds=seconds,
        most=most,
        rows=rows,
        trace_bytes=trace_bytes,
        debuggers=("no_debugger",),
        folders=("/heap.py",),
    )


def row(table: dict[str, Any], name: str) -> tuple[int, int]:
    return next(((row["count"], row["size"]) for row in table["rows"] if row["name"] == name), (0, 0))


class Shelf:
    def __init__(self, texts: list[bytes]) -> None:
        self.texts = texts


def test_instances_are_counted_with_their_size_and_what_they_hold() -> None:
    shelves = [Shelf([bytes(10_000), bytes(10_000)]) for _ in range(50)]
    found = taken()
    assert row(found["types"], f"{__name__}.Shelf") == (50, sum(map(sys.getsizeof, shelves)))
    count, size = row(found["holders"], f"{__name__}.Shelf")
    assert count >= 50 * 4  # itself, the list, both texts
    assert 50 * 20_000 < size < 50 * 22_000
    assert found["objects"] == sum(row["count"] for row in found["types"]["rows"])
    assert found["size"] == sum(row["size"] for row in found["holders"]["rows"])


def test_growth_by_a_thousand_shows_as_a_thousand() -> None:
    shelves = [Shelf([]) for _ in range(10)]
    before = row(taken()["types"], f"{__name__}.Shelf")[0]
    shelves += [Shelf([]) for _ in range(1000)]
    assert row(taken()["types"], f"{__name__}.Shelf")[0] == before + 1000


def test_what_is_shared_is_counted_once() -> None:
    shared = bytes(1_000_000)
    shelves = [Shelf([shared]) for _ in range(10)]
    _, size = row(taken()["holders"], f"{__name__}.Shelf")
    assert len(shelves) == 10
    assert 1_000_000 < size < 1_100_000


def test_names_of_a_module_and_of_a_class_belong_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("some_module")
    module.__dict__["cache"] = {number: bytes(1000) for number in range(1000)}
    monkeypatch.setitem(sys.modules, "some_module", module)

    class Store:
        all_of_them = (bytes(2_000_000),)

    holders = taken()["holders"]
    assert row(holders, "module some_module")[1] > 1_000_000
    assert row(holders, f"class {__name__}.{Store.__qualname__}")[1] > 2_000_000


def test_local_variables_are_what_is_left_over() -> None:
    before = row(taken()["holders"], LEFT_OVER)[1]
    local = [bytes(3_000_000)]
    assert row(taken()["holders"], LEFT_OVER)[1] > before + 2_500_000
    assert len(local) == 1


def test_no_code_of_the_program_is_called() -> None:
    called = []

    class Meta(type):
        def __hash__(cls) -> int:
            called.append("hash")
            return 0

        def __eq__(cls, other: object) -> bool:
            called.append("eq")
            return False

        def __getattribute__(cls, name: str) -> object:
            called.append(name)
            return super().__getattribute__(name)

    class Strange(dict[str, str], metaclass=Meta):
        def __sizeof__(self) -> int:
            called.append("sizeof")
            return 10**9

        def __getattribute__(self, name: str) -> object:
            called.append(name)
            return super().__getattribute__(name)

        def __len__(self) -> int:
            called.append("len")
            return 0

    strange = [Strange(a="b") for _ in range(3)]
    called.clear()
    found = taken()
    assert called == []
    count, size = row(found["types"], f"{__name__}.{test_no_code_of_the_program_is_called.__name__}.<locals>.Strange")
    assert count == len(strange)
    assert size == 3 * (dict.__sizeof__(strange[0]) + 32)


def test_finalizers_do_not_run_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_ALONE_SECONDS", 5.0)  # also on a machine that has much else to do
    ended: set[int] = set()
    stop = threading.Event()

    class Ending:
        def __del__(self) -> None:
            ended.add(threading.get_ident())

    def make() -> None:
        while not stop.is_set():
            Ending()

    thread = threading.Thread(target=make)
    thread.start()
    try:
        taken()
    finally:
        stop.set()
        thread.join()
    assert ended == {thread.ident}


def test_interpreter_is_as_before() -> None:
    before = sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), {*sys.modules}
    taken()
    assert (sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), {*sys.modules}) == before


@pytest.mark.parametrize("bound", [{"seconds": 0.0}, {"most": 50}])
def test_what_is_beyond_a_bound_is_said_to_be_left_out(bound: dict[str, Any]) -> None:
    class Box(Shelf):
        pass

    kept = [kind([]) for kind in (Shelf, Box) for _ in range(100)]
    found = taken(**bound)
    assert found["uncounted"] >= len(kept) / 2
    assert found["objects"] < taken()["objects"]


def test_smaller_rows_are_summed_up() -> None:
    found = taken(rows=3)["types"]
    assert len(found["rows"]) == 3
    assert found["others"] > 10
    assert found["otherCount"] > found["others"]
    assert found["otherSize"] > 0


@pytest.fixture
def _traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("_traced")
@pytest.mark.thorough
def test_lines_are_those_that_tracemalloc_knows() -> None:
    line = sys._getframe().f_lineno + 1
    kept = [bytes(1000) for _ in range(500)]
    found = taken()
    count, size = row(found["lines"], f"{__file__}:{line}")
    assert count >= len(kept)
    assert 500_000 < size < 600_000
    assert [row for row in found["lines"]["rows"] if "/heap.py:" in row["name"]] == []


@pytest.mark.thorough
@pytest.mark.usefixtures("_traced")
def test_too_many_traces_are_not_read() -> None:
    found = taken(trace_bytes=0)
    assert found["lines"] is None
    assert found["traceSize"] > 0


def test_without_tracemalloc_there_are_no_lines() -> None:
    assert taken()["lines"] is None


def test_objects_of_the_debugger_are_counted_apart() -> None:
    shelves = [Shelf([]) for _ in range(20)]
    found = snapshot(seconds=60, most=10**8, rows=10_000, trace_bytes=0, debuggers=(__name__,), folders=())
    assert row(found["types"], f"{__name__}.Shelf") == (0, 0)
    assert found["debuggerObjects"] >= len(shelves)
    assert found["debuggerSize"] > 0
