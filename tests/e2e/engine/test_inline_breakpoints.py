"""Breakpoints within lines, once-only ones, pending ones, and where breakpoints can be set."""

import zipfile
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

ROW = """
def f(x): return x + 1
def g(x): return x * 2
a = 1; b = 2; c = f(g(a)) + f(b)
é = "ü😀"; d = f(c)
squares = [f(n) for n in range(3) if n]
later = lambda q: f(q) + g(q)
later(4)
print(a, b, c, d, squares)
"""


def locations(peer: EngineClient, line: int, **more: object) -> list[tuple[int, int]]:
    source = {"path": str(peer.folder / "prog.py")}
    found = peer.ask("breakpointLocations", source=source, line=line, **more)["breakpoints"]
    return [(one["line"], one["column"]) for one in found]


def stops(peer: EngineClient, count: int) -> list[tuple[tuple[str, int], list[int]]]:
    seen = []
    for _ in range(count):
        body = peer.stopped("breakpoint")
        seen.append((peer.at(), body["hitBreakpointIds"]))
        peer.go()
    return seen


@pytest.mark.row("breakpointLocations")
def test_locations_are_statements_and_inline_positions_with_columns_in_utf_16(start: Start) -> None:
    peer = start(ROW)
    peer.configure(lines=[8])
    peer.stopped()
    assert locations(peer, 3) == [(3, 1), (3, 8), (3, 15), (3, 21), (3, 29)]
    assert locations(peer, 4) == [(4, 1), (4, 12)]
    assert locations(peer, 5) == [(5, 1), (5, 12), (5, 38)]
    assert locations(peer, 6) == [(6, 1), (6, 19), (6, 26)]
    assert locations(peer, 3, column=10, endLine=4, endColumn=5) == [(3, 15), (3, 21), (3, 29), (4, 1)]
    assert locations(peer, 99) == []
    [whole] = peer.ask("breakpointLocations", source={"path": str(peer.folder / "prog.py")}, line=8)["breakpoints"]
    assert whole == {"line": 8, "column": 1, "endLine": 8, "endColumn": 27}


def test_locations_of_what_cannot_be_read_are_refused_with_the_reason(start: Start) -> None:
    peer = start(ROW)
    peer.configure(lines=[8])
    for source, line, said in (
        ({"path": str(peer.folder / "gone.py")}, 1, "cannot be read"),
        ({}, 1, r"needs source\.path"),
        ({"path": str(peer.folder / "prog.py")}, None, "needs a line"),
        ({"path": str(peer.folder / "prog.py")}, "x", "expected a number"),
    ):
        with pytest.raises(Refused, match=said):
            peer.ask("breakpointLocations", source=source, line=line)


@pytest.mark.row("setBreakpoints")
def test_several_inline_breakpoints_stop_in_the_order_of_execution(start: Start) -> None:
    peer = start(ROW)
    placed = peer.configure(breakpoints=[{"line": 3, "column": column} for column in (8, 15, 21, 29)])
    assert [(one["verified"], one["line"], one["column"]) for one in placed] == [
        (True, 3, column) for column in (8, 15, 21, 29)
    ]
    seen = []
    for _ in range(4):
        body = peer.stopped("breakpoint")
        seen.append((body["hitBreakpointIds"][0], sorted({"a", "b", "c"} & set(peer.locals()))))
        peer.go()
    ids = [one["id"] for one in placed]
    assert seen == [(ids[0], ["a"]), (ids[1], ["a", "b"]), (ids[2], ["a", "b"]), (ids[3], ["a", "b"])]
    assert peer.finish()[:2] == (0, "1 2 6 7 [2, 3]\n")


STATEMENTS = """
def f(x):
    a = x
    b = a
    c = [
        -g(a),
    ]
    return a, b, c
def g(x): return x
for i in range(2):
    f(i)
print(i)
"""


@pytest.mark.row("setBreakpoints")
def test_column_where_a_line_begins_means_the_line_and_is_hit_after_a_stop_in_the_same_call(start: Start) -> None:
    peer = start(STATEMENTS)
    placed = peer.configure(
        breakpoints=[
            {"line": 2},
            {"line": 3, "column": 5},
            {"line": 5, "column": 10},
            {"line": 7, "column": 1, "logMessage": "{x}"},
        ]
    )
    assert [(one["line"], one.get("column")) for one in placed] == [(2, None), (3, 5), (5, 10), (7, 5)]
    seen = []
    for _ in range(6):
        body = peer.stopped("breakpoint")
        frame = peer.stack()[0]
        seen.append((frame["line"], frame["column"], body["hitBreakpointIds"]))
        peer.go()
    once = [(2, 1, [placed[0]["id"]]), (3, 5, [placed[1]["id"]]), (5, 10, [placed[2]["id"]])]
    assert seen == [*once, *once]
    assert peer.finish()[:2] == (0, "1\n")
    assert [one["body"]["output"] for one in peer.events() if one["event"] == "output"] == ["0\n", "1\n"]


def test_step_onto_a_line_with_a_breakpoint_where_it_begins_stops_there_once(start: Start) -> None:
    peer = start(STATEMENTS)
    peer.configure(breakpoints=[{"line": 2}, {"line": 3, "column": 5}, {"line": 3}, {"line": 5, "column": 10}])
    peer.stopped("breakpoint")
    seen = []
    for _ in range(4):
        peer.ask("next", threadId=1)
        body = peer.stopped()
        seen.append((body["reason"], peer.at()[1], len(body.get("hitBreakpointIds", ()))))
    assert seen == [("breakpoint", 3, 2), ("breakpoint", 5, 1), ("step", 4, 0), ("step", 7, 0)]


def test_instruction_breakpoint_where_a_line_begins_is_hit_after_a_stop_in_the_same_call(start: Start) -> None:
    peer = start(STATEMENTS)
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    address = peer.stack()[0]["instructionPointerReference"]
    source = {"path": str(peer.folder / "prog.py")}
    [at_line] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 2}])["breakpoints"]
    [at] = peer.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": address}])["breakpoints"]
    peer.go()
    hits: list[tuple[str, int, list[int]]] = []
    while len(hits) < 2:
        body = peer.stopped()
        if hits or body["hitBreakpointIds"] == [at_line["id"]]:
            hits.append((body["reason"], peer.at()[1], body["hitBreakpointIds"]))
        peer.go()
    assert hits == [("breakpoint", 2, [at_line["id"]]), ("instruction breakpoint", 3, [at["id"]])]


def test_inline_breakpoint_in_a_lambda_and_a_comprehension_with_conditions(start: Start) -> None:
    peer = start(ROW)
    peer.configure(
        breakpoints=[
            {"line": 5, "column": 12, "condition": "n == 2"},
            {"line": 6, "column": 26, "logMessage": "q is {q}"},
            {"line": 6, "column": 19, "hitCondition": "1"},
        ]
    )
    peer.stopped("breakpoint")
    assert peer.value("n") == "2"
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("<lambda>", 6)
    peer.go()
    assert peer.finish()[0] == 0
    assert [one["body"]["output"] for one in peer.events() if one["event"] == "output"] == ["q is 4\n"]


def test_column_between_positions_means_the_one_before_it(start: Start) -> None:
    peer = start(ROW)
    placed = peer.configure(breakpoints=[{"line": 3, "column": 10}, {"line": 3, "column": 0}])
    assert (placed[0]["verified"], placed[0]["column"]) == (True, 8)
    assert (placed[1]["verified"], placed[1]["message"]) == (
        False,
        "breakpoint column is 0, expected a number from 1 on",
    )


def test_inline_breakpoint_in_a_finally_block_stops_whichever_way_it_is_reached(start: Start) -> None:
    peer = start(
        """
        def f(x):
            try:
                return 1 // x
            finally:
                a = 1; b = 2
        f(1)
        try:
            f(0)
        except ZeroDivisionError:
            pass
        """
    )
    peer.configure(breakpoints=[{"line": 5, "column": 16}])
    for value in ("1", "0"):
        peer.stopped("breakpoint")
        assert peer.value("x") == value
        peer.go()
    assert peer.finish()[0] == 0


def test_breakpoint_of_mode_once_stops_once_and_is_removed(start: Start) -> None:
    peer = start(
        """
        for i in range(5):
            x = i; y = i
        """
    )
    placed = peer.configure(
        breakpoints=[
            {"line": 2, "mode": "once", "condition": "i > 1"},
            {"line": 2, "column": 12, "mode": "once", "logMessage": "{i}"},
            {"line": 2, "mode": "sometimes"},
        ]
    )
    assert placed[2]["message"] == "mode 'sometimes' is unknown; there is once"
    peer.stopped("breakpoint")
    assert peer.value("i") == "2"
    peer.go()
    assert peer.finish()[0] == 0
    removed = [one["body"] for one in peer.events() if one["event"] == "breakpoint"]
    assert [(one["reason"], one["breakpoint"]["id"]) for one in removed] == [
        ("removed", placed[1]["id"]),
        ("removed", placed[0]["id"]),
    ]
    assert [one["body"]["output"] for one in peer.events() if one["event"] == "output"] == ["0\n"]


def test_breakpoint_in_a_file_that_is_not_there_yet_is_verified_when_it_is_loaded(start: Start) -> None:
    peer = start(
        """
        from pathlib import Path
        Path("made.py").write_text("def f():\\n\\n    x = 1; y = 2\\n    return x\\n")
        import made
        made.f()
        """
    )
    placed = peer.configure(path=peer.folder / "made.py", breakpoints=[{"line": 2}, {"line": 3, "column": 12}])
    assert [(one["verified"], one["reason"]) for one in placed] == [(False, "pending")] * 2
    assert "waits for code of that name" in placed[0]["message"]
    changed = [peer.event("breakpoint") for _ in range(2)]
    assert [(one["reason"], one["breakpoint"]["verified"], one["breakpoint"]["line"]) for one in changed] == [
        ("changed", True, 3)
    ] * 2
    assert changed[1]["breakpoint"]["column"] == 12
    assert [ids for _, ids in stops(peer, 2)] == [[placed[0]["id"]], [placed[1]["id"]]]
    assert peer.finish()[0] == 0


def test_breakpoint_in_a_module_of_an_archive_and_in_code_without_a_file(start: Start, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("packed.py", "def f():\n    return 1\n")
    peer = start(
        """
        import sys
        sys.path.insert(0, "lib.zip")
        import packed
        packed.f()
        exec(compile("a = 1\\nb = 2", "<made up>", "exec"))
        """
    )
    [packed] = peer.configure(path=tmp_path / "lib.zip" / "packed.py", lines=[2])
    assert packed["verified"] is True
    [made_up] = peer.ask("setBreakpoints", source={"path": "<made up>"}, breakpoints=[{"line": 2}])["breakpoints"]
    assert made_up["verified"] is False
    assert stops(peer, 2) == [(("f", 2), [packed["id"]]), (("<module>", 2), [made_up["id"]])]
    assert peer.finish()[0] == 0


def test_file_that_was_edited_after_it_was_loaded_is_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def f():\n    return 1\n")
    peer = start("import other\nother.f()\nother.f()\n")
    peer.configure(lines=[2])
    peer.stopped()
    source = {"path": str(tmp_path / "other.py")}
    [before] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 2}])["breakpoints"]
    assert "message" not in before
    (tmp_path / "other.py").write_text("# new\ndef f():\n    return 1\n")
    [after] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 2}])["breakpoints"]
    assert "the file was changed after the program loaded it" in after["message"]


def test_inline_breakpoints_cost_only_their_code_and_line_ones_go_on_working(start: Start) -> None:
    peer = start(
        """
        def f(n):
            a = n; b = n
            return a + b
        for n in range(3):
            f(n)
        """
    )
    message: Message = {"line": 2, "column": 12, "condition": "n == 1"}
    placed = peer.configure(breakpoints=[message, {"line": 3, "condition": "n == 1"}, {"line": 5, "hitCondition": "3"}])
    ids = [[one["id"]] for one in placed]
    assert stops(peer, 3) == [(("f", 2), ids[0]), (("f", 3), ids[1]), (("<module>", 5), ids[2])]
    assert peer.finish()[0] == 0


@pytest.mark.row("setBreakpoints")
def test_inline_breakpoint_outlives_the_coming_of_another_tool(start: Start) -> None:
    peer = start("""
        import sys
        def f(x): return x + 1
        def g(x): return f(f(x))
        g(1)
        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "coverage of functions")
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START)
        g(2)
    """)
    [placed] = peer.configure(breakpoints=[{"line": 3, "column": 20}])
    assert stops(peer, 2) == [(("g", 3), [placed["id"]])] * 2
