"""Choosing the call to step into, going to another line, and beginning a frame again."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

CALLS = """
import asyncio

def f(x):
    return x

def g(x):
    return x + 1

async def co(x):
    return x

class K:
    def __init__(self, a):
        self.a = a

    def m(self):
        return self

def main():
    a = f(g(1)) + g(f(2))
    b = K(f(1)).m().m()
    c = f(
        g(3),
    )
    d = [f(n) for n in range(2)]
    return a, b, c, d

async def amain():
    return f(await co(g(1)))

main()
asyncio.run(amain())
"""


def targets(peer: EngineClient) -> list[Message]:
    found: list[Message] = peer.ask("stepInTargets", frameId=peer.stack()[0]["id"])["targets"]
    return found


def enter(peer: EngineClient, number: int) -> tuple[str, int]:
    peer.ask("stepIn", threadId=1, targetId=targets(peer)[number]["id"])
    peer.stopped("step")
    return peer.at()


ROW = "stepInTargets, gotoTargets, goto, restartFrame"


@pytest.mark.row(ROW)
def test_targets_are_the_calls_of_a_line_with_their_columns(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[20, 21])
    peer.stopped()
    found = [(one["label"], one["line"], one["column"], one["endColumn"]) for one in targets(peer)]
    assert found == [("g(1)", 20, 11, 15), ("f(g(1))", 20, 9, 16), ("f(2)", 20, 21, 25), ("g(f(2))", 20, 19, 26)]
    peer.go()
    peer.stopped()
    assert [one["label"] for one in targets(peer)] == ["f(…)", "K(…)", "K(f(1)).m(…)", "K(f(1)).m().m(…)"]


@pytest.mark.thorough
@pytest.mark.row(ROW)
@pytest.mark.parametrize(("number", "arguments"), [(0, "1"), (1, "2"), (2, "2"), (3, "2")])
def test_step_goes_into_the_chosen_call_and_not_into_others(start: Start, number: int, arguments: str) -> None:
    peer = start(CALLS)
    peer.configure(lines=[20])
    peer.stopped()
    name = "g" if number in (0, 3) else "f"
    assert enter(peer, number)[0] == name
    assert peer.value("x") == arguments
    peer.ask("stepOut", threadId=1)
    peer.stopped("step")
    remaining = [one["label"] for one in targets(peer)]
    assert len(remaining) == 3 - number


@pytest.mark.thorough
@pytest.mark.row(ROW)
def test_chosen_call_may_be_a_constructor_a_method_or_on_another_line(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[21, 22])
    peer.stopped()
    assert enter(peer, 1)[0] == "K.__init__"
    peer.ask("stepOut", threadId=1)
    peer.stopped("step")
    assert enter(peer, 0)[0] == "K.m"
    peer.go()
    peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    assert enter(peer, 0) == ("f", 4)
    assert peer.value("x") == "4"


@pytest.mark.thorough
@pytest.mark.row(ROW)
def test_chosen_call_of_a_coroutine_is_entered_when_it_is_awaited(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[29])
    peer.stopped()
    assert [one["label"] for one in targets(peer)] == ["g(…)", "co(…)", "f(…)"]
    assert enter(peer, 1) == ("co", 10)
    peer.go()
    assert peer.finish()[0] == 0


def test_chosen_call_that_is_never_made_ends_the_step_at_the_next_line(start: Start) -> None:
    peer = start("def f(): return 1\nno = 0\na = no and f()\nb = len([])\nc = 3\n")
    peer.configure(lines=[3])
    peer.stopped()
    assert enter(peer, 0) == ("<module>", 4)
    assert enter(peer, 0) == ("<module>", 5)


def test_targets_of_older_frames_and_stale_targets_are_refused(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[4, 20])
    peer.stopped()
    old = targets(peer)[0]["id"]
    peer.go()
    peer.stopped()
    older = peer.stack()[1]["id"]
    with pytest.raises(Refused, match="only the newest frame of a stopped thread"):
        peer.ask("stepInTargets", frameId=older)
    with pytest.raises(Refused, match="belongs to stop 1"):
        peer.ask("stepIn", threadId=1, targetId=old)
    peer.go()


WALK = """
def work(n, text="a"):
    seen = []
    for i in range(n):
        seen.append(i)
    n = 100
    text = text + "!"
    extra = 1
    return seen, n, text, extra

def other():
    return 1

print(work(3))
print(other())
print(work(2))
"""


def go_to(peer: EngineClient, line: int, thread: int = 1) -> None:
    [target] = peer.ask("gotoTargets", source={"path": str(peer.folder / "prog.py")}, line=line)["targets"]
    peer.ask("goto", threadId=thread, targetId=target["id"])
    peer.stopped("goto")


@pytest.mark.row(ROW)
def test_goto_moves_forwards_backwards_and_out_of_a_loop(start: Start) -> None:
    peer = start(WALK)
    peer.configure(lines=[4])
    peer.stopped()
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    go_to(peer, 7)
    assert peer.at() == ("work", 7)
    told = [one["body"]["output"] for one in peer.events() if one["event"] == "output"]
    assert told == ["Variables without a value are None after the jump from line 4: extra\n"]
    go_to(peer, 2)
    assert peer.at() == ("work", 2)
    assert peer.step() == ("work", 3)
    go_to(peer, 8)
    peer.go()
    assert peer.finish()[1] == "([], 3, 'a', None)\n1\n([0, 1], 100, 'a!', 1)\n"


@pytest.mark.row(ROW)
def test_goto_is_refused_with_the_reason_where_python_cannot_jump(start: Start) -> None:
    peer = start(WALK)
    peer.configure(lines=[2, 11])
    peer.stopped()
    source = {"path": str(peer.folder / "prog.py")}
    [target] = peer.ask("gotoTargets", source=source, line=4)["targets"]
    with pytest.raises(Refused, match="Python cannot jump to line 4 of work: can't jump into the body of a for loop"):
        peer.ask("goto", threadId=1, targetId=target["id"])
    assert peer.ask("gotoTargets", source=source, line=9)["targets"] == []
    assert peer.at() == ("work", 2)
    [target] = peer.ask("gotoTargets", source=source, line=7)["targets"]
    peer.ask("stepOut", threadId=1)
    peer.stopped("step")
    with pytest.raises(Refused, match="belongs to stop 1"):
        peer.ask("goto", threadId=1, targetId=target["id"])
    [target] = peer.ask("gotoTargets", source=source, line=14)["targets"]
    with pytest.raises(Refused, match="only from the beginning of a line"):
        peer.ask("goto", threadId=1, targetId=target["id"])
    [target] = peer.ask("gotoTargets", source=source, line=7)["targets"]
    with pytest.raises(Refused, match="line 7 is in work, and the thread is stopped in <module>"):
        peer.ask("goto", threadId=1, targetId=target["id"])


def test_goto_targets_of_a_running_program_are_refused(start: Start) -> None:
    peer = start("import time\nwhile True:\n    time.sleep(0.01)\n")
    peer.configure()
    with pytest.raises(Refused, match="the program is running; pause it"):
        peer.ask("gotoTargets", source={"path": str(peer.folder / "prog.py")}, line=3)


@pytest.mark.row(ROW)
def test_restart_frame_restores_the_arguments_that_were_assigned_to(start: Start) -> None:
    peer = start(WALK)
    peer.configure(lines=[2, 8])
    peer.stopped()
    peer.go()
    peer.stopped()
    top, caller = peer.stack()[:2]
    assert (top["canRestart"], caller["canRestart"]) == (True, False)
    assert peer.value("n, text") == "(100, 'a!')"
    peer.ask("restartFrame", frameId=top["id"])
    peer.stopped("restart")
    assert (peer.at(), peer.value("n, text")) == (("work", 2), "(3, 'a')")
    peer.go()
    peer.stopped("breakpoint")
    assert (peer.at(), peer.value("seen, n, text")) == (("work", 8), "([0, 1, 2], 100, 'a!')")
    older = peer.stack()[1]["id"]
    with pytest.raises(Refused, match="only the newest frame"):
        peer.ask("restartFrame", frameId=older)


def test_restarted_function_on_one_line_and_generator_begin_again(start: Start) -> None:
    peer = start(
        """
        def one(x): return x
        def gen(x):
            y = x
            yield y
            yield y + 1
        print(one(1))
        print(list(gen(5)))
        """
    )
    peer.configure(lines=[1, 5])
    peer.stopped()
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("one", 1)
    peer.ask("restartFrame", frameId=peer.stack()[0]["id"])
    peer.stopped("restart")
    assert peer.at() == ("one", 1)
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 5}])
    peer.go()
    peer.stopped("breakpoint")
    peer.ask("restartFrame", frameId=peer.stack()[0]["id"])
    peer.stopped("restart")
    assert peer.at() == ("gen", 3)
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    assert peer.finish()[:2] == (0, "1\n[5, 5, 6]\n")


@pytest.fixture(scope="module")
def at_work(start_shared: Start) -> EngineClient:
    """Return a program that stands in a function; tests only look."""
    peer = start_shared(WALK)
    peer.configure(lines=[2])
    peer.stopped()
    return peer


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("goto", {"threadId": 1}, "no reference None"),
        ("goto", {"threadId": 1, "targetId": 12345}, "no reference 12345"),
        ("gotoTargets", {"line": 3}, r"needs source\.path"),
        ("gotoTargets", {"source": {"path": "x"}}, "needs a line"),
        ("stepInTargets", {}, "no reference None"),
        ("restartFrame", {"frameId": "x"}, "no reference 'x'"),
        ("disassemble", {}, "memoryReference is None"),
        ("disassemble", {"memoryReference": "0x10", "instructionCount": -1}, "expected a number from 0 on"),
        ("disassemble", {"memoryReference": "0x10", "instructionOffset": "a"}, "expected a whole number"),
        ("setInstructionBreakpoints", {"breakpoints": 3}, "expected a list of objects"),
        ("setFunctionBreakpoints", {"breakpoints": ["f"]}, "expected a list of objects"),
    ],
)
def test_wrong_arguments_are_answered_and_wedge_nothing(
    at_work: EngineClient, command: str, arguments: Message, said: str
) -> None:
    with pytest.raises(Refused, match=said):
        at_work.ask(command, **arguments)
    assert at_work.at() == ("work", 2)
