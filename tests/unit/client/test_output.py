"""Text by category: bounded, in order, with positions."""

from dapkit.client import OutputText, TextLog


def test_reader_gets_what_came_since_its_position() -> None:
    log = TextLog()
    log.append("one\n", "stdout")
    first = log.read()
    log.append("two\n", "stdout")
    assert first == OutputText("one\n", 4)
    assert log.read(since=first.end) == OutputText("two\n", 8)


def test_categories_are_kept_apart_and_read_together_in_order() -> None:
    log = TextLog()
    for text, category in (("a", "stdout"), ("b", "stderr"), ("c", "stdout")):
        log.append(text, category)
    assert log.read("stdout").text == "ac"
    assert log.read().text == "abc"
    assert log.categories == ("stdout", "stderr")


def test_flood_of_one_category_pushes_no_other_out() -> None:
    log = TextLog(limit=4)
    log.append("oh", "stderr")
    for piece in ("1234", "56", "789"):
        log.append(piece, "stdout")
    assert log.read("stdout") == OutputText("6789", 11, lost=5)
    assert log.read("stderr") == OutputText("oh", 11)
    assert log.read("stdout", since=7) == OutputText("6789", 11)


def test_piece_longer_than_the_limit_keeps_its_end() -> None:
    log = TextLog(limit=4)
    log.append("0123456789", "stdout")
    assert log.read() == OutputText("6789", 10, lost=6)


def test_position_inside_a_piece_reads_the_rest_of_it() -> None:
    log = TextLog()
    log.append("hello", "stdout")
    assert log.read(since=2).text == "llo"


def test_pieces_of_several_categories_are_in_the_order_in_which_they_came() -> None:
    log = TextLog(limit=3)
    log.append("abcd", "stdout")
    log.append("ef", "stderr")
    log.append("g", "stdout")
    assert list(log.pieces()) == [(2, "cd"), (4, "ef"), (6, "g")]
    assert list(log.pieces("stderr")) == [(4, "ef")]
