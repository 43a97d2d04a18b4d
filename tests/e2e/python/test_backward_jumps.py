"""Ways back in time besides steps and breakpoints: to a line, into a call, to a change of data."""

from collections.abc import Mapping

import msgspec
import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    DataBreakpoint,
    GotoArguments,
    GotoTargetsArguments,
    RestartFrameArguments,
    ReverseContinueArguments,
    Source,
    StepBackArguments,
    StoppedEvent,
)
from dapkit.protocol.time_travel import WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.each_python

PROGRAM = """
    def square(n):
        result = n * n
        return result

    def work(count):
        total = 0
        for i in range(count):
            total += square(i)
        if count < 0:
            total = -1
        return total

    first = work(20)
    second = work(5)
    print(first, second, flush=True)
"""
RETURNS = 11
LAST = 15


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python, "timeTravel": True}


async def value(driver: AdapterClient, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [top, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=top.id)).result


async def goto(driver: AdapterClient, line: int) -> str:
    """Go to a line, as a client does; return the reason of the stop."""
    source = Source(path=str(driver.file))
    [target, *_] = (await driver.session.request(GotoTargetsArguments(source=source, line=line))).targets
    position = driver.session.position
    await driver.session.request(GotoArguments(thread_id=1, target_id=target.id))
    return (await driver.session.wait_for(StoppedEvent, since=position)).reason


@pytest.mark.row("goto")
async def test_goto_goes_to_the_time_when_the_line_was_executed_last(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, RETURNS, **launch)
    await driver.session.next_stop()
    await driver.resume()
    assert await value(driver, "count") == "5"
    for line, seen in ((8, "(4, 14)"), (7, "(3, 14)"), (6, None)):
        assert await goto(driver, line) == "goto"
        assert await driver.where() == ("work", line)
        assert await value(driver, "count") == "5"
        if seen is not None:
            assert await value(driver, "(i, total)") == seen
    with pytest.raises(RequestFailed, match="readOnlyPast"):
        await goto(driver, 10)
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("work", RETURNS)
    assert await value(driver, "(i, total)") == "(4, 30)"
    assert await goto(driver, 10) == "goto"
    assert isinstance(await driver.resume(), Stopped)
    assert isinstance(await driver.resume(), Ended)
    assert driver.output("stdout") == "2470 -1\n"


@pytest.mark.row("goto")
async def test_goto_finds_the_line_of_a_function_that_has_returned(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, LAST, **launch)
    await driver.session.next_stop()
    assert await goto(driver, 3) == "goto"
    assert await driver.where() == ("square", 3)
    assert await value(driver, "result") == "16"


async def into(driver: AdapterClient) -> tuple[str, int]:
    position = driver.session.position
    await driver.session.request_custom("dapkit/stepBackInto")
    assert (await driver.session.wait_for(StoppedEvent, since=position)).reason == "step"
    return await driver.where()


@pytest.mark.row("stepBack")
async def test_steps_back_into_what_was_called(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(PROGRAM, LAST, **launch)
    await driver.session.next_stop()
    places = [await into(driver) for _ in range(7)]
    assert places == [
        ("work", 11),
        ("work", 9),
        ("work", 7),
        ("square", 3),
        ("square", 2),
        ("work", 8),
        ("work", 7),
    ]
    assert await value(driver, "i") == "3"


DATA = """
    class Account:
        def __init__(self, name):
            self.name = name
            self.balance = 0

        def pay(self, amount):
            self.balance += amount

    class Slotted:
        __slots__ = ("seat",)

    def collect(amounts):
        most = 0
        for amount in amounts:
            if amount > most:
                most = amount
        return most

    others = [Account("other") for _ in range(3)]
    del others[1]
    account = Account("mine")
    slotted = Slotted()
    prices = {"tea": 1}
    seats = [0, 0, 0]
    raw = bytearray(4)
    for amount in (5, -20, 3):
        account.pay(amount)
        slotted.seat = amount
        prices["tea"] += amount
        seats[1] = amount
        raw[2] = amount + 20
    others[0].pay(7)
    collect([1])
    most = collect([3, 9, 4])
    print(account.balance, flush=True)
"""
DATA_END = 35


async def reverse(driver: AdapterClient) -> str:
    position = driver.session.position
    await driver.session.request(ReverseContinueArguments(thread_id=1))
    return (await driver.session.wait_for(StoppedEvent, since=position)).reason


async def watch(driver: AdapterClient, name: str, parent: str | None = None) -> None:
    """Set a data breakpoint on a variable, or on a child of what an expression is, as an editor does."""
    [top, *_] = await driver.frames()
    if parent is None:
        info = await driver.session.data_breakpoint_info(name, frame_id=top.id)
    else:
        shown = await driver.session.evaluate(parent, frame_id=top.id)
        info = await driver.session.data_breakpoint_info(name, variables_reference=shown.variables_reference)
    assert info.data_id is not None, info.description
    await driver.session.set_data_breakpoints(breakpoints=[DataBreakpoint(data_id=info.data_id, access_type="write")])


@pytest.mark.thorough
@pytest.mark.row("setDataBreakpoints")
@pytest.mark.parametrize(
    ("name", "parent", "seen"),
    [
        ("balance", "account", ["-12", "-15", "5"]),
        ("seat", "slotted", ["3", "-20", "5"]),
        ("'tea'", "prices", ["-11", "-14", "6"]),
        ("[1]", "seats", ["3", "-20", "5"]),
        ("[2]", "raw", ["23", "0", "25"]),
    ],
)
async def test_data_breakpoints_on_parts_of_objects_stop_backwards(
    driver: AdapterClient, launch: Mapping[str, object], name: str, parent: str, seen: list[str]
) -> None:
    await driver.start(DATA, DATA_END, **launch)
    await driver.session.next_stop()
    await watch(driver, name, parent)
    found = []
    for _ in seen:
        assert await reverse(driver) == "data breakpoint"
        found.append((driver.told(StoppedEvent)[-1].text or "").rpartition(" to ")[2].partition(";")[0])
    assert found == seen
    assert await reverse(driver) == "entry"
    await driver.session.set_data_breakpoints(breakpoints=[])
    while isinstance(await driver.resume(), Stopped):
        pass
    assert driver.output("stdout") == "-12\n"


@pytest.mark.row("setDataBreakpoints")
async def test_data_breakpoints_on_local_variables_stop_backwards_in_their_call(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(DATA, 17, **launch)
    await driver.session.next_stop()
    await driver.resume()
    assert await value(driver, "most") == "9"
    await watch(driver, "most")
    found = []
    for _ in range(3):
        assert await reverse(driver) == "data breakpoint"
        found.append(await value(driver, "most"))
    assert found == ["9", "3", "0"]
    assert (await driver.where())[0] == "collect"
    assert await value(driver, "amounts") == "[3, 9, 4]"
    assert await reverse(driver) == "breakpoint"
    assert await value(driver, "amounts") == "[1]"


@pytest.mark.row("setDataBreakpoints")
async def test_data_breakpoints_set_in_the_past_hold_in_the_live_program(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(DATA, 32, **launch)
    await driver.session.next_stop()
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    await driver.session.wait_for(StoppedEvent, since=position)
    await watch(driver, "balance", "others[0]")
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("<module>", 32)
    assert isinstance(await driver.resume(), Stopped)
    assert driver.told(StoppedEvent)[-1].reason == "data breakpoint"
    assert await value(driver, "self.balance") == "7"


@pytest.mark.row("evaluate")
async def test_expressions_in_the_past_change_nothing_outside(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, LAST, **launch)
    await driver.session.next_stop()
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    await driver.session.wait_for(StoppedEvent, since=position)
    kept = driver.write("as it was", "kept.txt")
    for expression in (
        f"open({str(kept)!r}, 'w')",
        f"open({str(kept)!r}, 'r+')",
        f"__import__('os').remove({str(kept)!r})",
        f"__import__('os').mkdir({str(kept.with_suffix('.d'))!r})",
        f"__import__('subprocess').run(['touch', {str(kept.with_name('made'))!r}])",
        f"__import__('socket').socket(1).bind({str(kept.with_name('made'))!r})",
    ):
        with pytest.raises(RequestFailed, match="Read-only file system"):
            await value(driver, expression)
    assert await value(driver, f"__import__('os').system('rm ' + {str(kept)!r})") == "-1"
    assert await value(driver, f"open({str(kept)!r}).read()") == "'as it was'"
    assert sorted(path.name for path in driver.folder.iterdir()) == sorted([kept.name, driver.file.name])
    assert isinstance(await driver.resume(), Stopped)
    assert await value(driver, f"open({str(kept)!r}, 'w').write('new')") == "3"


TASKS = """
    import asyncio

    async def worker(name):
        total = 0
        for i in range(3):
            total += i + 1
            await asyncio.sleep(0)
        return total

    async def main():
        return await asyncio.gather(worker("a"), worker("b"), worker("c"))

    found = asyncio.run(main())
    print(found, flush=True)
"""


async def step_back(driver: AdapterClient) -> None:
    """Step back by a line."""
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    await driver.session.wait_for(StoppedEvent, since=position)


@pytest.mark.row("stepBack")
@pytest.mark.row("restartFrame")
async def test_a_coroutine_is_known_where_it_is_suspended(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(TASKS, 6, **launch)
    await driver.session.next_stop()
    while await value(driver, "(name, i)") != "('b', 2)":
        await driver.resume()
    [top, *_] = await driver.frames()
    asked = WhyArguments(expression="total", frame_id=top.id)
    why = msgspec.convert(await driver.session.request_custom("dapkit/why", asked), WhyBody)
    assert (why.line, why.function, why.old, why.new) == (6, "worker", "1", "3")
    for line, seen in (
        (5, "('b', 1, 3)"),
        (7, "('b', 1, 3)"),
        (6, "('b', 1, 1)"),
        (5, "('b', 0, 1)"),
        (7, "('b', 0, 1)"),
    ):
        await step_back(driver)
        assert await driver.where() == ("worker", line)
        assert await value(driver, "(name, i, total)") == seen
    [top, *_] = await driver.frames()
    position = driver.session.position
    await driver.session.request(RestartFrameArguments(frame_id=top.id))
    await driver.session.wait_for(StoppedEvent, since=position)
    assert await driver.where() == ("worker", 4)
    assert await value(driver, "name") == "'b'"
