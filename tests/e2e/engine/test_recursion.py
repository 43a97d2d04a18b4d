"""Programs that use all of their recursion limit: what stops there, and what they see of it."""

import subprocess
import time
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE

pytestmark = pytest.mark.each_python

DEEP = """
    import sys, traceback
    def f(n):
        if n > {start}:
            deep = n
        return f(n + 1)
    try:
        f(1)
    except RecursionError:
        text = traceback.format_exc()
        caught = len(text.splitlines())
    print(caught, text.splitlines()[-1])
    def depth(n=0):
        try:
            return depth(n + 1)
        except RecursionError:
            again = n
            return n
    print(depth())
    f(0)
"""


@pytest.mark.thorough
def test_breakpoints_are_hit_up_to_the_recursion_limit_and_change_nothing(
    start: Start, python: str, tmp_path: Path
) -> None:
    peer = start(DEEP.format(start=994))
    plain = subprocess.run([python, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    peer.configure(lines=[4, 16])
    hits: list[str] = []
    while not peer.ended:
        message = peer.read(time.monotonic() + DEADLINE)
        if message is not None and message.get("event") == "stopped":
            hits.append(peer.value("locals().get('deep', n)"))
            if len(hits) == 1:
                assert peer.value("sum(i for i in range(n))") == "494515"
            peer.go()
    assert peer.finish() == (plain.returncode, plain.stdout, plain.stderr)
    assert hits == ["995", "996", "997", "998", "999", "998", "995", "996", "997", "998"]


def test_exception_that_passes_a_hundred_thousand_frames_costs_one_look_at_each(start: Start) -> None:
    """Looked at anew from each frame on, they would take minutes."""
    peer = start(
        """
        import sys
        sys.setrecursionlimit(100_000)
        def f(n):
            if n:
                f(n - 1)
        try:
            f(101_000)
        except RecursionError:
            print("caught")
        """
    )
    peer.configure(filters=["uncaught"])
    assert peer.finish() == (0, "caught\n", "")


def test_exception_that_each_frame_raises_again_costs_one_look_at_each(start: Start) -> None:
    """Whether the block around it swallows it is to be looked at each time; once for each frame takes minutes."""
    peer = start(
        """
        import sys, unittest
        sys.setrecursionlimit(50_000)
        def f(n):
            try:
                return f(n + 1)
            except ZeroDivisionError:
                return 0
        with unittest.TestCase().assertRaises(RecursionError):
            f(0)
        print("caught")
        """
    )
    peer.configure(filters=["uncaught"])
    assert peer.finish() == (0, "caught\n", "")


@pytest.mark.thorough
def test_infinite_recursion_stops_in_the_program(start: Start) -> None:
    peer = start("def f(n):\n    return f(n + 1)\nf(0)\n")
    peer.configure(filters=["raised"])
    stopped = peer.stopped("exception")
    assert stopped["text"] == "RecursionError"
    stack = peer.stack()
    assert (stack[0]["name"], stack[0]["line"], stack[-1]["name"]) == ("f", 2, "<module>")
    assert {frame["name"] for frame in stack[:-1]} == {"f"}
    assert peer.value("n") == str(len(stack) - 2)


@pytest.mark.thorough
def test_data_breakpoints_leave_the_recursion_limit_as_it_is(start: Start, python: str, tmp_path: Path) -> None:
    peer = start(DEEP.format(start=2000))
    plain = subprocess.run([python, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    watched = [{"dataId": f"global:__main__:{name}", "accessType": "write"} for name in ("f", "sys")]
    placed = peer.ask("setDataBreakpoints", breakpoints=watched)["breakpoints"]
    assert [breakpoint_["verified"] for breakpoint_ in placed] == [True, True]
    peer.go()
    assert peer.finish() == (plain.returncode, plain.stdout, plain.stderr)


def test_client_is_served_however_few_calls_the_program_may_nest(start: Start) -> None:
    peer = start(
        """
        import sys
        sys.setrecursionlimit(9)
        x = 1
        sys.setrecursionlimit(1000)
        """
    )
    peer.configure(lines=[3], filters=["raised", "uncaught"])
    peer.stopped("breakpoint")
    assert peer.at() == ("<module>", 3)
    assert peer.value("1 + 1") == "2"
    peer.go()
    assert peer.finish() == (0, "", "")
