"""`why` on a corpus: the line that made a value what it is, as the program's own forward run has logged it."""

import re
import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    CancelArguments,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
    Source,
    SourceBreakpoint,
)
from dapkit.protocol.time_travel import TimelineBody, WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient
from e2e.python.why_answers import logged, watched, wrong_answers
from fake_adapters import until
from interpreters import OURS, interpreter

pytestmark = pytest.mark.each_python

PROGRAMS = sorted(Path(__file__).with_name("travel").glob("why/*.py"))
IN_CALLS = sorted(Path(__file__).with_name("travel").glob("why_in_calls/*.py"))


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
async def test_why_names_the_line_that_the_run_has_logged(driver: AdapterClient, python: str, program: Path) -> None:
    if program.stem == "library_objects":
        if python != str(interpreter(OURS)):
            pytest.skip("the libraries are in the environment of the tests")
        python = sys.executable
    text = program.read_text()  # noqa: ASYNC240 - a small file
    last = text[: text.index('print("end")')].count("\n") + 1
    await driver.start(text, last, python=python, timeTravel=True)
    await driver.session.next_stop()
    expected = logged(python, driver.file, watched(program))
    assert len(expected) >= 5
    assert await wrong_answers(driver, driver.file, expected) == {}


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize("program", IN_CALLS, ids=lambda program: program.stem)
async def test_why_names_the_line_for_variables_of_a_call(driver: AdapterClient, python: str, program: Path) -> None:
    text = program.read_text()  # noqa: ASYNC240 - a small file
    last = text[: text.index('print("end")')].count("\n") + 1
    await driver.start(text, last, python=python, timeTravel=True)
    await driver.session.next_stop()
    pairs = [pair.partition(" = ") for pair in ", ".join(re.findall(r"^watch: (.*)$", text, re.MULTILINE)).split(", ")]
    watched = [f"{expression}={same}" for expression, _, same in pairs]
    expected = logged(python, driver.file, ["--in", "show", *watched])
    assert len(expected) >= len(pairs) * 2 // 3
    assert await wrong_answers(driver, driver.file, expected) == {}


BYTES = """
def show(count):
    tags = bytearray(b"1")
    tags.append(2)
    for number in range(count):
        pass
    print("end")
show(3_000_000)
"""
"""Writes to a bytearray are not known: each line is examined, which takes a minute."""


async def stopped_beside_bytes(driver: AdapterClient, python: str) -> tuple[int, int]:
    """Start the program above; return the clock where it stands, and the frame."""
    await driver.start(BYTES, 6, python=python, timeTravel=True)
    await driver.session.next_stop()
    timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
    [frame, *_] = await driver.frames()
    return timeline.now, frame.id


@pytest.mark.row("reverseContinue")
async def test_why_says_how_far_it_has_searched_when_its_time_is_over(driver: AdapterClient, python: str) -> None:
    now, frame_id = await stopped_beside_bytes(driver, python)
    arguments = WhyArguments(expression="tags", frame_id=frame_id, seconds=0.5)
    answer = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
    assert answer == WhyBody(unchanged_since=answer.unchanged_since)
    assert 5 < (answer.unchanged_since or 0) <= now


@pytest.mark.row("reverseContinue")
async def test_a_client_sees_the_progress_of_why_and_may_cancel_it(driver: AdapterClient, python: str) -> None:
    now, frame_id = await stopped_beside_bytes(driver, python)
    position = driver.session.position
    answers = []

    async def ask() -> None:
        arguments = WhyArguments(expression="tags", frame_id=frame_id)
        answers.append(msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        began = await driver.session.wait_for(ProgressStartEvent, since=position)
        step = await driver.session.wait_for(ProgressUpdateEvent, since=position)
        await driver.session.request(CancelArguments(progress_id=began.progress_id))
        await driver.session.wait_for(ProgressEndEvent, since=position)
    assert began.title == "Looking for the change"
    assert step.message is not None
    assert step.message.startswith("back to clock ")
    [answer] = answers
    assert 5 < (answer.unchanged_since or 0) <= now


PASSED = """
class Shop:
    def __init__(self):
        self.total = 5
    def show(self, label, *rows, key="none", **more):
        print("end")
shop = Shop()
name = "some"
shop.show(
    name, 1, 2, extra=3
)
"""


@pytest.mark.row("reverseContinue")
async def test_why_names_the_call_for_parameters_and_the_write_for_the_data_of_an_object(
    driver: AdapterClient, python: str
) -> None:
    await driver.start(PASSED, 5, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    lines = {}
    for expression in ("label", "rows", "key", "more", "self.total", "self"):
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        change = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
        lines[expression] = change.line
    assert lines == {"label": 8, "rows": 8, "key": 8, "more": 8, "self.total": 3, "self": 8}


SHARED = """
def make():
    count = 0
    def add():
        nonlocal count
        count += 1
    def show():
        print("end")
        return count
    return add, show
add, show = make()
add()
show()
"""


@pytest.mark.row("reverseContinue")
async def test_why_does_not_know_older_changes_of_what_is_computed_from_an_enclosing_call(
    driver: AdapterClient, python: str
) -> None:
    await driver.start(SHARED, 7, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    arguments = WhyArguments(expression="count", frame_id=frame.id)
    change = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
    assert (change.line, change.function, change.old, change.new) == (5, "make.<locals>.add", "0", "1")
    arguments = WhyArguments(expression="count + 1", frame_id=frame.id)
    with pytest.raises(RequestFailed, match="not known: it reads variables of an enclosing call"):
        await driver.session.request_custom("dapkit/why", arguments)


DOUBTFUL = """
import array
class Shop:
    def __init__(self):
        self.rows = []
        self.size = 0
class Plain:
    def __init__(self):
        self.size = 0
    def __len__(self):
        return next(turns)
turns = iter(range(1_000_000))
rows = [[1]]
shop, plain = Shop(), Plain()
def work(): yield 1
task = work()
numbers, pair, text, huge, bulk = [1, 2], (1, "a"), "b", 10**5000, array.array("b", bytes(17_000_000))
rows[0].append(2)
shop.rows.append(1)
next(task)
plain.size = 1
print("end")
"""


@pytest.mark.row("reverseContinue")
async def test_why_says_which_changes_it_does_not_see(driver: AdapterClient, python: str) -> None:
    await driver.start(DOUBTFUL, 21, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    answers = {}
    for expression in ("rows", "shop", "task", "plain", "numbers", "pair", "text", "huge", "bulk"):
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        answer = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
        answers[expression] = answer.line, answer.doubt
    assert answers == {
        "rows": (12, "changes inside its items do not count"),
        "shop": (13, "changes inside its attributes do not count"),
        "task": (15, "changes inside an object of the class generator are not seen"),
        "plain": (20, None),
        "numbers": (16, None),
        "pair": (16, None),
        "text": (16, None),
        "huge": (16, None),
        "bulk": (16, "changes inside an object of the class array are not seen"),
    }
    arguments = WhyArguments(expression="len(plain)", frame_id=frame.id)
    with pytest.raises(RequestFailed, match=r"len\(plain\): the line is not known: each evaluation has another value"):
        await driver.session.request_custom("dapkit/why", arguments)


TWO_THREADS = """
import queue, threading
inbox, outbox = queue.Queue(), queue.Queue()
def serve():
    while inbox.get() is not None:
        outbox.put(1)
server = threading.Thread(target=serve)
server.start()
replies = []
append = replies.append
inbox.put(0)
append(outbox.get())
inbox.put(None)
server.join()
"""


@pytest.mark.row("reverseContinue")
async def test_why_refuses_to_choose_between_the_lines_of_two_threads(driver: AdapterClient, python: str) -> None:
    await driver.start(TWO_THREADS, 12, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    arguments = WhyArguments(expression="replies", frame_id=frame.id)
    with pytest.raises(RequestFailed, match=r"not known: two threads ran .*prog\.py:11 or .*prog\.py:4"):
        await driver.session.request_custom("dapkit/why", arguments)


DISTURBED = """
import os, time
def work():
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    data = {"price": 4}
    rows = []
    rows.append(data)
    print("first")
    print("end")
work()
"""


@pytest.mark.row("reverseContinue")
async def test_why_follows_an_object_that_has_another_address_when_it_is_executed_again(
    driver: AdapterClient, python: str
) -> None:
    await driver.start(DISTURBED, 9, 10, python=python, timeTravel={"interval": 3600})
    await until((driver.folder / "begun").exists)
    for number in range(20):  # dicts and lists of the debugger, which are in no checkpoint
        source = Source(path=str(driver.folder / f"other{number}.py"))
        breakpoints = [SourceBreakpoint(line=line) for line in range(1, 100)]
        await driver.session.set_breakpoints(source, breakpoints=breakpoints)
    (driver.folder / "go").touch()
    await driver.session.next_stop()  # it continues from a checkpoint
    await driver.resume()
    [frame, *_] = await driver.frames()
    lines = {}
    for expression in ('data["price"]', "data", "rows", "rows[0]"):
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        change = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
        lines[expression] = change.line
    assert lines == {'data["price"]': 6, "data": 6, "rows": 8, "rows[0]": 8}


FAR = """
class Shop:
    pass
shop = Shop()
shop.total = 5
prices = {number: number for number in range(1000)}
prices[7] = 70
class Slotted:
    __slots__ = ("total",)
slotted = Slotted()
slotted.total = 6
sold = {1}
sold.add(2)
count = 1
def work(times):
    reached = 0
    for step in range(times):
        reached += step
    return reached
class Till:
    def __init__(self):
        self.sum = 0
    def count(self, label):
        mine = {"a": 1}
        mine["a"] = 2
        seen = 3
        self.sum = work(1_000_000)
        for reached in range(1_000_000):
            pass
        print("end")
Till().count("x")
"""


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.row("reverseContinue")
async def test_why_reaches_across_millions_of_lines(driver: AdapterClient, python: str) -> None:
    """Each answer comes within the deadline of a request; a look at each line took minutes."""
    await driver.start(FAR, 29, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    wanted = {"count": 13, "shop.total": 4, "prices[7]": 6, "prices": 6, "slotted.total": 10, "sold": 12}
    wanted |= {"seen": 25, "mine['a']": 24, "mine": 24, "self.sum": 26, "label": 30, "reached": 27}
    lines = {}
    for expression in wanted:
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        change = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
        lines[expression] = change.line
    assert lines == wanted


UNDER_A_LIBRARY = """
    import unittest

    seen = {}

    class Test(unittest.TestCase):
        def test_a(self):
            self.addCleanup(seen.update, done=True)
            seen["began"] = True

        def test_b(self):
            own = 1
            print("end", own)
"""


async def test_a_change_by_a_library_that_the_program_has_not_called_is_not_known(
    driver: AdapterClient, python: str
) -> None:
    """No line of the program has made it, nor calls the library that has."""
    driver.write(UNDER_A_LIBRARY)
    await driver.session.add_breakpoint(driver.file, 12)
    await driver.launch(module="unittest", args=["prog"], python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()

    async def ask(expression: str) -> WhyBody:
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        return msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)

    assert (await ask("own")).line == 11
    assert (await ask("seen['began']")).line == 8
    with pytest.raises(RequestFailed, match=r"the line is not known: Test.test_b was called with it by .*case.py:\d+$"):
        await ask("self")
    with pytest.raises(RequestFailed, match=r"the line is not known: a library has changed it, after .*prog.py:8 had"):
        await ask("seen['done']")
