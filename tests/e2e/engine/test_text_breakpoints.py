"""Breakpoints, places to stop at and jumps in texts that are no files, known by their sourceReference."""

import zipfile
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

EXECUTED = """
    def stop(): pass
    first = "stop()\\ndef f():\\n    x = 1\\n    return x + len('ab')\\nf()\\n"
    second = "stop()\\ndef f():\\n    y = 2\\n    return y\\nf()\\n"
    exec(first)
    exec(second)
    exec(first)
    exec(second)
"""
"""Two texts that share the name <string>, and each runs twice."""


def source_below(peer: EngineClient) -> Message:
    """Return the source of the frame that has called the newest."""
    source: Message = peer.stack()[1]["source"]
    assert source["sourceReference"] > 0
    return source


def set_in(peer: EngineClient, source: Message, *wishes: Message) -> list[Message]:
    placed: list[Message] = peer.ask("setBreakpoints", source=source, breakpoints=list(wishes))["breakpoints"]
    return placed


def stops(peer: EngineClient, count: int) -> list[tuple[str, int, int]]:
    """Resume again and again; return function, line and source of each stop."""
    seen: list[tuple[str, int, int]] = []
    for _ in range(count):
        peer.go()
        peer.stopped("breakpoint")
        top = peer.stack()[0]
        seen.append((top["name"], top["line"], top["source"].get("sourceReference", 0)))
    return seen


@pytest.mark.row("setBreakpoints")
def test_breakpoint_in_one_executed_text_is_in_no_other_of_that_name(start: Start) -> None:
    peer = start(EXECUTED)
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    assert stops(peer, 1)[0][:2] == ("stop", 1)
    first = source_below(peer)
    assert stops(peer, 1)[0][:2] == ("stop", 1)
    second = source_below(peer)
    assert first["sourceReference"] != second["sourceReference"]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    [placed] = set_in(peer, second, {"line": 3})
    assert (placed["verified"], placed["line"]) == (True, 3)
    assert placed["source"]["sourceReference"] == second["sourceReference"]
    assert placed["source"]["path"] == "<string>"  # by which VS Code names a breakpoint
    [again] = set_in(peer, first, {"line": 4, "condition": "x == 1"})
    assert again["verified"] is True
    assert stops(peer, 3) == [
        ("f", 3, second["sourceReference"]),
        ("f", 4, first["sourceReference"]),
        ("f", 3, second["sourceReference"]),
    ]
    assert set_in(peer, first) == set_in(peer, second) == []
    peer.go()
    assert peer.finish()[0] == 0


@pytest.mark.row("setBreakpoints")
def test_breakpoint_at_a_column_of_an_executed_text_stops_there(start: Start) -> None:
    peer = start(EXECUTED)
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    stops(peer, 1)
    source = source_below(peer)
    [placed] = set_in(peer, source, {"line": 4, "column": 16})
    assert (placed["verified"], placed["line"], placed["column"]) == (True, 4, 16)
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("f", 4)
    assert peer.stack()[0]["column"] == 16


@pytest.mark.row("breakpointLocations")
def test_places_to_stop_at_are_those_of_the_very_text(start: Start) -> None:
    peer = start(EXECUTED)
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    stops(peer, 1)
    first = source_below(peer)
    stops(peer, 1)
    second = source_below(peer)
    columns = [
        [one["column"] for one in peer.ask("breakpointLocations", source=source, line=4)["breakpoints"]]
        for source in (first, second)
    ]
    assert columns == [[5, 16], [5]]


@pytest.mark.row("stepInTargets, gotoTargets, goto, restartFrame")
def test_thread_goes_to_another_line_of_an_executed_text(start: Start) -> None:
    peer = start(EXECUTED)
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    stops(peer, 1)
    source = source_below(peer)
    set_in(peer, source, {"line": 4})
    assert stops(peer, 1)[0][:2] == ("f", 4)
    [target] = peer.ask("gotoTargets", source=source, line=3)["targets"]
    peer.ask("goto", threadId=1, targetId=target["id"])
    peer.stopped("goto")
    assert peer.at() == ("f", 3)


@pytest.mark.row("setBreakpoints")
def test_breakpoints_in_a_listing_are_at_lines(start: Start) -> None:
    peer = start(
        """
        def stop(): pass
        made = compile("\\n".join(["def f():", "    stop()", "", "    return 5", "f()", "f()"]), "<made>", "exec")
        exec(made)
        """
    )
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    assert stops(peer, 1)[0][:2] == ("stop", 1)
    source = source_below(peer)
    assert source["origin"] == "only the bytecode is known"
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    locations = peer.ask("breakpointLocations", source=source, line=1, endLine=9)["breakpoints"]
    assert locations == [{"line": 2}, {"line": 4}]
    [moved] = set_in(peer, source, {"line": 3, "column": 7})
    assert (moved["verified"], moved["line"]) == (True, 4)
    [placed] = set_in(peer, source, {"line": 4, "column": 7})
    assert "nor its columns; the whole line 4 is meant" in placed["message"]
    assert stops(peer, 2) == [("f", 4, source["sourceReference"])] * 2


@pytest.mark.row("setBreakpoints")
def test_breakpoints_in_archives_and_frozen_modules_are_set_by_reference(start: Start, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("inside.py", "def call(f):\n    f()\n    return 1\n")
    peer = start(
        """
        import os, sys
        sys.path.append("lib.zip")
        import inside
        def f(): pass
        class P:
            def __fspath__(self):
                f()
                return "x"
        inside.call(f)
        os.path.join(P(), "y")
        """
    )
    peer.configure(lines=[4], justMyCode=False)
    peer.stopped("breakpoint")
    stops(peer, 1)
    archived = source_below(peer)
    [placed] = set_in(peer, {"sourceReference": archived["sourceReference"]}, {"line": 3})
    assert placed["verified"] is True
    assert stops(peer, 2) == [("call", 3, archived["sourceReference"]), ("f", 4, 0)]
    frozen = peer.stack()[2]["source"]
    assert frozen["name"] == "<frozen posixpath>"
    text = peer.ask("source", source=frozen, sourceReference=frozen["sourceReference"])["content"].splitlines()
    join = next(at for at, words in enumerate(text, 1) if words.startswith("def join("))
    line = next(at for at, words in enumerate(text, 1) if "_get_sep(a)" in words and at > join)
    [placed] = set_in(peer, frozen, {"line": line})
    assert (placed["verified"], placed["line"]) == (True, line)
    locations = peer.ask("breakpointLocations", source=frozen, line=line)["breakpoints"]
    assert [one["line"] for one in locations] == [line] * len(locations) != []


@pytest.mark.row("setBreakpoints")
def test_source_that_was_never_told_of_is_refused(start: Start) -> None:
    peer = start("x = 1\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    for command, arguments in (
        ("setBreakpoints", {"breakpoints": [{"line": 1}]}),
        ("breakpointLocations", {"line": 1}),
        ("gotoTargets", {"line": 1}),
    ):
        with pytest.raises(Refused, match="there is no source 7; there are 0"):
            peer.ask(command, source={"sourceReference": 7}, **arguments)
