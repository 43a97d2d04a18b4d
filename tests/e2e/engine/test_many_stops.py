"""A session of very many stops: nothing of ours in the program grows with their number."""

from itertools import pairwise

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient

pytestmark = pytest.mark.each_python

STOPS = 1_000
"""Of what a stop would leave behind, one memory block each would be seen."""
ROUNDS = 4
"""What a stop leaves behind, each round does; what the interpreter keeps for itself now and then, not all do."""

PROGRAM = """
    import sys
    class Box:
        def __init__(self, n):
            self.n = n
    def work(n):
        box = Box(n)
        rows = [box, str(n) * 3, {"n": n}]
        return len(rows)
    n = 0
    while True:
        n += 1
        work(n)
"""


def go_through(peer: EngineClient, stops: int) -> None:
    """Step so often, and look at some stops as an editor does."""
    for number in range(stops):
        peer.ask("stepIn" if number % 3 == 0 else "next", threadId=1)
        peer.stopped("step")
        if number % 10 == 0:
            [frame, *_] = peer.stack()
            [scope, *_] = peer.ask("scopes", frameId=frame["id"])["scopes"]
            for variable in peer.ask("variables", variablesReference=scope["variablesReference"])["variables"]:
                if variable["variablesReference"]:
                    peer.ask("variables", variablesReference=variable["variablesReference"])
            peer.ask("evaluate", expression="[n] * 5", frameId=frame["id"], context="repl")
            peer.ask("threads")
        del peer.messages[:]


def blocks(peer: EngineClient) -> int:
    """Return how many blocks of memory the interpreter has given out."""
    [frame, *_] = peer.stack()
    count = "__import__('gc').collect() * 0 + __import__('sys').getallocatedblocks()"
    return int(peer.ask("evaluate", expression=count, frameId=frame["id"], context="repl")["result"])


@pytest.mark.thorough
@pytest.mark.needs_gil("3.13t keeps the constants of code made from a tree for good: 4 blocks for each evaluation")
@pytest.mark.row("next")
def test_a_program_has_no_more_memory_after_more_stops(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[11])
    peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    found = []
    for _ in range(ROUNDS):
        go_through(peer, STOPS)
        found.append(blocks(peer))
    assert min(later - earlier for earlier, later in pairwise(found)) < STOPS // 2, found
