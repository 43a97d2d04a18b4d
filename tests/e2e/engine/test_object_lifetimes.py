"""What a program has lives as long as without a debugger, however much of it a client has looked at."""

import subprocess
import textwrap
import time
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

HEAD = """
import asyncio, gc, sys, threading, weakref
gc.disable()
def note(*words):
    print(*words, "" if threading.current_thread() is threading.main_thread() else "elsewhere", flush=True)
class Thing:
    def __init__(self, name): self.name, self.inner = name, [object()]
    @property
    def made(self): return bytearray(2)
    def __repr__(self): return f"<{self.name}>"
    def __del__(self): note("end of", self.name)
"""

VARIABLES = """
def local():
    thing = Thing("local")
    x = 1  # stop
    note("references", sys.getrefcount(thing))
    del thing
    note("deleted")
    thing = Thing("later")
def argument(thing):
    thing = None  # stop
    x = 1  # stop
    note("argument is None")
def cells():
    thing = Thing("in a cell")
    def inner(): return thing  # stop
    inner()
    thing = None
    note("cell is empty")
def generator():
    thing = Thing("in a generator")
    yield thing  # stop
def returned(): return Thing("returned")
def stepped():
    x = 1  # stop
    returned()
    y = 2
local(); note("after local")
argument(Thing("argument")); note("after argument")
cells()
next(generator()); note("after generator")
class Body:
    thing = Thing("in a class")
    x = 1  # stop
    del thing
    note("in the class")
thread = threading.Thread(target=local); thread.start(); thread.join()
async def child():
    thing = Thing("in a task")
    await asyncio.sleep(0)
    x = 1  # stop
async def parent():
    await asyncio.gather(child(), child())
    note("tasks are over")
asyncio.run(parent())
stepped()
data = bytearray(b"data"); view = memoryview(data)
x = 1  # stop
del view
data.append(1)
note("end")
"""

EXCEPTIONS = """
class Ends:
    def __del__(self):
        thing = Thing("in a finalizer")
        raise OSError
def raising(thing):
    raise KeyError
def caught():
    thing = Thing("caught")
    try: raising(thing)
    except KeyError as error: note("references", sys.getrefcount(error), sys.getrefcount(thing))
    note("handled")
    del thing
    note("deleted")
def kept():
    def inner():
        thing = Thing("of an error")
        raise ValueError(thing)
    try: inner()
    except ValueError as error: stored = error
    x = 1  # stop
    note("references", sys.getrefcount(stored), sys.getrefcount(stored.__traceback__.tb_next.tb_frame))
    stored = None
    note("error is gone")
def task_group():
    async def leaf(n):
        thing = Thing(f"leaf {n}")
        await asyncio.sleep(0)
        if n == 2: raise ValueError
    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(leaf(1)); group.create_task(leaf(2))
    try: asyncio.run(main())
    except* ValueError: note("group failed")
    gc.collect()
sys.unraisablehook = lambda given: note("unraisable")
caught(); kept()
Ends(); note("after the finalizer")
task_group()
note("end")
"""


def look_at_everything(peer: EngineClient, thread: int) -> None:
    """Ask all that can be asked at a stop."""
    ask(peer, "threads")
    ask(peer, "exceptionInfo", threadId=thread)
    ask(peer, "stackTrace", threadId=thread, format={"parameters": True, "parameterTypes": True, "values": True})
    for frame in peer.stack(thread)[:2]:
        number = frame["id"]
        for scope in (ask(peer, "scopes", frameId=number) or {"scopes": []})["scopes"]:
            if scope["name"] != "Globals":
                open_all(peer, scope["variablesReference"], depth=2)
        for expression in ("thing", "[thing]", "thing.nope", "thing.made", "locals()", "data, view"):
            for context in ("watch", "hover", "repl", "clipboard"):
                ask(peer, "evaluate", expression=expression, context=context, frameId=number)
        ask(peer, "completions", text="thing.", column=7, frameId=number)
        ask(peer, "dataBreakpointInfo", name="thing", frameId=number)
        ask(peer, "stepInTargets", frameId=number)
        ask(peer, "setExpression", expression="thing.name", value="thing.name", frameId=number)


def open_all(peer: EngineClient, reference: int, depth: int) -> None:
    for row in peer.rows(reference):
        if row.get("memoryReference"):
            ask(peer, "readMemory", memoryReference=row["memoryReference"], count=2)
        if row["variablesReference"] and depth and row.get("type") not in ("module", "type"):
            open_all(peer, row["variablesReference"], depth - 1)


def ask(peer: EngineClient, command: str, **arguments: object) -> Message | None:
    try:
        body: Message | None = peer.ask(command, **arguments)
    except Refused:
        return None
    return body


@pytest.mark.thorough
@pytest.mark.needs_gil("what the link lets go of ends when its own thread comes to that")
@pytest.mark.parametrize(("way", "looks"), [("continue", False), ("continue", True), ("next", True)])
@pytest.mark.parametrize("text", [VARIABLES, EXCEPTIONS], ids=["variables", "exceptions"])
def test_after_a_stop_everything_ends_where_it_does_without_a_debugger(
    start: Start, python: str, tmp_path: Path, text: str, way: str, *, looks: bool
) -> None:
    program = textwrap.dedent(HEAD + text).lstrip("\n")
    (tmp_path / "plain.py").write_text(program)
    plain = subprocess.run([python, "plain.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    peer = start(program)
    lines = [at for at, line in enumerate(program.splitlines(), 1) if line.endswith("# stop")]
    peer.configure(lines=lines, filters=["raised", "uncaught"])
    stops = 0
    while (body := next_stop(peer)) is not None:
        stops += 1
        if looks and (way == "continue" or stops % 3 == 0):
            look_at_everything(peer, body["threadId"])
        peer.ask(way, threadId=body["threadId"])
    assert stops >= len(lines)
    assert peer.finish()[:2] == (0, plain.stdout)


def next_stop(peer: EngineClient) -> Message | None:
    """Wait until the program stops; None if it has ended."""
    try:
        return peer.stopped()
    except AssertionError:
        assert peer.ended
        return None


@pytest.mark.needs_gil("the collector begins at other times without one")
def test_garbage_of_the_program_is_collected_in_its_own_code_only(start: Start) -> None:
    peer = start(
        """
        import gc, sys, threading, time, weakref
        gc.collect(); gc.set_threshold(100_000)
        lock, places, references = threading.RLock(), set(), []
        class Node: pass
        def ended(_):
            frame, names = sys._getframe(), set()
            while frame: frame = names.add(frame.f_code.co_qualname) or frame.f_back
            is_ours = threading.get_ident() != threading.main_thread().ident or "main" not in names
            places.add(is_ours or ("ParkedThread.stand" in names and "EvaluationGuard.call" not in names))
            with lock: pass
        def make():
            for _ in range(50):
                node = Node()
                node.itself = node
                references.append(weakref.ref(node, ended))
        def main():
            with lock:
                make()
                x = 1
                y = [[] for _ in range(100)]
            make()
            time.sleep(0)
            while not done: z = []
            while gc.get_threshold()[0] != 3: z = []  # while the link's thread works it is another
            print(places, gc.get_threshold()[0], gc.isenabled())
        done = False
        main()
        """
    )
    peer.configure(lines=[19])
    peer.stopped("breakpoint")
    peer.value("gc.set_threshold(3)", "repl")  # from here on nearly everything would begin a collection
    for _ in range(20):
        scopes = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"]
        peer.rows(scopes[0]["variablesReference"])
        peer.ask("threads")
    peer.go()
    for _ in range(20):
        peer.stack()
        peer.ask("threads")
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    peer.wait_until_in_python()
    deadline = time.monotonic() + 20
    while peer.value("gc.get_threshold()[0], gc.isenabled()") != "(3, True)":
        assert time.monotonic() < deadline, "the threshold does not come back after the link's thread has worked"
    peer.value("done = True; globals().update(done=True)", "repl")
    peer.go()
    assert peer.finish()[:2] == (0, "{False} 3 True\n")


LISTED = """
import gc, sys
def is_ours(value):
    kind = type(value)
    named = [kind, value] if kind in (type, type(sys)) else [kind]
    return any("_dapkit" in str(getattr(owner, "__module__", "")) for owner in named)
class Thing: pass
def main():
    thing = Thing()
    x = 1
    found = {str(value) for value in gc.get_objects() if is_ours(value)}
    print(found, gc.get_referrers(thing), gc.get_referrers(sys._getframe()))
main()
"""


def test_gc_lists_no_class_and_no_object_of_ours(start: Start) -> None:
    peer = start(LISTED)
    peer.configure(filters=["uncaught"])
    assert peer.finish()[:2] == (0, "set() [] []\n")


def test_gc_finds_no_container_of_ours_that_refers_to_a_value_at_a_stop(start: Start) -> None:
    peer = start(LISTED)
    peer.configure(lines=[10])
    peer.stopped("breakpoint")
    for row in peer.locals().values():
        if row["variablesReference"]:
            peer.rows(row["variablesReference"])
    assert peer.value("thing").startswith("<__main__.Thing")
    assert peer.value("gc.get_referrers(thing)") == "[]"


@pytest.mark.thorough
def test_program_counts_as_many_objects_at_its_begin_as_later(start: Start) -> None:
    peer = start(
        """
        import gc, time
        def usual():
            for _ in range(4): gc.collect()  # the interpreter untracks objects of its own by and by
            counts, end = [], time.monotonic() + 0.2
            while time.monotonic() < end:
                counts.append(len(gc.get_objects()))
            return max(set(counts), key=counts.count)
        first = usual()
        time.sleep(1.2)
        print(usual() - first)
        """
    )
    peer.configure()
    assert peer.finish() == (0, "0\n", "")
