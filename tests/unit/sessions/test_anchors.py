"""Where breakpoints belong in texts, and where they go when these are edited."""

import pytest

from dapkit.sessions.breakpoints.anchors import find_text, follow_line
from dapkit.sessions.errors import Misplaced

LINES = ["def add(a, b):", "    total = a + b", "    return total", "", "print(total)", "print(total)"]


def test_part_of_a_line_is_enough() -> None:
    assert find_text("a + b", LINES, near=None, name="f").line == 2


def test_blanks_do_not_matter() -> None:
    assert find_text("  total =  a +\tb", LINES, near=None, name="f").line == 2


def test_whole_line_goes_before_parts_of_others() -> None:
    assert find_text("total", ["x = total", "total"], near=None, name="f").line == 2


def test_text_on_several_lines_is_refused_with_their_numbers() -> None:
    with pytest.raises(Misplaced, match=r"f has 'print' on 2 lines: 5, 6\. Give more of the line"):
        find_text("print", LINES, near=None, name="f")


def test_nearest_of_several_lines_is_taken_and_this_is_said() -> None:
    anchor = find_text("print", LINES, near=9, name="f")
    assert anchor.line == 6
    assert anchor.remark == "the text is on lines 5 too; line 6 is the nearest to 9"


def test_text_that_is_nowhere_is_refused_with_what_is_similar() -> None:
    with pytest.raises(Misplaced, match="The most similar is line 3: 'return total'"):
        find_text("return totals", LINES, near=None, name="f")


def test_empty_text_is_refused() -> None:
    with pytest.raises(Misplaced, match="is empty"):
        find_text("  ", LINES, near=None, name="f")


def test_line_of_an_unchanged_text_stays() -> None:
    anchor = follow_line(3, LINES, list(LINES))
    assert (anchor.line, anchor.remark) == (3, None)


def test_line_follows_what_was_put_before_it() -> None:
    anchor = follow_line(3, LINES, ["# new", "# lines", *LINES])
    assert (anchor.line, anchor.remark) == (5, "moved from line 3 to 5: the file was edited")


def test_line_that_was_itself_edited_asks_to_be_checked() -> None:
    anchor = follow_line(2, LINES, [LINES[0], "    total = b + a", *LINES[2:]])
    assert anchor.line == 2
    assert anchor.remark is not None
    assert "edited or removed" in anchor.remark


def test_line_that_was_removed_goes_to_what_is_there_now() -> None:
    anchor = follow_line(6, LINES, LINES[:4])
    assert anchor.line == 4
    assert anchor.remark is not None


def test_line_beyond_the_end_stays_and_says_so() -> None:
    anchor = follow_line(50, LINES, LINES[:2])
    assert (anchor.line, anchor.remark) == (50, "line 50 is beyond the end of the file, which has 2 lines")
