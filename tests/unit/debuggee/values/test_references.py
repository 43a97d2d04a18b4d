"""Numbers of frames and values through very many stops."""

import pytest

from dapkit.python.debuggee.interpreter import limits
from dapkit.python.debuggee.interpreter.errors import RequestRefused
from dapkit.python.debuggee.values.references import ObjectReferences
from operations import operations


class Shown:
    what = "frame"


def stop_and_go(references: ObjectReferences, times: int) -> list[int]:
    """Stop so often; return the number that was given at each stop."""
    numbers = []
    for _ in range(times):
        references.begin()
        numbers.append(references.add(Shown(), 1))
        references.end()
    return numbers


def refusal(references: ObjectReferences, number: int) -> str:
    with pytest.raises(RequestRefused) as refused:
        references.get(number, Shown)
    return str(refused.value)


def test_a_number_of_an_earlier_stop_says_which_one_that_was() -> None:
    references = ObjectReferences()
    first, *_, last = stop_and_go(references, 5 * limits.STOPS_REMEMBERED)
    assert refusal(references, last) == f"reference {last} belongs to stop {references.stop}, the program is running"
    assert refusal(references, last - 7).startswith(f"reference {last - 7} belongs to stop {references.stop - 7}, ")
    assert refusal(references, first) == f"reference {first} belongs to a stop long ago, the program is running"


def test_a_stop_is_as_much_work_after_many_stops_as_after_few() -> None:
    few, many = ObjectReferences(), ObjectReferences()
    stop_and_go(few, 10)
    stop_and_go(many, 3 * limits.STOPS_REMEMBERED // 2)
    assert operations(lambda: stop_and_go(few, 5)) == operations(lambda: stop_and_go(many, 5))
