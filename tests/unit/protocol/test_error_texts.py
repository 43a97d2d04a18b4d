"""A text as a structured error: what a client shows is the text, whatever is in it."""

import pytest

from dapkit.protocol import Message, error_message, error_text


@pytest.mark.parametrize("text", ["no such thread", "'{' was never closed", "{1}: {text}", "{text}", "}{", "{}", ""])
def test_text_comes_out_as_it_went_in(text: str) -> None:
    assert error_text(error_message(text)) == text


def test_text_without_holes_is_its_own_format() -> None:
    assert error_message("no } here") == Message(id=1, format="no } here")


def test_text_with_holes_is_a_value_and_no_format() -> None:
    text = "'{' was never closed"
    assert error_message(text, show_user=True) == Message(
        id=1, format="{text}", variables={"text": text}, show_user=True
    )


def test_holes_are_filled_once_and_those_without_a_value_stay() -> None:
    variables = {"what": "{which}", "which": "x"}
    assert error_text(Message(id=1, format="no {what} in {where}", variables=variables)) == "no {which} in {where}"
