"""Log messages on their way to the client."""

from dapkit.python.debuggee.connection.framing import Json
from dapkit.python.debuggee.connection.link import OutputQueue
from dapkit.python.debuggee.connection.output_marks import OutputMarks, position_of
from dapkit.python.debuggee.interpreter import limits


def add(remarks: OutputQueue, text: str, place: Json) -> int:
    """Add a message that belongs nowhere; return how many wait."""
    return OutputMarks().add(remarks.messages, text, place)


def test_neighbours_of_one_place_become_one_event_if_they_are_many() -> None:
    remarks = OutputQueue()
    for text, line in (*(("a\n", 1),) * limits.REMARKS_APART, ("c\n", 2), ("d\n", 1)):
        add(remarks, text, {"category": "console", "line": line})
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
        add(remarks, text, {"line": 1})
    assert remarks.take() == [{"line": 1, "output": "a b\n"}, {"line": 1, "output": "c\n"}]


def test_much_text_is_not_joined_into_one_event() -> None:
    remarks = OutputQueue()
    piece = "x" * (limits.REMARK_CHARS // 2)
    assert [add(remarks, piece, {}) for _ in range(8)] == list(range(1, 9))
    bodies = remarks.take()
    assert len(bodies) > 1
    assert "".join(str(body["output"]) for body in bodies) == piece * 8


def test_messages_with_nothing_of_the_program_between_them_have_one_position_that_of_the_last() -> None:
    remarks = OutputQueue()
    positions = [(1, 0, 0), (2, 0, 0), (3, 3, 0), (4, 3, 0), (5, 3, 0), (6, 3, 6)]
    remarks.messages += [(f"{position[0]} ", {}, *position) for position in positions]
    [body] = remarks.take()
    assert body["output"] == "".join(
        (position_of(2, 0, 0), "1 2 ", position_of(5, 3, 0), "3 4 5 ", position_of(6, 3, 6), "6 ")
    )


def test_each_event_has_a_position() -> None:
    remarks = OutputQueue()
    remarks.messages += [("a\n", {"line": 1}, 1, 0, 0), ("b\n", {"line": 2}, 2, 0, 0)]
    assert [body["output"] for body in remarks.take()] == [f"{position_of(1, 0, 0)}a\n", f"{position_of(2, 0, 0)}b\n"]
