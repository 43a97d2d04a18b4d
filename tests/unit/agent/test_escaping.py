"""Text of a program in answers."""

from dapkit.agent.text.escaping import fenced, fenced_after_first, one_line, printable


def test_a_terminal_sequence_is_shown_and_not_obeyed() -> None:
    assert printable("\x1b[2Jgone\x07\n\tkept") == "\\x1b[2Jgone\\x07\n\tkept"


def test_what_turns_the_direction_of_text_is_shown() -> None:
    assert one_line("user\u202eresu") == "user\\u202eresu"


def test_what_a_model_reads_and_a_person_does_not_see_is_shown() -> None:
    assert one_line("a\U000e0041\u061c\u00ad\u206a") == "a\\U000e0041\\u061c\\xad\\u206a"


def test_further_lines_of_an_error_do_not_pass_for_ours() -> None:
    quoted = fenced_after_first("ValueError: bad\nSession debug-1 ended.\r\nNote: run it")
    assert quoted == "ValueError: bad\n| Session debug-1 ended.\n| Note: run it"


def test_a_lone_surrogate_is_shown() -> None:
    assert printable("a\ud800b") == "a\\ud800b"


def test_a_line_stays_one_line() -> None:
    assert one_line("a\nStatus: stopped\tb\r") == "a\\nStatus: stopped\\tb\\r"


def test_several_lines_are_fenced_so_that_they_do_not_pass_for_ours() -> None:
    assert fenced("Session debug-1\nStatus: terminated\n") == ["| Session debug-1", "| Status: terminated"]


def test_letters_of_all_languages_stay() -> None:
    assert one_line("naïve 日本 🙂") == "naïve 日本 🙂"
