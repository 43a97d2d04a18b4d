"""Data breakpoints through the adapter, as an editor sets them."""

from pathlib import Path

import pytest

from dapkit.client import Ended, Stopped
from dapkit.protocol import BreakpointEvent
from e2e.python.adapter_client import AdapterClient
from e2e.python.listening_program import client, running

pytestmark = [pytest.mark.row("dataBreakpointInfo, setDataBreakpoints"), pytest.mark.each_python]

PROGRAM = """
    class Account:
        def __init__(self):
            self.balance = 0
        def pay(self, amount):
            self.balance += amount
    account = Account()
    total = 0
    def main():
        global total
        for amount in (1, 2):
            account.pay(amount)
            total += amount
    main()
"""


async def test_attribute_is_watched_from_the_view_of_its_object(driver: AdapterClient, python: str) -> None:
    await driver.start(PROGRAM, 8, python=python)
    await driver.session.next_stop()
    capabilities = driver.session.capabilities
    assert capabilities.supports_data_breakpoints
    assert capabilities.supports_data_breakpoint_bytes
    [frame, *_] = await driver.frames()
    shown = await driver.session.evaluate("account", frame_id=frame.id)
    info = await driver.session.data_breakpoint_info("balance", variables_reference=shown.variables_reference)
    assert info.data_id is not None
    assert (info.description, info.access_types) == ("account.balance", ["write"])
    placed = await driver.session.add_data_breakpoint(info.data_id)
    assert placed.verified
    stop = await driver.resume()
    assert isinstance(stop, Stopped)
    assert (stop.reason, stop.event.text) == ("data breakpoint", "account.balance changed from 0 to 1")
    assert stop.event.hit_breakpoint_ids == [placed.answer and placed.answer.id]
    assert [frame.name for frame in await driver.frames()] == ["Account.pay", "main", "<module>"]


@pytest.mark.thorough
async def test_global_variable_stays_watched_over_a_restart(driver: AdapterClient, python: str) -> None:
    await driver.start(PROGRAM, 8, python=python)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    info = await driver.session.data_breakpoint_info("total", frame_id=frame.id)
    assert info.can_persist
    assert info.data_id == "global:__main__:total"
    await driver.session.add_data_breakpoint(info.data_id)
    await driver.session.restart()
    texts = []
    stop: Stopped | Ended = await driver.session.next_stop()
    while isinstance(stop, Stopped):
        texts.append(stop.event.text)
        stop = await driver.resume()
    assert texts == [
        "total was set to 0; it had no value",
        None,
        "total changed from 0 to 1",
        "total changed from 1 to 3",
    ]
    told = [event.breakpoint for event in driver.told(BreakpointEvent) if event.reason == "changed"]
    assert [one.verified for one in told] == [False, True]


@pytest.mark.thorough
async def test_program_that_runs_already_is_watched_while_a_client_is_there(tmp_path: Path, python: str) -> None:
    text = """
        import os, sys, time
        import dapkit

        dapkit.listen()
        count = 0
        while not os.path.exists("go"):
            count += 1
            time.sleep(0.01)
        print("tools", [sys.monitoring.get_tool(number) for number in range(6)], flush=True)
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        for _ in range(2):
            async with client() as session:
                await session.add_data_breakpoint("global:__main__:count")
                await session.attach(program.connect)
                stop = await session.next_stop()
                assert isinstance(stop, Stopped)
                assert stop.event.text is not None
                before, _, after = stop.event.text.removeprefix("count changed from ").partition(" to ")
                assert int(after) == int(before) + 1
                [placed] = session.breakpoints
                assert stop.event.hit_breakpoint_ids == [placed.answer and placed.answer.id]
                await session.detach()
        program.go()
        assert program.line() == "tools [None, None, None, None, None, None]"


@pytest.mark.parametrize("travels", [False, True], ids=["plain", "time travel"])
@pytest.mark.thorough
async def test_write_is_a_stop_of_its_own_before_the_end_of_the_step_over_it(
    driver: AdapterClient, python: str, *, travels: bool
) -> None:
    text = "class P: pass\ndef f():\n    p = P()\n    p.x = 0\n    p.x = 5\n    return p\nf()\n"
    await driver.start(text, 5, python=python, timeTravel=travels)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    info = await driver.session.data_breakpoint_info("p.x", frame_id=frame.id)
    assert info.data_id is not None
    assert (await driver.session.add_data_breakpoint(info.data_id)).verified
    reasons = []
    for _ in range(2):
        await driver.session.next(1)
        reasons.append((await driver.session.next_stop()).reason)
    assert reasons == ["data breakpoint", "step"]


async def test_tools_of_libraries_are_free_with_time_travel_but_while_data_is_watched(
    driver: AdapterClient, python: str
) -> None:
    text = """
        import sys
        class P: pass
        def call():
            p = P()
            p.x = 0
            p.x = 5
            return [sys.monitoring.get_tool(number) for number in range(4)]
        before = call()
        watched = call()
        after = call()
        print([before, watched, after])
    """
    await driver.start(text, 6, python=python, timeTravel=True)
    await driver.session.next_stop()
    assert isinstance(await driver.resume(), Stopped)  # in the second call
    [frame, *_] = await driver.frames()
    info = await driver.session.data_breakpoint_info("p.x", frame_id=frame.id)
    assert info.data_id is not None
    await driver.session.add_data_breakpoint(info.data_id)
    stops = [await driver.resume(), await driver.resume()]
    await driver.session.set_data_breakpoints([])
    stops.append(await driver.resume())
    assert [stop.reason if isinstance(stop, Stopped) else "ended" for stop in stops] == [
        "data breakpoint",
        "breakpoint",
        "ended",
    ]
    free = [None] * 4
    assert driver.output("stdout") == f"{[free, [None, None, None, 'dapkit'], free]}\n"
