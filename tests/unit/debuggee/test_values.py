"""Values as text, and what is inside them, without running code of the program."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

import pytest

from dapkit.python.debuggee import limits
from dapkit.python.debuggee.errors import RequestRefused
from dapkit.python.debuggee.references import References
from dapkit.python.debuggee.values import render, type_name
from dapkit.python.debuggee.variables import Holder, Reader, attributes, item_count, items


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


def test_without_a_guard_no_code_of_the_program_runs() -> None:
    trap = Trap()
    assert render([trap, {1: trap}], None).count("test_values.Trap object at 0x") == 2
    assert type_name(trap).endswith("test_values.Trap")
    assert attributes(trap) == []
    assert item_count(TrapList([1, 2])) == 2
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
    assert [name for name, _, _ in items(ordered, 0, 3, "o")] == ["b", "c", "a"]
    assert items({"k": 1, (1, 2): 2}, 0, 2, "d") == [("k", 1, "d['k']"), ("(1, 2)", 2, "")]
    assert items(deque("abc"), 1, 3, "q") == [("[1]", "b", ""), ("[2]", "c", "")]
    assert items(range(10**9), 5 * 10**8, 5 * 10**8 + 1, "r") == [("[500000000]", 5 * 10**8, "r[500000000]")]


def test_pages_of_a_container_follow_start_count_and_filter() -> None:
    reader = Reader(References())
    holder = Holder(list(range(2000)), "x", 0)
    assert [row[1] for row in reader.page(holder, {"filter": "indexed", "start": 5, "count": 2})] == [5, 6]
    assert reader.page(holder, {"filter": "named"}) == []
    assert len(reader.page(holder, {})) == limits.UNPAGED_ITEMS + 1


def test_reference_tells_to_which_stop_it_belonged() -> None:
    references = References()
    with pytest.raises(RequestRefused, match="there is no reference 1"):
        references.get(1, Holder)
    references.begin()
    first = references.add(Holder(1, "", 0))
    references.begin()
    second = references.add(Holder(2, "", 0))
    assert references.get(second, Holder).value == 2
    with pytest.raises(RequestRefused, match=f"reference {first} belongs to stop 1, the program is at stop 2"):
        references.get(first, Holder)
    with pytest.raises(RequestRefused, match=f"reference {second} is a Holder, expected a Reader"):
        references.get(second, Reader)
    references.end()
    with pytest.raises(RequestRefused, match=f"reference {second} belongs to stop 2, the program is running"):
        references.get(second, Holder)
