"""A stack many thousand calls deep: all of it can be reached, and everything works at its top."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient

pytestmark = pytest.mark.each_python

DEPTH = 20_000
PROGRAM = f"""
    import sys
    sys.setrecursionlimit({DEPTH + 1_000})
    def leaf(value):
        first = value + 1
        second = first + 1
        return second
    def down(left):
        if left == 0:
            found = leaf(1)
            again = leaf(found)
            raise ValueError(again)
        return down(left - 1)
    try:
        down({DEPTH})
    except ValueError as error:
        end = str(error)
    print(end)
"""


def names(peer: EngineClient, **page: int) -> list[str]:
    """Return the names in a page of the stack, of which it is known how deep it is."""
    body = peer.ask("stackTrace", threadId=1, **page)
    assert body["totalFrames"] == DEPTH + 2
    return [frame["name"] for frame in body["stackFrames"]]


@pytest.mark.thorough
@pytest.mark.row("stackTrace")
def test_everything_works_at_the_top_of_a_very_deep_stack(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[9], filters=["raised"])
    peer.stopped("breakpoint")
    assert names(peer, levels=3) == ["down"] * 3
    assert names(peer, startFrame=DEPTH - 1, levels=20) == ["down", "down", "<module>"]
    assert names(peer, startFrame=DEPTH + 2, levels=20) == []
    [top] = peer.ask("stackTrace", threadId=1, levels=1)["stackFrames"]
    [bottom] = peer.ask("stackTrace", threadId=1, startFrame=DEPTH, levels=1)["stackFrames"]
    assert peer.ask("evaluate", expression="left, leaf(2)", frameId=top["id"], context="repl")["result"] == "(0, 4)"
    assert peer.ask("evaluate", expression="left", frameId=bottom["id"], context="watch")["result"] == str(DEPTH)
    assert peer.step("stepIn") == ("leaf", 4)
    assert peer.step() == ("leaf", 5)
    [target] = peer.ask("gotoTargets", source={"path": str(peer.folder / "prog.py")}, line=4)["targets"]
    peer.ask("goto", threadId=1, targetId=target["id"])
    peer.stopped("goto")
    assert peer.step() == ("leaf", 5)
    [top] = peer.ask("stackTrace", threadId=1, levels=1)["stackFrames"]
    peer.ask("restartFrame", frameId=top["id"])
    peer.stopped("restart")
    assert peer.at() == ("leaf", 4)
    assert peer.step("stepOut") == ("down", 9)
    assert peer.step() == ("down", 10)
    peer.go()
    peer.stopped("exception")
    assert names(peer, levels=1) == ["down"]
    assert peer.ask("exceptionInfo", threadId=1)["description"] == "5"
    assert peer.step() == ("<module>", 15)
    peer.ask("setExceptionBreakpoints", filters=[])
    peer.go()
    assert peer.finish() == (0, "5\n", "")
