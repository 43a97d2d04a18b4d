"""Which line assigned to a variable last, as far as the text says it."""

import pytest

from dapkit.agent.reading.suspicion import line_assigned


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("a = 1", "a"),
        ("b: int = 2", "b"),
        ("c += 1", "c"),
        ("for d, e in rows:", "d"),
        ("for d, e in rows:", "e"),
        ("with open(path) as f:", "f"),
        ("g.size = 1", "g"),
        ("h[1] = 2", "h"),
        ("i.append(3)", "i"),
        ("k, m = 1, 2", "m"),
        ("int *p = 0;", "p"),
        ("for (int q = 0; q < 3; q++)", "q"),
        ("let r = 1;", "r"),
        ("s := make([]int, 3)", "s"),
        ("t++;", "t"),
    ],
)
def test_assignment_is_seen(line: str, name: str) -> None:
    assert line_assigned(name, ["", line, "", "use"], 4) == 2


@pytest.mark.parametrize("line", ["if a == 1:", "call(a=1)", "print(a)", "other.a = 1", "b = a", "ba = 1", "# a"])
def test_other_uses_are_no_assignments(line: str) -> None:
    assert line_assigned("a", [line, "use"], 2) == 0


def test_only_lines_above_count_and_those_near() -> None:
    assert line_assigned("a", ["use", "a = 1"], 1) == 0
    assert line_assigned("a", ["a = 1", *[""] * 200, "use"], 202) == 0
