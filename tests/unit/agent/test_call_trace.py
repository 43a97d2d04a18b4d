"""The rows of a trace: what each line has changed, and which way the lines that decide went."""

import pytest

from dapkit.agent.reading.call_trace import TracePlace, TraceRows, with_branches
from dapkit.agent.results.trace import TraceRow

SOURCE = """\
if one:
    if two:
        a = 1
    else:

        a = 2
elif three:
    a = 3
b = 4
"""


def _rows(*numbers: int) -> list[TraceRow]:
    lines = SOURCE.splitlines()
    return [TraceRow(level=0, line=number, text=lines[number - 1]) for number in numbers]


@pytest.mark.parametrize(
    ("lines", "branches"),
    [
        ((1, 2, 3), [True, True, None]),
        ((1, 2, 6), [True, False, None]),
        ((1, 7, 8), [False, True, None]),
        ((1, 7, 9), [False, False, None]),
        ((1,), [None]),
    ],
)
def test_line_in_another_branch_is_not_taken_for_the_body(lines: tuple[int, ...], branches: list[bool | None]) -> None:
    rows = with_branches(_rows(*lines), "a.py", lambda _: SOURCE.splitlines())
    assert [row.branch for row in rows] == branches


def test_branch_is_not_known_without_the_lines_between() -> None:
    assert [row.branch for row in with_branches(_rows(1, 2, 6), "gone.py", lambda _: [])] == [True, None, None]
    assert [row.branch for row in with_branches(_rows(2, 6), None, lambda _: SOURCE.splitlines())] == [None, None]


def _place(line: int, level: int = 0, **values: str) -> TracePlace:
    shown = {name: (value, None) for name, value in values.items()}
    return TracePlace(
        level=level, line=line, text="", function="f", path="f.py", values=shown, arguments=(), returned=()
    )


def test_changes_belong_to_the_line_before_and_to_the_call_that_has_the_variables() -> None:
    trace = TraceRows(_place(1, a="1"))
    trace.go_to(_place(2, a="1", b="2"))
    trace.go_to(_place(11, level=1, a="9"))
    trace.go_to(_place(12, level=1, a="10"))
    trace.go_to(_place(2, a="1", b="3"))
    trace.end()
    changes = [(row.line, [(each.name, each.value) for each in row.changes or ()]) for row in trace.rows]
    assert changes == [
        (1, [("b", "2")]),
        (2, []),
        (11, []),  # the call
        (11, [("a", "10")]),
        (12, []),
        (0, [("b", "3")]),  # what the call has changed in its caller
        (2, []),
    ]


def _object(line: int, contents: str) -> TracePlace:
    values = {"order": ("0x10", contents)}
    return TracePlace(level=0, line=line, text="", function="f", path="f.c", values=values, arguments=())


@pytest.mark.parametrize(
    ("after", "changes"),
    [
        ('{a = 1, b = {2, 5}, note = "x, y"}', "{b = {2, 5}}"),
        ('{a = 2, b = {2, 3}, note = "z"}', '{a = 2, note = "z"}'),
        ("{a = 1}", "{a = 1}"),  # one is gone: the whole
    ],
)
def test_members_alone_are_shown_that_a_line_has_changed(after: str, changes: str) -> None:
    trace = TraceRows(_object(1, '{a = 1, b = {2, 3}, note = "x, y"}'))
    trace.go_to(_object(2, after))
    assert [row.contents for row in trace.rows[0].changes or ()] == [changes]
