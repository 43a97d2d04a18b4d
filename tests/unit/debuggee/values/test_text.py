"""Values as text, and what is inside them, without running code of the program."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

import pytest

from dapkit.python.debuggee.interpreter import limits
from dapkit.python.debuggee.interpreter.errors import RequestRefused
from dapkit.python.debuggee.interpreter.safe_types import namespace, type_name
from dapkit.python.debuggee.values import containers
from dapkit.python.debuggee.values.error_text import error_text
from dapkit.python.debuggee.values.members import members
from dapkit.python.debuggee.values.memory import MemoryReferences
from dapkit.python.debuggee.values.references import ObjectReferences
from dapkit.python.debuggee.values.text import render
from dapkit.python.debuggee.values.variables import ExpandableValue, ShownFrame, VariableReader


def items(value: object, start: int, end: int, path: str) -> list[tuple[str, object, str]]:
    rows = containers.page(value, start, end, path, cursor=containers.Cursor())
    return [(row.name, row.value, row.path) for row in rows]


class Trap:
    """Fails whatever is asked of it."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(name)

    def __repr__(self) -> str:
        raise AssertionError

    __str__ = __repr__


class TrapList(list[int]):
    """A list that fails whatever is asked of it."""

    def __len__(self) -> int:
        raise AssertionError

    def __iter__(self) -> Iterator[int]:
        raise AssertionError


@pytest.mark.parametrize(
    "value",
    [1, -2.5, True, None, 1j, "a'b", b"x", bytearray(b"y"), [], (), {}, set(), frozenset(), (1,), [1, (2, {3: 4})],
     {1}, frozenset({2}), range(3), ..., "\udcff"],
)  # fmt: skip
def test_built_in_values_are_written_as_repr_does(value: object) -> None:
    assert render(value, None) == repr(value)


@pytest.mark.parametrize(
    "value", [1, True, 1.5, None, "", "text", "x" * limits.VALUE_CHARS, "x" * (limits.VALUE_CHARS + 1), b"x", 1j]
)
def test_values_with_nothing_inside_are_outlined_in_short(value: object) -> None:
    references = ObjectReferences()
    references.begin()
    reader, memory = VariableReader(references, MemoryReferences(references)), MemoryReferences(references)
    outline = reader.outline(value, "x", ExpandableValue(None, "", 0, None), None)
    has_items = containers.size(value) > 0
    assert outline.get("indexedVariables", 0) == containers.size(value)
    assert bool(outline["variablesReference"]) == (has_items or bool(members(value, "")))
    assert outline.get("memoryReference", "") == memory.refer(value, 0)


def test_class_without_a_module_is_shown_by_its_name() -> None:
    space: dict[str, type] = {}
    exec("Nowhere = type('Nowhere', (), {})", space)  # noqa: S102 - where there is no __name__
    assert type_name(space["Nowhere"]()) == "Nowhere"
    assert render(space["Nowhere"](), None).startswith("<Nowhere object at 0x")


def test_value_whose_attributes_are_another_matter_is_shown_without_them() -> None:
    class Proxy:
        """As one in C, whose `__dict__` is asked of what it stands for."""

        __slots__ = ()
        __dict__ = type(render).__dict__["__dict__"]

    assert namespace(Proxy()) == {}


def test_text_of_an_error_is_as_python_says_it_or_empty_where_that_fails() -> None:
    class OddError(ValueError):
        __str__ = KeyError.__str__

    assert error_text(ValueError("a", 1)) == "('a', 1)"
    assert error_text(ValueError(b"x")) == "b'x'"
    assert error_text(KeyError(b"x")) == "b'x'"
    assert [error_text(error) for error in (ValueError(10**5000), KeyError(10**5000), OddError("x"))] == ["", "", ""]


def test_without_a_guard_no_code_of_the_program_runs() -> None:
    trap = Trap()
    assert render([trap, {1: trap}], None).count("test_text.Trap object at 0x") == 2
    assert type_name(trap).endswith("test_text.Trap")
    assert members(trap, "t") == []
    assert containers.size(TrapList([1, 2])) == 2
    assert items(TrapList([1, 2]), 0, 2, "t") == [("[0]", 1, "t[0]"), ("[1]", 2, "t[1]")]


@pytest.mark.parametrize(
    "make", [lambda: list(range(10**6)), lambda: "x" * 10**8, lambda: dict.fromkeys(range(1000), "y" * 100)]
)
def test_text_keeps_within_its_limit(make: Callable[[], object]) -> None:
    text = render(make(), None, 200)
    assert len(text) <= 200
    assert "in all)" in text


def test_items_keep_their_order_and_names() -> None:
    ordered = OrderedDict(a=1, b=2, c=3)
    ordered.move_to_end("a")
    assert [name for name, _, _ in items(ordered, 0, 3, "o")] == ["'b'", "'c'", "'a'"]
    assert items({"k": 1, (1, 2): 2}, 0, 2, "d") == [("'k'", 1, "d['k']"), ("(1, 2)", 2, "d[(1, 2)]")]
    assert items({float("nan"): 1, Trap: 2}, 0, 1, "d") == [("nan", 1, "")]
    assert items(deque("abc"), 1, 3, "q") == [("[1]", "b", "q[1]"), ("[2]", "c", "q[2]")]
    assert items(range(10**9), 5 * 10**8, 5 * 10**8 + 1, "r") == [("[500000000]", 5 * 10**8, "r[500000000]")]


def test_page_of_a_dict_is_right_whether_items_were_removed_or_not() -> None:
    table = {number: -number for number in range(2000)}
    whole = list(table.items())
    assert [(int(name), value) for name, value, _ in items(table, 1000, 1100, "")] == whole[1000:1100]
    assert items(table, 1990, 5000, "")[-1][1] == -1999
    del table[3]
    whole = list(table.items())
    assert [(int(name), value) for name, value, _ in items(table, 1000, 1100, "")] == whole[1000:1100]


def test_pages_of_a_set_go_on_where_the_last_one_ended() -> None:
    group = {str(number) for number in range(1000)}
    cursor = containers.Cursor()

    def page(start: int, end: int) -> list[object]:
        return [row.value for row in containers.page(group, start, end, "", cursor=cursor)]

    order = list(group)
    assert [page(at, at + 100) for at in range(0, 1000, 100)] == [order[at : at + 100] for at in range(0, 1000, 100)]
    assert page(50, 60) == order[50:60]
    group.clear()
    assert page(70, 80) == []


def test_pages_of_a_container_follow_start_count_and_filter() -> None:
    reader = VariableReader(ObjectReferences(), MemoryReferences(ObjectReferences()))
    holder = ExpandableValue(list(range(2000)), "x", 0, None)
    assert [row.value for row in reader.page(holder, {"filter": "indexed", "start": 5, "count": 2}, None)] == [5, 6]
    assert reader.page(holder, {"filter": "named"}, None) == []
    assert len(reader.page(holder, {}, None)) == limits.UNPAGED_ITEMS + 1


def test_reference_tells_to_which_stop_it_belonged() -> None:
    references = ObjectReferences()
    with pytest.raises(RequestRefused, match="there is no reference 1"):
        references.get(1, ExpandableValue)
    references.begin()
    first = references.add(ExpandableValue(1, "", 0, None), 0)
    references.begin()
    second = references.add(ExpandableValue(2, "", 0, None), 0)
    assert references.get(second, ExpandableValue).value == 2
    with pytest.raises(RequestRefused, match=f"reference {first} belongs to stop 1, the program is at stop 2"):
        references.get(first, ExpandableValue)
    with pytest.raises(RequestRefused, match=f"reference {second} is a list of variables, expected a frame"):
        references.get(second, ShownFrame)
    references.end()
    with pytest.raises(RequestRefused, match=f"reference {second} belongs to stop 2, the program is running"):
        references.get(second, ExpandableValue)


def test_references_of_a_thread_that_stops_alone_end_with_its_own_stop() -> None:
    references = ObjectReferences()
    references.begin(only=1)
    first = references.add(ExpandableValue("of thread 1", "", 1, None), 1)
    references.begin(only=2)
    second = references.add(ExpandableValue("of thread 2", "", 2, None), 2)
    references.end(only=1)
    assert references.get(second, ExpandableValue).value == "of thread 2"
    with pytest.raises(RequestRefused, match=f"reference {first} belongs to stop"):
        references.get(first, ExpandableValue)
