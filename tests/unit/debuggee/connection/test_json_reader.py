"""JSON as the engine reads it, beside the standard library's."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapkit.python.debuggee.connection.json_reader import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_json_of_the_standard_library_is_read_as_there(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert read_json(text) == json.loads(text)
    assert read_json(f" \r\n\t{text} ") == json.loads(text)


def test_numbers_that_are_not_finite_are_read() -> None:
    assert read_json("[Infinity, -Infinity]") == [math.inf, -math.inf]
    assert str(read_json("NaN")) == "nan"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected a value at index 0, found the end"),
        ("{", "expected a name in quotes at index 1, found the end"),
        ('{"a" 1}', "expected ':' at index 5, found '1'"),
        ('{"a": 1', "expected ',' or '}' at index 7, found the end"),
        ('{"a": 1,}', "expected a name in quotes at index 8, found '}'"),
        ("[1 2]", "expected ',' or ']' at index 3, found '2'"),
        ("[1,]", "expected a value at index 3, found ']'"),
        ("+1", "expected a value at index 0, found '+'"),
        ("nul", "expected a value at index 0, found 'n'"),
        ("{} {}", "expected the end at index 3, found '{'"),
        ("\0", "expected a value at index 0, found '\\x00'"),
    ],
)
def test_other_text_is_an_error_that_names_the_place(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the text is compared below
        read_json(text)
    assert str(error.value) == complaint


@pytest.mark.parametrize("text", ['"abc', '"\\x"', "1e", "-", "--1", "1.2.3", '{"a": "b'])
def test_what_only_looks_like_a_value_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
