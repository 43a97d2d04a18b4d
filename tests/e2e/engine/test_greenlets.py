"""Programs that switch between greenlets, by gevent with everything patched and by greenlet alone."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.engine.engine_client import EngineClient, Refused

PATCHED = """
    from gevent import monkey; monkey.patch_all()
    import gevent, time, threading
    def work(n):
        total = n                # a breakpoint
        time.sleep(0.001)
        total += 1
        return total
    def fail():
        raise ValueError("left to gevent")
    def caught():
        try: raise KeyError
        except KeyError: pass
    def main():
        jobs = [gevent.spawn(work, n) for n in (10, 20)]
        gevent.joinall(jobs)
        gevent.spawn(caught).join()
        gevent.spawn(fail).join()
        thread = threading.Thread(target=work, args=(30,), name="patched")
        thread.start(); thread.join()
        while waiting: time.sleep(0.001)
        print([job.value for job in jobs])
    waiting = True
    main()
"""
SWITCHES = """
    from greenlet import greenlet
    def first(n):
        n += 1                   # a breakpoint
        n = other.switch(n)
        return n
    def second(n):
        one.switch(n * 2)
    def fail():
        raise ValueError("caught by the parent")
    def catch():
        try: greenlet(fail).switch()
        except ValueError: return 1
    one, other = greenlet(first), greenlet(second)
    print(one.switch(1), catch())
    greenlet(fail).switch()
"""

type Run = Callable[[str], EngineClient]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return what starts a program with the interpreter of the tests, which has gevent, up to its breakpoint."""
    with ExitStack() as stack:

        def start(program: str) -> EngineClient:
            (tmp_path / "prog.py").write_text(textwrap.dedent(program).lstrip())
            peer = stack.enter_context(EngineClient(sys.executable, tmp_path, "--program", "prog.py"))
            line = next(n for n, text in enumerate(program.strip().splitlines(), 1) if "# a breakpoint" in text)
            peer.configure(lines=[line], filters=["uncaught"])
            peer.event("stopped", seconds=40)
            return peer

        yield start


def without_breakpoints(peer: EngineClient) -> None:
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])


@pytest.mark.works_with("gevent", "breakpoints, steps, evaluation, exceptions and pause, with everything patched")
@pytest.mark.works_with("gevent", "suspended greenlets are listed after the threads, with their stacks and variables")
def test_stop_step_evaluation_and_pause_in_a_program_that_gevent_has_patched(run: Run) -> None:
    peer = run(PATCHED)
    listed = peer.ask("threads")["threads"]
    assert [each["name"] for each in listed] == ["MainThread", "greenlet (suspended: <module>)"]
    waiting = listed[1]["id"]
    assert [frame["name"] for frame in peer.stack(waiting)] == ["main", "<module>"]
    assert peer.value("len(jobs)", thread=waiting) == "2"
    with pytest.raises(Refused, match="step the thread that runs it"):
        peer.ask("next", threadId=waiting)
    assert (peer.at(), peer.locals()["n"]["value"]) == (("work", 4), "10")
    without_breakpoints(peer)
    # The sleep switches to another greenlet, which runs the same code.
    assert [(peer.step(), peer.value("n")) for _ in range(3)] == [(("work", line), "10") for line in (5, 6, 7)]
    assert peer.value("gevent.spawn(work, 40).get()", context="repl") == "41"
    assert (peer.at(), peer.locals()["total"]["value"]) == (("work", 7), "11")
    peer.go()
    assert peer.stopped("exception")["text"] == "ValueError"
    assert peer.at() == ("fail", 9)
    peer.go()
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    assert peer.stack()
    peer.wait_until_in_python()
    peer.ask("evaluate", expression="waiting = False", context="repl")
    peer.go()
    assert peer.finish()[:2] == (0, "[11, 21]\n")


def test_step_stays_in_its_greenlet_and_errors_go_to_the_parent(run: Run) -> None:
    peer = run(SWITCHES)
    assert [peer.step() for _ in range(2)] == [("first", 4), ("first", 5)]
    assert peer.locals()["n"]["value"] == "4"
    assert [each["name"] for each in peer.ask("threads")["threads"]] == [
        "MainThread", "greenlet (suspended: <module>)", "greenlet (suspended: second)"
    ]  # fmt: skip
    peer.go()
    peer.stopped("exception")
    assert [output["body"]["output"] for output in peer.events() if output["event"] == "output"] == []
    assert peer.at() == ("fail", 9)
    peer.go()
    code, output, errors = peer.finish()
    assert (code, output) == (1, "4 1\n")
    assert errors.endswith("ValueError: caught by the parent\n")


ENDS = """
    import gevent, greenlet  # a breakpoint
    def sleeps():
        gevent.sleep(100)
    killed = gevent.spawn(sleeps)
    gevent.sleep(0)
    killed.kill()
    def switches():
        greenlet.getcurrent().parent.switch()
    thrown = greenlet.greenlet(switches)
    thrown.switch()
    thrown.throw(greenlet.GreenletExit)
    dropped = greenlet.greenlet(switches)
    dropped.switch()
    del dropped
    gevent.get_hub().destroy()
    def fails():
        return 1 // 0
    gevent.spawn(fails).join()
"""


def test_end_of_a_greenlet_is_no_uncaught_exception_and_an_error_is(run: Run) -> None:
    peer = run(ENDS)
    peer.go()
    assert peer.stopped("exception")["description"] == "ZeroDivisionError: integer division or modulo by zero"
    assert peer.at() == ("fails", 17)
    peer.go()
    assert peer.finish()[0] == 0
