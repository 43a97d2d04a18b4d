"""Log messages on their way to the client."""

from dapkit.python.debuggee import limits
from dapkit.python.debuggee.connection.output_queue import OutputQueue


def test_neighbours_of_one_place_become_one_event() -> None:
    remarks = OutputQueue()
    for text, line in (("a\n", 1), ("b\n", 1), ("c\n", 2), ("d\n", 1)):
        remarks.add(text, {"category": "console", "line": line})
    assert remarks.take() == [
        {"category": "console", "line": 1, "output": "a\nb\n"},
        {"category": "console", "line": 2, "output": "c\n"},
        {"category": "console", "line": 1, "output": "d\n"},
    ]
    assert not remarks
    assert remarks.take() == []


def test_much_text_is_not_joined_into_one_event() -> None:
    remarks = OutputQueue()
    piece = "x" * (limits.REMARK_CHARS // 2)
    assert [remarks.add(piece, {}) for _ in range(8)] == list(range(1, 9))
    bodies = remarks.take()
    assert len(bodies) > 1
    assert "".join(str(body["output"]) for body in bodies) == piece * 8
