"""The output of a program, cut where the actions of its session had ended."""

from types import SimpleNamespace
from typing import Any

from dapkit.agent.calls.program_output import written_lines
from dapkit.agent.queries.record import latest, output_between
from dapkit.client import TextLog
from dapkit.redaction.redaction import Redaction, TextKind


def test_each_action_gets_what_came_until_it_was_answered() -> None:
    assert output_between([4, 4, 8], [0, 4, 8], "one\ntwo\nthree\n") == ["one\n", "", "two\n", "three\n"]


def test_line_goes_to_where_it_began() -> None:
    assert output_between([6], [0, 10], "Name: Ada\nbye\n") == ["Name: Ada\n", "bye\n"]


def test_secret_that_came_in_two_parts_is_not_cut() -> None:
    shown = Redaction().text("password=hunter22\nok\n", TextKind.OUTPUT)
    assert output_between([12], [0, 18], shown) == ["password=[redacted]\n", "ok\n"]


def test_output_whose_secret_had_several_lines_is_shown_at_the_end() -> None:
    key = "a\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nb\n"
    shown = Redaction().text(key, TextKind.OUTPUT)
    assert output_between([2, 35], [0, 2, 30, 35, 61], shown) == ["", "", "a\n[redacted]\nb\n"]


def test_actions_before_all_that_is_kept_get_nothing() -> None:
    assert output_between([5, 10, 11], [10], "ab\n") == ["", "", "ab\n", ""]


def test_there_may_be_no_actions_or_no_output() -> None:
    assert output_between([], [0], "a\n") == ["a\n"]
    assert output_between([0, 0], [], "") == ["", "", ""]


def lines_of(*pieces: tuple[str, str]) -> list[tuple[int, str]]:
    session: Any = SimpleNamespace(output=TextLog())
    for text, category in pieces:
        session.output.append(text, category)
    return written_lines(session)


def test_lines_stay_whole_whatever_comes_meanwhile() -> None:
    pieces = [("password=hun", "stdout"), ("warning\n", "stderr"), ("ter22\nnext", "stdout"), ("hidden", "telemetry")]
    assert lines_of(*pieces) == [(0, "password=hunter22\n"), (12, "warning\n"), (26, "next")]


def test_line_that_has_not_ended_is_one_of_its_own() -> None:
    assert lines_of(("Name: ", "stdout"), ("warning\n", "stderr")) == [(0, "Name: \n"), (6, "warning\n")]
    assert lines_of() == []
    assert lines_of(("\n\r\n\u2028", "stdout")) == [(0, "\n"), (1, "\r\n"), (3, "\u2028")]


def test_latest_lines_are_kept() -> None:
    lines = [(0, "one\n"), (4, "two\n"), (8, "three\n")]
    assert latest(lines, 14) == lines
    assert latest(lines, 13) == lines[1:]
    assert latest(lines, 6) == lines[2:]
    assert latest(lines, 5) == []
