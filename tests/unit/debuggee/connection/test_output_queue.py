"""Log messages on their way to the client."""

from dapkit.python.debuggee import limits
from dapkit.python.debuggee.connection.output_queue import OutputQueue


def test_neighbours_of_one_place_become_one_event_if_they_are_many() -> None:
    remarks = OutputQueue()
    for text, line in (*(("a\n", 1),) * limits.REMARKS_APART, ("c\n", 2), ("d\n", 1)):
        remarks.add(text, {"category": "console", "line": line})
    assert remarks.take() == [
        {"category": "console", "line": 1, "output": "a\n" * limits.REMARKS_APART},
        {"category": "console", "line": 2, "output": "c\n"},
        {"category": "console", "line": 1, "output": "d\n"},
    ]
    assert not remarks
    assert remarks.take() == []


def test_few_lines_are_an_event_each_whose_place_an_editor_links_to_and_pieces_of_one_are_not() -> None:
    remarks = OutputQueue()
    for text in ("a", " b", "\n", "c\n"):
        remarks.add(text, {"line": 1})
    assert remarks.take() == [{"line": 1, "output": "a b\n"}, {"line": 1, "output": "c\n"}]


def test_much_text_is_not_joined_into_one_event() -> None:
    remarks = OutputQueue()
    piece = "x" * (limits.REMARK_CHARS // 2)
    assert [remarks.add(piece, {}) for _ in range(8)] == list(range(1, 9))
    bodies = remarks.take()
    assert len(bodies) > 1
    assert "".join(str(body["output"]) for body in bodies) == piece * 8
