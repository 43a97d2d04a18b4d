"""Conditions in C mean what they mean in Python."""

import ast
import gc
import itertools
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dapkit.python.debuggee.breakpoints.condition_compiler import tree_of
from unit.native.frames import NAMES, by_python, natively


class Odd:
    """An object whose comparisons, truth and length may be anything, or raise."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.real = answer

    def _reply(self) -> object:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def __eq__(self, other: object) -> object:  # type: ignore[override]  # that is what is odd about it
        return self._reply()

    __lt__ = __contains__ = __getitem__ = __add__ = __eq__

    def __bool__(self) -> bool:
        return self._reply() in (1, "x")

    def __len__(self) -> int:
        return self._reply()  # type: ignore[return-value]  # may be no length at all

    __hash__ = None  # type: ignore[assignment]  # not hashable, either

    def __repr__(self) -> str:
        return f"Odd({self.answer!r})"


SCALARS = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text("xy", max_size=3),
    st.binary(max_size=2),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(st.integers(-3, 3), max_size=3),
    st.tuples(st.integers(-1, 1), st.text("x", max_size=1)),
    st.dictionaries(st.sampled_from([0, 1, "x"]), st.integers(-3, 3)),
    st.sampled_from([1, "x", 0, None, ValueError("odd")]).map(Odd),
    st.just(math.nan),
)
FRAMES = st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES))

LEAVES = st.one_of(
    st.sampled_from([*NAMES, "u", "nowhere"]),
    st.integers(-3, 3).map(repr),
    st.sampled_from(["None", "True", "1.5", "'x'", "b'x'", "(0, 1)", "...", "1j", "-1.5", "''"]),
)
BINARIES = st.sampled_from(["+", "-", "*", "/", "//", "%", "&", "|", "^", "@"])
COMPARISONS = st.sampled_from(["<", "<=", "==", "!=", ">", ">=", "in", "not in"])
IDENTITIES = st.builds(
    "{} {} {}".format, st.sampled_from(NAMES), st.sampled_from(["is", "is not"]), st.sampled_from([*NAMES, "None"])
)


def _larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, smaller, COMPARISONS, smaller),
        st.builds("({} {} {} {} {})".format, smaller, COMPARISONS, LEAVES, COMPARISONS, smaller),
        st.builds("({} {} {})".format, smaller, st.sampled_from(["and", "or"]), smaller),
        st.builds("({} or {} or {})".format, smaller, smaller, smaller),
        st.builds("(not {})".format, smaller),
        st.builds("({}{})".format, st.sampled_from(["-", "+", "~"]), smaller),
        st.builds("({} {} {})".format, smaller, BINARIES, smaller),
        st.builds("({}).real".format, smaller),
        st.builds("({})[{}]".format, smaller, smaller),
        st.builds("({} if {} else {})".format, smaller, smaller, smaller),
        st.builds("len({})".format, smaller),
        st.builds("isinstance({}, int)".format, smaller),
        st.builds("str({}).startswith({})".format, smaller, smaller),
        st.builds("({} in [1, 'x', (2, 3)])".format, smaller),
        st.builds("({} not in {{1, 'x', None}})".format, smaller),
    )


CONDITIONS = st.recursive(st.one_of(LEAVES, IDENTITIES), _larger, max_leaves=8)


@pytest.mark.thorough
@settings(settings.get_profile("native"))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # 1 is 1, 'x'(): legal, if not wise
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ~True
@given(condition=CONDITIONS, values=FRAMES)
def test_condition_of_a_supported_form_comes_to_the_same_as_in_python(
    condition: str, values: dict[str, object]
) -> None:
    assert natively(condition, values) in (by_python(condition, values), None)


VALUES_AT_HAND: dict[str, object] = {"a": 3, "b": "text", "c": [1, 2], "d": {"k": 5}, "g": 1.5, "h": None}


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("a == 3", "true"),
        ("a == -3", "false"),
        ("0 < a <= 3", "true"),
        ("0 < a < 3", "false"),
        ("c[1] == 2 and d['k'] > 4", "true"),
        ("g % 1 or h", "true"),
        ("h or not a", "false"),
        ("h is None", "true"),
        ("b is not None", "true"),
        ("'ex' in b", "true"),
        ("'z' not in b", "true"),
        ("b.startswith('te') and len(c) == 2", "true"),
        ("max(a, 7) == 7", "true"),
        ("a in (1, 2, 3)", "true"),
        ("(a if h else g) == 1.5", "true"),
        ("u == 1", "raised"),
        ("nowhere", "raised"),
        ("b > a", "raised"),
        ("b.missing", "raised"),
        ("c[9]", "raised"),
        ("len(a)", "raised"),
        ("h", "false"),
        ("__name__ == 'builtins'", "true"),
    ],
)
def test_conditions_of_each_form(condition: str, outcome: str) -> None:
    assert natively(condition, VALUES_AT_HAND) == outcome == by_python(condition, VALUES_AT_HAND)


@pytest.mark.parametrize(
    "condition",
    [
        "any(x for x in c)",
        "[x for x in c]",
        "lambda: 1",
        "f'{a}' == '3'",
        "(n := a) == 3",
        "c[0:1]",
        "max(*c)",
        "sorted(c, key=None)",
        "[a, b]",
        "a ** 2",
        "0 < len(c) < 3",
        "locals()",
        "eval('a')",
        "a in [a]",
        "-" * 60 + "a",
        "max(1, 2, 3, 4, 5, 6, 7, 8, 9)",
    ],
)
def test_condition_that_is_not_simple_is_left_to_python(condition: str) -> None:
    assert natively(condition, VALUES_AT_HAND) is None


@pytest.mark.parametrize("condition", ["a is 1.5", "(a, 1) is not b", "'x' is b", "a is (b or 1)"])
def test_identity_of_literals_is_left_to_python(condition: str) -> None:
    parsed = ast.parse(condition, mode="eval").body
    assert tree_of(parsed, sys._getframe().f_code) is None


class Whole(int):
    """An int whose comparisons say the opposite."""

    def __eq__(self, other: object) -> bool:
        return int(self) != other

    def __lt__(self, other: int) -> bool:
        return int(self) >= other

    __hash__ = int.__hash__


NUMBERS = (0, -1, 2**63 - 1, -(2**63), 2**63)
COMPARED = (*NUMBERS, 1, -(2**63) - 1, True, False, -0.5, math.nan, None, "x", Whole(0), Whole(1), Odd("x"), Odd(0))


@pytest.mark.parametrize("comparison", ["<", "<=", "==", "!=", ">", ">="])
@pytest.mark.parametrize("variable", ["a", "c"], ids=["local", "in a cell"])
def test_variable_compared_with_a_number_is_what_it_is_in_python(comparison: str, variable: str) -> None:
    for number, value in itertools.product(NUMBERS, COMPARED):
        condition, frame = f"{variable} {comparison} {number}", VALUES_AT_HAND | {variable: value}
        assert natively(condition, frame) == by_python(condition, frame), (number, value)


def test_nan_is_not_equal_to_itself() -> None:
    values = VALUES_AT_HAND | {"a": math.nan}
    assert natively("a == a", values) == "false"
    assert natively("a in [1]", values) == "false"


@pytest.mark.thorough
def test_evaluating_a_condition_leaves_no_reference_behind() -> None:
    value = ["something"]
    values = VALUES_AT_HAND | {"a": value, "g": value}
    conditions = [
        "a == 0", "a is g", "a and g and h", "a or g", "not a", "g[0] == 'x'", "len(a) + 1 == 3", "a < 0", "0 in a",
        "g.missing", "a if g else 0", "str(a).startswith(a)", "-a", "u == a", "(a or g)[0]", "(a and g)[5]",
    ]  # fmt: skip
    for condition in conditions:
        natively(condition, values)
    gc.collect()
    before = sys.getrefcount(value)
    for condition in conditions:
        for _ in range(5):
            natively(condition, values)
    gc.collect()
    assert sys.getrefcount(value) == before
