"""JSON as editors write it."""

import pytest

from dapkit.catalog.launch_json.file import read_json


def test_comments_and_last_commas_are_left_out() -> None:
    text = """\ufeff{
        // a line, with "quotes" and a comma,
        "a": [1, 2, /* between */ 3, ], /* over
        two lines */
        "b": {"c": null, // last
        },
    }"""
    assert read_json(text) == {"a": [1, 2, 3], "b": {"c": None}}


def test_texts_stay_as_they_are() -> None:
    text = r'{"a": "http://x/*y*/,]", "b": "\"//,}", "c": "\\"}'
    assert read_json(text) == {"a": "http://x/*y*/,]", "b": '"//,}', "c": "\\"}


def test_error_names_the_place_in_the_file() -> None:
    with pytest.raises(ValueError, match=r"line 3, column 5: Expecting value"):
        read_json('{ /* one\ntwo */ "a":\n  [ }')


@pytest.mark.parametrize("text", ["", "[1 2]", '{"a" 1}', "/*", '"\n"', "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line \d+, column \d+|too deeply"):
        read_json(text)
