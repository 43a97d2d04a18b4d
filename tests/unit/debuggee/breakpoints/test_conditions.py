"""What may stand in a condition, a hit condition and a log message."""

import pytest

from dapkit.python.debuggee.breakpoints.conditions import BreakpointCondition, split_log_message
from dapkit.python.debuggee.expressions.syntax import names_in, parse_expression
from dapkit.python.debuggee.interpreter.errors import RequestRefused


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", [(False, "plain")]),
        ("", []),
        ("{x}", [(True, "x")]),
        ("a {x!r:>10} b", [(False, "a "), (True, "x!r:>10"), (False, " b")]),
        ("{{x}} {y}", [(False, "{x} "), (True, "y")]),
        ("{ {1: 2}[1] }", [(True, " {1: 2}[1] ")]),
        ("{d['}']}", [(True, "d['}']")]),
        ("{f'{x}'}{y}", [(True, "f'{x}'"), (True, "y")]),
        ("100 } alone", [(False, "100 } alone")]),
    ],
)
def test_log_message_is_split_at_its_expressions(text: str, parts: list[tuple[bool, str]]) -> None:
    assert split_log_message(text) == parts


@pytest.mark.parametrize("text", ["{", "{x", "{}", "{x y}", "{1 +}"])
def test_log_message_with_a_broken_expression_is_refused(text: str) -> None:
    with pytest.raises(RequestRefused, match="log message"):
        split_log_message(text)


def test_names_are_told_apart_from_those_that_an_expression_binds() -> None:
    read, bound = names_in(parse_expression("a.b + [c for c in d if (e := c)] + (lambda f: f + g)(1)", "condition"))
    assert read == {"a", "c", "d", "f", "g"}
    assert bound == {"c", "e", "f"}


def test_error_of_an_expression_tells_its_place() -> None:
    with pytest.raises(RequestRefused, match=r"condition 'a b': invalid syntax \(column 3\)"):
        parse_expression("a b", "condition")


def test_hits_are_counted_per_breakpoint() -> None:
    first, second = BreakpointCondition(None, "2", None), BreakpointCondition(None, "2", None)
    assert [first.next_hit(), first.next_hit(), second.next_hit()] == [1, 2, 1]
