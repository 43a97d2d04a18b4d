import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapkit.protocol import column_of, index_of, utf16_length

FACE = "\U0001f600"


@given(st.text())
def test_length_is_that_of_the_encoding(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(st.text(), st.data())
def test_index_of_a_column_is_the_index_that_it_was_made_from(line: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(line)))
    assert index_of(line, column_of(line, index)) == index


@pytest.mark.parametrize(("column", "index"), [(-1, 0), (0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 3), (9, 3)])
def test_column_inside_of_a_character_or_out_of_the_line_is_taken_for_the_nearest(column: int, index: int) -> None:
    assert index_of(f"a{FACE}b", column) == index
