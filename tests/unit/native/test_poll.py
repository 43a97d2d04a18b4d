"""Polling: changes of what no watcher can see are noticed at the next line."""

import array
import gc
import sys
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from dapkit.python.debuggee.interpreter import native

if TYPE_CHECKING:  # it may not have been built
    from dapkit.python.debuggee import _native

LINE = sys.monitoring.events.LINE
MISSING = native.MISSING


class Slots:
    __slots__ = ("__weakref__", "value")
    value: object


class Poll:
    """A poll callback, and the changes that it has seen."""

    def __init__(self, *targets: "_native.Target") -> None:
        self.seen: list[tuple[int, object, object]] = []
        self._callback = native.poll(targets, lambda _code, _line, found: self.seen.extend(found))

    def __call__(self) -> list[tuple[int, object, object]]:
        self._callback(sys._getframe().f_code, 1)
        found = self.seen[:]
        self.seen.clear()
        return found


def test_change_of_a_slot_is_seen_once() -> None:
    owner = Slots()
    poll = Poll(("slot", owner, Slots.__dict__["value"]))
    assert poll() == []
    owner.value = 1000
    assert poll() == [(0, MISSING, 1000)]
    assert poll() == []
    del owner.value
    assert poll() == [(0, 1000, MISSING)]


def test_change_of_a_cell_is_seen() -> None:
    value = 1

    def reader() -> int:
        return value

    assert reader.__closure__ is not None
    poll = Poll(("slot", reader.__closure__[0], types.CellType.__dict__["cell_contents"]))
    value = 2
    assert poll() == [(0, 1, 2)]


def test_changes_of_list_items_are_seen_also_where_the_list_shrinks() -> None:
    items: list[object] = ["a", "b"]
    poll = Poll(("index", items, 1), ("index", items, 0), ("index", items, 5))
    items[1] = "c"
    assert poll() == [(0, "b", "c")]
    items.reverse()
    assert poll() == [(0, "c", "a"), (1, "a", "c")]
    items.clear()
    assert poll() == [(0, "a", MISSING), (1, "c", MISSING)]
    items.extend(range(6))
    assert poll() == [(0, MISSING, 1), (1, MISSING, 0), (2, MISSING, 5)]


def test_changes_of_dict_entries_whose_keys_python_compares_are_seen() -> None:
    class Key:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Key)

        def __hash__(self) -> int:
            return 1

    watched: dict[object, object] = {}
    poll = Poll(("key", watched, Key()))
    watched[Key()] = "new"
    assert poll() == [(0, MISSING, "new")]


@pytest.mark.parametrize(
    "make", [bytearray, lambda data: array.array("B", data), lambda data: memoryview(bytearray(data))]
)
def test_changes_of_a_range_of_bytes_are_seen(make: Callable[[bytes], Any]) -> None:
    buffer = make(b"0123456789")
    poll = Poll(("bytes", buffer, 2, 3), ("bytes", buffer, 8, 5))
    buffer[1] = buffer[5] = 0
    assert poll() == []
    buffer[4] = ord("x")
    assert poll() == [(0, b"234", b"23x")]


def test_buffer_that_shrinks_or_is_released_has_no_value() -> None:
    buffer = bytearray(b"0123")
    view = memoryview(b"0123")
    poll = Poll(("bytes", buffer, 2, 2), ("bytes", view, 0, 1))
    del buffer[3:]
    view.release()
    assert poll() == [(0, b"23", MISSING), (1, b"0", MISSING)]
    buffer.append(ord("z"))
    assert poll() == [(0, MISSING, b"2z")]


def test_new_object_cannot_hide_at_the_address_of_the_old() -> None:
    owner = Slots()
    owner.value = float("1.5")
    poll = Poll(("slot", owner, Slots.__dict__["value"]))
    for _ in range(100):
        del owner.value
        owner.value = float("1.5")
        assert len(poll()) == 1


def test_changes_stop_the_writer_at_its_next_line(tool: int) -> None:
    items = [0]
    stops: list[int] = []

    def program() -> None:
        items[0] = 1
        other = 2
        items[0] = other
        del other

    first = program.__code__.co_firstlineno
    callback = native.poll((("index", items, 0),), lambda _code, line, _found: stops.append(line - first))
    sys.monitoring.register_callback(tool, LINE, callback)
    sys.monitoring.set_local_events(tool, program.__code__, LINE)
    program()
    sys.monitoring.set_local_events(tool, program.__code__, 0)
    assert stops == [2, 4]


def test_error_in_python_reaches_the_caller() -> None:
    items: list[object] = [0]
    callback = native.poll((("index", items, 0),), lambda *_: 1 // 0)
    items[0] = 1
    with pytest.raises(ZeroDivisionError):
        callback(sys._getframe().f_code, 1)
    assert callback(sys._getframe().f_code, 1) is None  # it has been told


def test_targets_are_kept_alive_and_let_go() -> None:
    owner = Slots()
    ghost = weakref.ref(owner)
    poll = Poll(("slot", owner, Slots.__dict__["value"]))
    owner.value = poll  # a cycle through the callback
    poll()
    del owner
    assert ghost() is not None
    del poll
    gc.collect()
    assert ghost() is None


@pytest.mark.parametrize(
    "target",
    [
        (),
        "index",
        ("unknown", [], 0),
        ("index", (), 0),
        ("index", [], -1),
        ("slot", 1, property()),
        ("slot", 1, lambda: None),
        ("key", [], 0),
        ("bytes", 3, 0, 1),
        ("bytes", b"", 0, 0),
        ("bytes", b"", -1, 1),
    ],
)
def test_target_that_cannot_be_polled_is_refused(target: object) -> None:
    with pytest.raises(ValueError, match=r"polled|target is a tuple"):
        native.poll((("index", [1], 0), target), print)  # type: ignore[arg-type]  # wrong on purpose


def test_target_with_wrong_types_is_refused() -> None:
    targets: list[tuple[object, ...]] = [("index", [], "x"), ("slot", 1), ("bytes", b"", 0, 2**70)]
    for target in targets:
        with pytest.raises((TypeError, OverflowError)):
            native.poll((target,), print)  # type: ignore[arg-type]  # wrong on purpose
