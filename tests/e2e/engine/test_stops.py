"""Threads, pausing, and what the engine answers while the program runs or cannot work."""

import ast
import os
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Refused

pytestmark = pytest.mark.each_python

WORKERS = """
    import threading, time
    counts = [0, 0, 0]
    def spin():
        while True:
            counts[0] += 1
    def spin_on_one_line():
        while True: pass
    def call():
        def g(): counts[2] += 1
        while True: g()
    def blocked():
        time.sleep(1000)
    for target in (spin, spin_on_one_line, call, blocked):
        threading.Thread(target=target, name=target.__name__, daemon=True).start()
    def main():
        print("on", flush=True)
        n = 0
        while True:
            n += 1
    main()
"""


def ready(peer: EngineClient) -> EngineClient:
    """Wait for the program's first line of output."""
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    return peer


@pytest.mark.row("continue, pause")
@pytest.mark.parametrize(
    "body", ["while True: pass", "while True:\n    x = 1", "def f(n): return n and f(n - 1)\nwhile True: f(500)"]
)
def test_pause_reaches_a_tight_loop(start: Start, body: str) -> None:
    peer = start("print('on', flush=True)\n" + body + "\n")
    peer.configure()
    ready(peer)
    peer.ask("pause", threadId=1)
    assert peer.stopped("pause")["threadId"] == 1
    peer.wait_until_in_python()
    assert peer.value("1 + 1") == "2"
    peer.go()
    peer.ask("pause", threadId=1)
    peer.stopped("pause")


@pytest.mark.row("continue, pause")
def test_pause_reaches_recursion_through_lines_that_are_switched_off(start: Start) -> None:
    peer = start(
        """
        def fib(n):
            if n < 2:
                return n
            if n < 0:
                print("never")
            return fib(n - 1) + fib(n - 2)
        def main():
            print("on", flush=True)
            fib(60)
        main()
        """
    )
    peer.configure(lines=[5])
    ready(peer)
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    peer.wait_until_in_python()
    assert peer.at()[0] in ("fib", "main")


@pytest.mark.row("continue, pause")
def test_all_threads_stop_and_go_on_together(start: Start) -> None:
    peer = start(WORKERS)
    peer.configure()
    ready(peer)
    threads = {thread["name"]: thread["id"] for thread in peer.ask("threads")["threads"]}
    assert threads == {"MainThread": 1, "spin": 2, "spin_on_one_line": 3, "call": 4, "blocked": 5}
    peer.wait_until_at(("spin_on_one_line", 7), thread=3)
    peer.wait_until_at(("blocked", 12), thread=5)
    peer.ask("pause", threadId=1)
    assert peer.stopped("pause") == {"reason": "pause", "threadId": 1, "allThreadsStopped": True}
    for thread in (1, 2, 3):
        peer.wait_until_in_python(thread)
    before: dict[int, str] = {}
    while (now := {at: peer.value(f"counts[{at}]") for at in (0, 2)}) != before:  # until all have come to a line
        before = now
    assert peer.at(5)[0] == "blocked [native call]"
    assert peer.at(3) == ("spin_on_one_line", 7)
    assert int(peer.value("counts[0]", thread=2)) >= 0
    for at, count in before.items():
        while peer.value(f"counts[{at}]") == count:
            peer.go()
            peer.ask("pause", threadId=2)
            assert peer.stopped("pause")["threadId"] == 2
            peer.wait_until_in_python()


@pytest.mark.row("continue, pause")
def test_thread_inside_native_code_is_paused_and_shown_without_running_anything_in_it(start: Start) -> None:
    peer = start(
        """
        import time
        class Odd:
            def __repr__(self): return "odd"
        def sleep(seconds):
            odd = Odd()
            some = [1, 2]
            print("on", flush=True)
            time.sleep(seconds)
        sleep(1000)
        """
    )
    peer.configure()
    ready(peer)
    peer.wait_until_at(("sleep", 8))
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    assert peer.at() == ("sleep [native call]", 8)
    shown = {name: row["value"] for name, row in peer.locals().items()}
    assert shown["some"] == "[1, 2]"
    assert shown["seconds"] == "1000"
    assert shown["odd"].startswith("<__main__.Odd object at 0x")
    with pytest.raises(Refused, match="inside native code"):
        peer.value("1 + 1")
    with pytest.raises(Refused, match="inside native code"):
        peer.ask("next", threadId=1)


@pytest.mark.row("continue, pause")
def test_single_thread_goes_on_while_the_others_stand(start: Start) -> None:
    peer = start(
        """
        import threading
        counts = [0]
        def spin():
            while True:
                counts[0] += 1
        threading.Thread(target=spin, daemon=True).start()
        def main():
            n = 0
            while True:
                n += 1
                if n % 1000 == 0:
                    x = n
        main()
        """
    )
    peer.configure(lines=[12])
    peer.stopped("breakpoint")
    before = peer.value("counts[0]")
    assert peer.ask("continue", threadId=1, singleThread=True) == {"allThreadsContinued": False}
    peer.stopped("breakpoint")
    assert peer.value("n") == "2000"
    assert peer.value("counts[0]") == before
    while peer.value("counts[0]") == before:
        assert peer.ask("continue", threadId=1) == {"allThreadsContinued": True}
        peer.stopped("breakpoint")


@pytest.mark.row("next, stepIn, stepOut")
def test_single_thread_steps_while_the_others_stand(start: Start) -> None:
    peer = start(
        """
        import threading
        counts = [0]
        def spin():
            while True:
                counts[0] += 1
        def called():
            return 1
        def main():
            x = 1
            y = called()
            z = 3
        threading.Thread(target=spin, daemon=True).start()
        main()
        """
    )
    peer.configure(lines=[9])
    peer.stopped("breakpoint")
    before = peer.value("counts[0]")
    places = []
    for command in ("next", "stepIn", "stepOut", "next"):
        peer.ask(command, threadId=1, singleThread=True)
        peer.stopped("step")
        places.append(peer.at())
    assert places == [("main", 10), ("called", 7), ("main", 10), ("main", 11)]
    assert peer.value("counts[0]") == before


@pytest.mark.row("continue, pause")
def test_pause_that_is_taken_back_at_once_stops_nothing_later(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    peer = start(
        """
        def f():
            return 1
        print("on", flush=True)
        open("gate").close()
        f()
        """
    )
    peer.configure(lines=[2])
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    peer.send("pause", threadId=1)
    assert peer.ask("continue", threadId=1) == {"allThreadsContinued": True}
    (tmp_path / "gate").open("w").close()
    stops = [peer.stopped()]
    if stops[0]["reason"] == "pause":  # told before the program was to go on
        stops.append(peer.stopped())
    assert stops[-1]["reason"] == "breakpoint"
    peer.go()
    assert peer.finish()[0] == 0


def test_hits_of_two_threads_are_both_told_one_after_the_other(start: Start) -> None:
    peer = start(
        """
        import threading
        barrier = threading.Barrier(2)
        def work():
            barrier.wait()
            x = 1
            return x
        threads = [threading.Thread(target=work) for _ in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        """
    )
    peer.configure(lines=[5])
    first = peer.stopped("breakpoint")["threadId"]
    peer.go(first)
    second = peer.stopped("breakpoint")["threadId"]
    assert {first, second} == {2, 3}
    peer.go(second)
    assert peer.finish()[0] == 0


@pytest.mark.row("threads")
def test_threads_that_start_and_end_are_told(start: Start) -> None:
    peer = start(
        """
        import threading
        for _ in range(2):
            t = threading.Thread(target=lambda: None)
            t.start()
            t.join()
        """
    )
    peer.configure()
    peer.finish()
    told = [
        (event["body"]["reason"], event["body"]["threadId"]) for event in peer.events() if event["event"] == "thread"
    ]
    assert told == [("started", 1), ("started", 2), ("exited", 2), ("started", 3), ("exited", 3)]


@pytest.mark.row("stackTrace")
def test_stack_of_a_running_program_is_shown_without_stopping_it(start: Start) -> None:
    peer = start(WORKERS)
    peer.configure()
    ready(peer)
    peer.wait_until_at(("blocked", 12), thread=5)
    assert peer.at(1)[0] == "main"
    number = peer.stack(1)[0]["id"]
    with pytest.raises(Refused, match="the program is running"):
        peer.ask("scopes", frameId=number)
    with pytest.raises(Refused, match="thread 1 is running; pause it first"):
        peer.ask("next", threadId=1)
    with pytest.raises(Refused, match=r"there is no thread 99; there are \[1, 2, 3, 4, 5\]"):
        peer.ask("stackTrace", threadId=99)


@pytest.mark.row("stackTrace")
def test_stack_is_paged(start: Start) -> None:
    peer = start(
        """
        def down(n):
            if n:
                return down(n - 1)
            return 0
        down(300)
        """
    )
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    body = peer.ask("stackTrace", threadId=1, startFrame=10, levels=5)
    assert body["totalFrames"] == 302
    assert [frame["line"] for frame in body["stackFrames"]] == [3] * 5
    again = peer.ask("stackTrace", threadId=1, startFrame=10, levels=5)
    assert again == body
    assert peer.ask("stackTrace", threadId=1, startFrame=301)["stackFrames"][0]["name"] == "<module>"


def test_reference_of_an_earlier_stop_is_refused_with_the_reason(start: Start) -> None:
    peer = start("x = [1]\ny = 2\nz = 3\n")
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    reference = peer.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    peer.step()
    with pytest.raises(Refused, match=f"reference {frame} belongs to stop 1, the program is at stop 2"):
        peer.ask("scopes", frameId=frame)
    with pytest.raises(Refused, match=f"reference {reference} belongs to stop 1, the program is at stop 2"):
        peer.rows(reference)
    with pytest.raises(Refused, match="there is no reference 4711"):
        peer.rows(4711)


@pytest.mark.thorough
def test_control_is_answered_while_an_evaluation_hangs(start: Start) -> None:
    peer = start("import time\nx = 1\ny = 2\n")
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    hanging = peer.send("evaluate", expression="time.sleep(3600)", frameId=frame, context="watch")
    assert peer.ask("threads")["threads"] == [{"id": 1, "name": "MainThread"}]
    scopes = peer.ask("scopes", frameId=frame)["scopes"]
    answer = peer.answer(hanging)
    assert answer["success"] is False
    assert "did not end" in answer["message"]  # and was interrupted, or could not be, which a busy machine decides
    assert {row["name"]: row["value"] for row in peer.rows(scopes[0]["variablesReference"])}["x"] == "1"


def test_unknown_and_wrong_requests_get_an_error_each(start: Start) -> None:
    peer = start("x = 1\n")
    for command, arguments, said in (
        ("fly", {}, "unknown command 'fly'"),
        ("stackTrace", {"threadId": "one"}, "there is no thread 'one'"),
        ("variables", {"variablesReference": None}, "there is no reference None"),
        ("evaluate", {"expression": 7}, "expression is 7, expected a text"),
        ("setExceptionBreakpoints", {"filters": ["sometimes"]}, "exception filter 'sometimes' is unknown"),
        ("pause", {"threadId": 1}, "the program has not started yet"),
        ("launch", {"justMyCode": "yes"}, "justMyCode is 'yes', expected true or false"),
    ):
        with pytest.raises(Refused, match=said):
            peer.ask(command, **arguments)


FREES = """
    import sys
    def work():
        x = 1
    {what}
    while True:
        work()
"""
EACH_OF_OURS = "for tool in [tool for tool in range(6) if sys.monitoring.get_tool(tool) == 'dapkit']:"
TAKEN = {
    "frees": f"{EACH_OF_OURS} sys.monitoring.free_tool_id(tool)",
    "switches off": f"{EACH_OF_OURS} sys.monitoring.set_events(tool, 0)",
}


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("what", TAKEN)
def test_program_that_takes_our_tool_from_us_is_reported_and_stopped_again(start: Start, what: str) -> None:
    peer = start(FREES.format(what=TAKEN[what]))
    peer.configure(filters=["raised"])
    said = peer.event("output")
    assert said["category"] == "important"
    assert "it was taken again" in said["output"]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 3}])
    peer.stopped("breakpoint")
    assert peer.step("stepOut")[0] == "<module>"


@pytest.mark.each_python
@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut", "continue"])
def test_step_stops_after_an_expression_has_freed_all_tools(start: Start, command: str) -> None:
    peer = start("import sys\ndef work():\n    x = 1\n    y = 2\n    return y\nwork()\nwork()\n")
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    frees = "[sys.monitoring.free_tool_id(tool) for tool in range(6) if sys.monitoring.get_tool(tool)]"
    peer.ask("evaluate", expression=frees, context="repl", frameId=peer.stack()[0]["id"])
    peer.ask(command, threadId=1)
    peer.stopped("breakpoint" if command == "continue" else "step")
    assert peer.at() == {"next": ("work", 4), "stepIn": ("work", 4), "stepOut": ("<module>", 6)}.get(
        command, ("work", 3)
    )
    assert "it was taken again" in peer.event("output")["output"]


def test_program_that_gives_our_tool_to_another_is_reported(start: Start) -> None:
    peer = start(FREES.format(what=TAKEN["frees"] + "; sys.monitoring.use_tool_id(tool, 'mine')"))
    peer.configure()
    assert "has given it to another (mine)" in peer.event("output")["output"]
    assert peer.ask("threads")["threads"]


def test_callbacks_of_a_tool_that_was_given_our_number_are_left_alone(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    gives = "; sys.monitoring.use_tool_id(tool, 'mine'); sys.monitoring.register_callback(tool, LINE, mine)"
    peer = start(
        f"""
        import sys
        LINE = sys.monitoring.events.LINE
        mine = lambda code, line: None
        before = {{*map(sys.monitoring.get_tool, range(6))}}
        {TAKEN["frees"]}{gives}
        open("gate").close()
        theirs = [tool for tool in range(6) if sys.monitoring.get_tool(tool) == "mine"]
        print({{sys.monitoring.register_callback(tool, LINE, None) is mine for tool in theirs}})
        print(before - {{*map(sys.monitoring.get_tool, range(6))}})
        """
    )
    peer.configure(lines=[9])
    assert "has given it to another (mine)" in peer.event("output")["output"]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 8}])
    (tmp_path / "gate").open("w").close()
    told, gone = peer.finish()[1].splitlines()
    assert told == "{True}"
    assert ast.literal_eval(gone) == {"dapkit", "dapkit's companion"}


def test_thread_that_comes_back_from_native_code_has_its_stack_read_again(start: Start) -> None:
    peer = start(
        """
        import os
        ours, theirs = os.pipe()
        print("ready", flush=True)
        os.read(ours, 1)
        x = 1
        """
    )
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    writer = f"/proc/{peer.process.pid}/fd/{peer.value('theirs')}"
    peer.go()
    peer.wait_until_at(("<module>", 4))
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    assert peer.at() == ("<module> [native call]", 4)
    with open(writer, "wb") as pipe:  # noqa: PTH123 - a pipe of the program
        pipe.write(b".")
    assert peer.event("invalidated") == {"areas": ["stacks"], "threadId": 1}
    assert peer.at() == ("<module>", 5)
    peer.go()
    assert peer.finish()[0] == 0
