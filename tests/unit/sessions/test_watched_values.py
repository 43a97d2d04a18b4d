"""What became of a value that is watched."""

from dapkit.endpoint import RequestFailed
from dapkit.sessions.breakpoints.watched_values import WatchedValue, read_again, watch

FRAMES = {
    1: {"total": "100", "&(total)": "0x20"},  # a variable of the same name, in a function that was called
    2: {},
    3: {"total": "4", "&(total)": "0x10"},
}


async def evaluate(expression: str, frame: int | None) -> str:
    try:
        return FRAMES[frame or 3][expression]
    except KeyError:
        raise RequestFailed("no such name") from None


async def test_value_is_read_where_its_name_means_the_same() -> None:
    first = await watch("total", 3, evaluate)
    assert first == WatchedValue("total", "0x10", "4")
    before = WatchedValue("total", "0x10", "3")
    assert before.became(await read_again(before, [1, 2, 3], evaluate)) == "total changed from 3 to 4"


async def test_value_that_has_not_changed_is_shown_as_it_is() -> None:
    before = WatchedValue("total", "0x10", "4")
    assert before.became(await read_again(before, [3], evaluate)) == "total is 4"


async def test_nothing_is_said_of_a_value_that_cannot_be_read() -> None:
    before = WatchedValue("total", "0x10", "4")
    assert before.became(await read_again(before, [1, 2], evaluate)) is None


async def test_value_without_an_address_is_read_in_the_innermost_frame_that_has_it() -> None:
    before = WatchedValue("total", None, "99")
    assert before.became(await read_again(before, [2, 1, 3], evaluate)) == "total changed from 99 to 100"
