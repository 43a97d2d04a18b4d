"""Back in time: to the line before, to the stop before, and forward again to the live program."""

import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import (
    CapabilitiesEvent,
    FunctionBreakpoint,
    ProcessEvent,
    ReverseContinueArguments,
    SetVariableArguments,
    Source,
    SourceBreakpoint,
    StepBackArguments,
    StoppedEvent,
)
from e2e.python.driving import Driver

pytestmark = pytest.mark.each_python

PROGRAM = """
    import random
    import time

    def square(n):
        result = n * n
        return result

    def work(count):
        total = 0
        for i in range(count):
            total += square(i)
            moments.append(time.time_ns())
            numbers.append(random.random())
        return total

    moments, numbers = [], []
    print("begins", flush=True)
    total = work(50)
    print("ends", total, flush=True)
"""
LAST = 19
"""Its last line."""


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python, "timeTravel": True}


async def back(driver: Driver) -> Stopped:
    """Step back, and return the stop."""
    await driver.session.request(StepBackArguments(thread_id=1))
    return await driver.session.next_stop()


async def reverse(driver: Driver) -> Stopped:
    """Run backwards, and return the stop."""
    await driver.session.request(ReverseContinueArguments(thread_id=1))
    return await driver.session.next_stop()


async def value(driver: Driver, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [top, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=top.id)).result


async def at_the_end(driver: Driver, launch: Mapping[str, object], text: str = PROGRAM, line: int = LAST) -> None:
    """Have a program stand at a line, its only breakpoint."""
    await driver.start(text, line, **launch)
    await driver.session.next_stop()


@pytest.mark.row("stepBack")
async def test_step_back_goes_to_the_line_before_over_calls_and_out_to_the_caller(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch, line=6)
    assert await driver.where() == ("square", 6)
    places = []
    for _ in range(4):
        stop = await back(driver)
        assert stop.reason == "step"
        places.append(await driver.where())
    assert places == [("square", 5), ("work", 11), ("work", 10), ("work", 9)]
    assert await value(driver, "count") == "50"


@pytest.mark.row("stepBack")
async def test_step_back_does_not_enter_what_the_line_before_has_called(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    assert (await back(driver)).reason == "step"
    assert await driver.where() == ("<module>", 18)
    assert await value(driver, "'total' in globals()") == "False"
    assert await value(driver, "len(moments)") == "0"


@pytest.mark.row("reverseContinue")
async def test_running_backwards_stops_at_breakpoints_with_their_conditions(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    moments, numbers = await value(driver, "moments[:30]"), await value(driver, "numbers[:30]")
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, condition="i % 10 == 0")]
    )
    indexes = []
    for _ in range(2):
        stop = await reverse(driver)
        assert stop.reason == "breakpoint"
        assert len(driver.told(StoppedEvent)[-1].hit_breakpoint_ids or ()) == 1
        assert await driver.where() == ("work", 12)
        indexes.append(await value(driver, "i"))
    assert indexes == ["40", "30"]
    assert await value(driver, "moments") == moments
    assert await value(driver, "numbers") == numbers


@pytest.mark.row("reverseContinue")
async def test_hit_conditions_count_from_the_beginning(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, hit_condition="7")]
    )
    await reverse(driver)
    assert await value(driver, "i") == "6"


@pytest.mark.row("reverseContinue")
async def test_nothing_to_stop_at_leads_to_the_beginning(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    stop = await reverse(driver)
    assert stop.reason == "entry"
    assert driver.told(StoppedEvent)[-1].description == "Start of recorded history"
    assert await driver.where() == ("<module>", 1)
    assert (await back(driver)).reason == "entry"


@pytest.mark.row("reverseContinue")
async def test_forwards_again_comes_to_the_live_program_which_has_written_everything_once(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, condition="i == 48")]
    )
    await reverse(driver)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=LAST)])
    for place in (("work", 13), ("work", 10), ("work", 11), ("work", 12)):
        await driver.session.next(1)
        await driver.session.next_stop()
        assert await driver.where() == place
    stop = await driver.resume()
    assert isinstance(stop, Stopped)
    assert await driver.where() == ("<module>", LAST)
    total = await value(driver, "total")
    ended = await driver.resume()
    assert isinstance(ended, Ended)
    assert driver.output("stdout") == f"begins\nends {total}\n"


@pytest.mark.row("reverseContinue")
async def test_function_breakpoints_stop_backwards(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_function_breakpoints(breakpoints=[FunctionBreakpoint(name="square")])
    stop = await reverse(driver)
    assert stop.reason == "function breakpoint"
    assert await driver.where() == ("square", 5)
    assert await value(driver, "n") == "49"


@pytest.mark.row("reverseContinue")
async def test_exceptions_stop_backwards(driver: Driver, launch: Mapping[str, object]) -> None:
    text = """
        def check(n):
            if n == 3:
                raise ValueError(n)

        for i in range(6):
            try:
                check(i)
            except ValueError:
                caught = i
        print(caught)
    """
    await at_the_end(driver, launch, text, 10)
    await driver.session.set_exception_breakpoints(["raised"])
    stop = await reverse(driver)
    assert stop.reason == "exception"
    assert await driver.where() == ("check", 3)
    assert await value(driver, "n") == "3"
    assert (await driver.session.exception_info(1)).exception_id == "ValueError"


@pytest.mark.row("stepBack")
async def test_the_past_cannot_be_changed(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    [scope, *_] = await driver.scopes()
    with pytest.raises(RequestFailed, match="readOnlyPast"):
        await driver.session.request(
            SetVariableArguments(variables_reference=scope.variables_reference, name="numbers", value="1")
        )


@pytest.mark.row("stepBack")
async def test_the_way_back_is_announced_only_where_there_is_one(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    assert driver.session.capabilities.supports_step_back
    assert [event.capabilities.supports_step_back for event in driver.told(CapabilitiesEvent)] == [True]


@pytest.mark.row("stepBack")
async def test_without_time_travel_the_way_back_is_refused(driver: Driver, python: str) -> None:
    await at_the_end(driver, {"python": python})
    with pytest.raises(CapabilityMissing, match="supportsStepBack"):
        await back(driver)


def copies_of(pid: int) -> list[int]:
    """Return the processes of the past of a program: they have its command line."""
    own = Path(f"/proc/{pid}/cmdline").read_bytes()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != pid:
            with contextlib.suppress(OSError):
                if (folder / "cmdline").read_bytes() == own:
                    found.append(int(folder.name))
    return found


async def until_gone(pids: list[int]) -> None:
    """Wait until processes have ended."""
    with anyio.fail_after(30):
        while any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids):  # noqa: ASYNC110, ASYNC240
            await anyio.sleep(0.02)


@pytest.mark.row("stepBack")
async def test_a_killed_adapter_leaves_no_process_of_the_past(driver: Driver, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    [event] = driver.told(ProcessEvent)
    program = event.system_process_id
    assert program is not None
    copies = copies_of(program)
    assert len(copies) >= 2  # one that waits, one that is shown
    assert driver.session.adapter_pid is not None
    os.kill(driver.session.adapter_pid, signal.SIGKILL)
    await until_gone([program, *copies])


@pytest.mark.row("stepBack")
async def test_a_killed_process_of_the_past_leads_to_the_live_program(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    assert await driver.where() == ("<module>", LAST - 1)
    position = driver.session.position
    [event] = driver.told(ProcessEvent)
    assert event.system_process_id is not None
    os.kill(max(copies_of(event.system_process_id)), signal.SIGKILL)
    await driver.session.wait_for(StoppedEvent, since=position)
    assert await driver.where() == ("<module>", LAST)
    assert isinstance(await driver.resume(), Ended)


@pytest.mark.row("reverseContinue")
async def test_stops_that_the_program_has_gone_on_from_do_not_hold_up_its_past(
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, 17, 18, LAST, **launch)
    await driver.session.next_stop()
    await driver.resume()
    await driver.resume()
    for line in (18, 17):
        assert (await reverse(driver)).reason == "breakpoint"
        assert await driver.where() == ("<module>", line)
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("<module>", 18)
