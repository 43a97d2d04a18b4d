"""One grammar of hit conditions, for the engine in Python and in C, and for debug sessions."""

import sys

import pytest

from dapkit.python.debuggee.breakpoints.conditions import BreakpointCondition
from dapkit.python.debuggee.breakpoints.hit_conditions import parse_hit_condition
from dapkit.python.debuggee.interpreter import native
from dapkit.python.debuggee.interpreter.errors import RequestRefused
from dapkit.sessions.breakpoints.emulation import Emulated, WrongHitCondition, check_hit_condition, judge
from unit.native.frames import check_of

CASES = [
    ("3", [3]),
    ("= 3", [3]),
    ("=3", [3]),
    ("== 3", [3]),
    (" ==3 ", [3]),
    ("!= 3", [1, 2, 4, 5, 6]),
    (">= 4", [4, 5, 6]),
    (">=4", [4, 5, 6]),
    ("> 4", [5, 6]),
    ("<= 2", [1, 2]),
    ("< 2", [1]),
    ("% 2", [2, 4, 6]),
    ("%2", [2, 4, 6]),
    ("0", []),
]
"""Hit conditions, and at which of the first six hits a breakpoint acts."""

WRONG = ["", "x", "often", "-1", "% 0", "3 times", "=> 3", "5 5", "==", "===3", "! 3", "1.5", "x == 5", "٣"]

each_case = pytest.mark.parametrize(("text", "acts"), CASES)
each_mistake = pytest.mark.parametrize("text", WRONG)


@each_case
def test_engine_counts_in_python(text: str, acts: list[int]) -> None:
    expression = BreakpointCondition(None, text, None).hits_expression
    assert [hit for hit in range(1, 7) if eval(expression, {"_d_hits": hit})] == acts  # noqa: S307 - as the engine does


@pytest.mark.skipif(not native.CAN_CHECK, reason=native.REASON)
@each_case
def test_engine_counts_in_c(text: str, acts: list[int]) -> None:
    stopped: list[int] = []
    code = sys._getframe().f_code
    check = check_of(None, code, 1, lambda: stopped.append(hit), lambda: None, hits=parse_hit_condition(text))
    assert check is not None
    for hit in range(1, 7):  # noqa: B007 - read by the lambda
        check(code, 1)
    assert stopped == acts


@each_case
async def test_debug_session_counts_for_an_adapter(text: str, acts: list[int]) -> None:
    async def evaluate(_expression: str) -> str:
        raise NotImplementedError

    judgements = [await judge(Emulated(hit_condition=text), hits=hit - 1, evaluate=evaluate) for hit in range(1, 7)]
    assert [judgement.hits for judgement in judgements if judgement.stop] == acts


@each_mistake
def test_mistake_is_refused_by_the_engine(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number, as in 5, == 5, != 5"):
        parse_hit_condition(text)
    if text:  # no condition at all is none for a breakpoint
        with pytest.raises(RequestRefused, match="expected a number"):
            BreakpointCondition(None, text, None)


@each_mistake
def test_mistake_is_refused_by_a_debug_session(text: str) -> None:
    with pytest.raises(WrongHitCondition, match="expected a number, as in 5, == 5, != 5"):
        check_hit_condition(text)
