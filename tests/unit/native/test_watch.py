"""Watches: every way to write an entry of a dict is noticed, with what was there before and after."""

import gc
import itertools
import sys
import threading
from collections.abc import Iterator
from enum import Enum, IntEnum, StrEnum
from types import CodeType

import pytest

from dapkit.python.debuggee.interpreter import native

INSTRUCTION = sys.monitoring.events.INSTRUCTION
MISSING = native.MISSING
global_value = 0


@pytest.fixture(autouse=True)
def _end_of_watches() -> Iterator[None]:
    yield
    native.unwatch_all()


def changes() -> list[tuple[object, object]]:
    notes, lost = native.drain()
    assert lost == 0
    assert {thread for _, thread, _, _ in notes} <= {threading.get_ident()}
    return [(old, new) for _, _, old, new in notes]


class Plain:
    value: object = "of the class"

    def __init__(self) -> None:
        self.value: object = 0
        self.other = 0


def store(owner: Plain) -> None:
    owner.value = 1


def write_instance(owner: Plain) -> None:
    global global_value  # noqa: PLW0603 - one of the ways
    for _ in range(20):  # often enough for the interpreter to specialise the instruction
        store(owner)
        owner.value = 0
    native.drain()
    owner.value = 1
    setattr(owner, "value", 2)  # noqa: B010 - one of the ways
    object.__setattr__(owner, "value", 3)
    owner.__dict__["value"] = 4
    owner.__dict__.update(value=5)
    owner.__dict__ |= {"value": 6}
    owner.__dict__.setdefault("value", 99)
    del owner.value
    owner.value = 7
    owner.__dict__.pop("value")
    owner.__dict__.setdefault("value", 8)
    owner.__dict__.clear()
    owner.__dict__.update({"value": 9, "other": 1})
    delattr(owner, "value")
    global_value = 1


def test_every_way_to_write_an_attribute_is_noticed() -> None:
    owner = Plain()
    namespace = native.namespace_of(owner)
    assert namespace is not None
    native.watch(namespace, "value")
    write_instance(owner)
    expected = [0, 1, 2, 3, 4, 5, 6, MISSING, 7, MISSING, 8, MISSING, 9, MISSING]
    assert changes() == list(itertools.pairwise(expected))


def test_writes_of_globals_are_noticed() -> None:
    global global_value  # noqa: PLW0603 - one of the ways
    global_value = 0
    native.watch(globals(), "global_value")
    native.watch(globals(), "only_here")
    global_value = 5
    globals()["global_value"] = 6
    exec("global_value = 7; only_here = 1; del only_here", globals())  # noqa: S102 - one of the ways
    assert changes() == [(0, 5), (5, 6), (6, 7), (MISSING, 1), (1, MISSING)]


def test_writes_of_class_attributes_are_noticed_each_time() -> None:
    namespace = native.namespace_of(Plain)
    assert namespace is not None
    native.watch(namespace, "value")
    Plain.value = "first"
    Plain.value = "second"
    setattr(Plain, "value", "of the class")  # noqa: B010 - one of the ways
    assert changes() == [("of the class", "first"), ("first", "second"), ("second", "of the class")]


def test_what_has_no_dict_has_no_namespace() -> None:
    class Slots:
        __slots__ = ("value",)

    assert native.namespace_of(Slots()) is None
    assert native.namespace_of(3) is None
    assert native.namespace_of(sys) is sys.__dict__


def test_other_keys_and_other_dicts_are_not_noticed() -> None:
    watched, other = {"x": 0, "y": 0}, {"x": 0}
    native.watch(watched, "x")
    watched["y"] = other["x"] = 1
    watched.pop("y")
    watched["xx"] = 1
    watched[0] = watched[1.5] = watched[None] = watched[(1, "x")] = 1  # type: ignore[index]  # odd keys
    assert changes() == []


class Colour(StrEnum):
    RED = "red"


class Number(IntEnum):
    SEVEN = 7


class Shade(Enum):  # has a hash in Python
    DARK = 1


class Keyed:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("key", "equal"),
    [
        ("ab", str(b"ab", "ascii")),
        (1000, int("1000")),
        (1, True),
        (2, 2.0),
        (b"ab", bytes([97, 98])),
        ((1, "x"), (1, str(b"x", "ascii"))),
        (frozenset, frozenset),
        (None, None),
        ("red", Colour.RED),
        (7, Number.SEVEN),
    ],
)
def test_key_is_recognised_by_equality(key: object, equal: object) -> None:
    watched: dict[object, object] = {key: 0}
    native.watch(watched, key)
    watched[equal] = 1
    assert changes() == [(0, 1)]


@pytest.mark.parametrize("key", [Keyed(), (1, Keyed()), Shade.DARK, frozenset([1])])
def test_key_that_only_python_can_compare_is_refused(key: object) -> None:
    with pytest.raises(TypeError, match="compared by Python code"):
        native.watch({key: 0}, key)


def test_key_that_is_its_own_only_equal_can_be_watched() -> None:
    key = object()
    watched: dict[object, object] = {key: 0}
    native.watch(watched, key)
    watched[object()] = watched[key] = 1
    assert changes() == [(0, 1)]


def test_watches_are_independent() -> None:
    watched: dict[object, object] = {"x": 0, "y": 0}
    first, second, again = native.watch(watched, "x"), native.watch(watched, "y"), native.watch(watched, "x")
    watched["x"] = 1
    native.unwatch(first)
    watched["y"] = 2
    watched["x"] = 3
    notes, _ = native.drain()
    assert [(number, new) for number, _, _, new in notes] == [(first, 1), (again, 1), (second, 2), (again, 3)]
    assert (native.writes(second), native.writes(again)) == (1, 2)
    native.unwatch(second)
    native.unwatch(again)
    watched["x"] = watched["y"] = 4
    assert changes() == []
    with pytest.raises(KeyError, match=f"no watch {first}"):
        native.unwatch(first)


def test_watch_does_not_keep_its_dict_alive() -> None:
    number = native.watch({"x": 0}, "x")
    assert not native.is_alive(number)
    native.unwatch(number)
    owner = Plain()
    namespace = native.namespace_of(owner)
    assert namespace is not None
    number = native.watch(namespace, "value")
    del namespace
    assert native.is_alive(number)
    del owner
    gc.collect()
    assert not native.is_alive(number)


def test_notes_hold_the_old_value_until_they_are_drained_and_no_longer() -> None:
    value = ["old"]
    watched: dict[object, object] = {"x": value}
    before = sys.getrefcount(value)
    native.watch(watched, "x")
    watched["x"] = 1
    assert changes() == [(["old"], 1)]
    assert sys.getrefcount(value) == before - 1


def test_what_there_is_no_room_for_is_counted() -> None:
    watched: dict[object, object] = {"x": None}
    number = native.watch(watched, "x")
    for value in range(1000):
        watched["x"] = value
    notes, lost = native.drain()
    assert [new for _, _, _, new in notes] == list(range(len(notes)))
    assert len(notes) + lost == native.writes(number) == 1000


def test_write_while_an_exception_is_on_its_way_leaves_it_as_it_is() -> None:
    watched: dict[object, object] = {"x": 0}
    native.watch(watched, "x")
    native.watch(watched, ("not", "there"))

    class Leaving:
        def __del__(self) -> None:
            watched["x"] = 1

    def leave() -> None:
        here = Leaving()
        del here
        raise LookupError

    with pytest.raises(LookupError):
        leave()
    assert changes() == [(0, 1)]


def write_two(owner: dict[object, object]) -> int:
    owner["x"] = 1
    after = 1
    owner["x"] = 2
    return after


def test_writer_is_stopped_at_its_next_instruction_even_where_instructions_are_disabled(tool: int) -> None:
    watched: dict[object, object] = {"x": 0}
    code = write_two.__code__
    stops: list[tuple[int, list[tuple[object, object]]]] = []
    armed: list[CodeType] = []

    def instruction(where: CodeType, offset: int) -> object:
        if not armed:
            return sys.monitoring.DISABLE
        stops.append((line_of(where, offset - 2) - where.co_firstlineno, changes()))
        assert armed == [where]
        armed.clear()
        sys.monitoring.set_local_events(tool, where, INSTRUCTION)
        return None

    sys.monitoring.register_callback(tool, INSTRUCTION, instruction)
    sys.monitoring.set_local_events(tool, code, INSTRUCTION)
    write_two(watched)  # every instruction of it is disabled now
    watched["x"] = 0
    native.watch(watched, "x")
    native.arm_writers(tool, INSTRUCTION, armed)
    write_two(watched)
    sys.monitoring.set_local_events(tool, code, 0)
    assert stops == [(1, [(0, 1)]), (3, [(1, 2)])]


def test_events_of_writers_are_set_back_once_all_notes_are_taken(tool: int) -> None:
    watched: dict[object, object] = {"x": 0}
    native.watch(watched, "x")
    code, line = write_two.__code__, sys.monitoring.events.LINE
    armed: list[CodeType] = []
    native.arm_writers(tool, INSTRUCTION, armed)
    for others in ({}, {id(code): line}):
        write_two(watched)
        assert not native.disarm_writers(others)
        assert (armed, sys.monitoring.get_local_events(tool, code)) == ([code], INSTRUCTION)
        native.drain()
        assert native.disarm_writers(others)
        assert (armed, sys.monitoring.get_local_events(tool, code)) == ([], others.get(id(code), 0))
    sys.monitoring.set_local_events(tool, code, 0)


def test_there_is_nothing_to_set_back_where_nothing_arms() -> None:
    watched: dict[object, object] = {"x": 0}
    native.watch(watched, "x")
    watched["x"] = 1
    assert native.disarm_writers({})
    assert changes() == [(0, 1)]


def line_of(code: CodeType, offset: int) -> int:
    return next(line for start, end, line in code.co_lines() if start <= offset < end and line)


def test_error_of_what_arms_is_told_by_the_next_drain() -> None:
    native.arm_writers(17, INSTRUCTION, [])  # no such tool
    watched: dict[object, object] = {"x": 0}
    native.watch(watched, "x")
    watched["x"] = 1
    with pytest.raises(ValueError, match="tool"):
        native.drain()
    assert changes() == [(0, 1)]


def test_end_of_a_dict_is_the_last_note_of_its_watch() -> None:
    watched = {"x": [1]}
    number = native.watch(watched, "x")
    del watched
    assert not native.is_alive(number)
    assert changes() == [([1], MISSING)]


def test_threads_may_write_while_others_drain() -> None:
    watched: dict[object, object] = {"x": 0}
    number = native.watch(watched, "x")
    rounds = 2_000

    def write() -> None:
        for i in range(rounds):
            watched["x"] = [i]

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        notes, lost = native.drain()
        seen += len(notes) + lost
        del notes
        gc.collect()
    notes, lost = native.drain()
    assert seen + len(notes) + lost == native.writes(number) == 4 * rounds
