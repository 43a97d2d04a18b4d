"""Ids that live as long as a stop."""

import pytest

from dapkit.adapter import References, RequestFailed


def test_an_id_leads_to_its_object() -> None:
    frames = References[str]("frame")
    assert frames.get(frames.add("main")) == "main"


def test_ids_are_positive_and_never_used_again() -> None:
    frames = References[str]("frame")
    first = [frames.add("a"), frames.add("b")]
    frames.clear()
    assert [*first, frames.add("c")] == [1, 2, 3]


def test_an_id_of_an_earlier_stop_says_which() -> None:
    variables = References[str]("variables reference")
    variables.add("a")
    variables.clear()
    variables.add("b")
    for _ in range(3):
        variables.clear()
    with pytest.raises(RequestFailed, match="variables reference 2 belongs to stop 2; the program is at stop 5"):
        variables.get(2)
    with pytest.raises(RequestFailed, match="variables reference 1 belongs to stop 1; "):
        variables.get(1)


@pytest.mark.parametrize("reference", [0, -1, 2])
def test_an_id_that_was_never_given_out_says_so(reference: int) -> None:
    frames = References[str]("frame")
    frames.add("main")
    with pytest.raises(RequestFailed, match=f"frame {reference} was never given out in this session"):
        frames.get(reference)


def test_ids_stay_within_what_the_protocol_allows() -> None:
    frames = References[str]("frame")
    frames._next = 2**31 - 1
    assert frames.add("last") == 2**31 - 1
    with pytest.raises(RequestFailed, match="all 2147483647 are used up"):
        frames.add("one too many")
