"""Watches in whole programs: every write, under every load, to the very end."""

import pytest

from e2e.native.conftest import Run

pytestmark = [
    pytest.mark.usefixtures("needs_extension"),
    pytest.mark.each_python,
    pytest.mark.needs_gil("entries of dicts are polled without one"),
]


def test_each_kind_of_write_reaches_the_writer_at_its_next_instruction(run: Run) -> None:
    program = """
        monitoring = sys.monitoring
        INSTRUCTION = monitoring.events.INSTRUCTION
        monitoring.use_tool_id(0, "test")
        armed = []
        stops = []

        def instruction(code, offset):
            notes, lost = native.drain()
            assert lost == 0
            while armed:
                monitoring.set_local_events(0, armed.pop(), 0)
            line = next(line for start, end, line in code.co_lines() if start <= offset - 2 < end)
            for _, _, *values in notes:
                old, new = ("-" if value is native.MISSING else value for value in values)
                stops.append((line - code.co_firstlineno, old, new))

        monitoring.register_callback(0, INSTRUCTION, instruction)

        class Owner:
            def __init__(self):
                self.x = 0

        def warm_up(owner):
            for i in range(100):
                owner.x = 0

        def write(owner):
            owner.x = 1
            setattr(owner, "x", 2)
            owner.__dict__["x"] = 3
            owner.__dict__.update(x=4)
            owner.__dict__ |= {"x": 5}
            del owner.x
            owner.x = 6
            owner.__dict__.clear()
            owner.__dict__ |= {"x": 7, "y": 8}
            owner.y = 9
            owner.x, owner.y = 10, 11
            return None

        owner = Owner()
        warm_up(owner)
        warm_up(Owner())
        number = native.watch(native.namespace_of(owner), "x")
        native.arm_writers(0, INSTRUCTION, armed)
        write(owner)
        for stop in stops:
            print(*stop)
    """
    values = ["0 1", "1 2", "2 3", "3 4", "4 5", "5 -", "- 6", "6 -", "- 7", "7 10"]
    lines = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    assert run(program).splitlines() == [f"{line} {pair}" for line, pair in zip(lines, values, strict=True)]


def test_threads_that_hammer_a_watched_dict_are_counted_exactly(run: Run) -> None:
    program = """
        import gc, threading
        class Owner: pass
        owner = Owner()
        owner.x = None
        number = native.watch(native.namespace_of(owner), "x")

        def hammer(times):
            for i in range(times):
                owner.x = [i]
                if i % 50_000 == 0:
                    gc.collect()

        threads = [threading.Thread(target=hammer, args=(250_000,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        drained = 0
        while any(thread.is_alive() for thread in threads):
            notes, lost = native.drain()
            drained += len(notes) + lost
            threads[0].join(0.001)
        notes, lost = native.drain()
        print(native.writes(number), drained + len(notes) + lost, len({thread for _, thread, _, _ in notes}) <= 4)
    """
    assert run(program) == "1000000 1000000 True"


def test_threads_that_hammer_a_watched_dict_are_stopped_each(run: Run) -> None:
    program = """
        import threading
        monitoring = sys.monitoring
        INSTRUCTION = monitoring.events.INSTRUCTION
        monitoring.use_tool_id(0, "test")
        lock = threading.RLock()
        armed = []
        seen = stops = 0

        def instruction(code, offset):
            global seen, stops
            with lock:
                while armed:
                    monitoring.set_local_events(0, armed.pop(), 0)
                notes, lost = native.drain()
                seen += len(notes) + lost
                stops += 1

        monitoring.register_callback(0, INSTRUCTION, instruction)
        watched = {"x": 0}
        number = native.watch(watched, "x")
        native.arm_writers(0, INSTRUCTION, armed)

        def hammer(times):
            for i in range(times):
                watched["x"] = [i]

        threads = [threading.Thread(target=hammer, args=(2_000,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        notes, lost = native.drain()
        print(native.writes(number), seen + len(notes) + lost, stops > 4000)
    """
    assert run(program) == "8000 8000 True"


def test_program_may_end_and_write_to_the_last_while_it_is_watched(run: Run) -> None:
    program = """
        import atexit, threading, functools
        watched = {"x": 0}
        native.watch(watched, "x")
        native.watch(globals(), "watched")
        native.watch(sys.modules["builtins"].__dict__, "_")
        native.arm_writers(0, sys.monitoring.events.INSTRUCTION, [])  # nobody has this tool, so it fails; nobody drains

        class Late:
            def __del__(self):
                watched["x"] = 2

        watched["late"] = Late()
        threading.Thread(target=lambda: watched.update(x=3)).start()
        atexit.register(watched.update, x=4)
    """
    assert run(program) == ""


def test_fork_keeps_the_watch_in_both_processes(run: Run) -> None:
    program = """
        import os
        watched = {"x": 0}
        number = native.watch(watched, "x")
        child = os.fork()
        watched["x"] = 1
        ok = native.writes(number) == 1
        if child == 0:
            os._exit(0 if ok else 1)
        print(ok, os.waitpid(child, 0)[1])
    """
    assert run(program) == "True 0"
