"""Ways back in time besides steps and breakpoints: to a line, into a call, to a change of data."""

from collections.abc import Mapping

import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import GotoArguments, GotoTargetsArguments, Source, StoppedEvent
from e2e.python.driving import Driver

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


async def value(driver: Driver, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [top, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=top.id)).result


async def goto(driver: Driver, line: int) -> str:
    """Go to a line, as a client does; return the reason of the stop."""
    source = Source(path=str(driver.file))
    [target, *_] = (await driver.session.request(GotoTargetsArguments(source=source, line=line))).targets
    position = driver.session.position
    await driver.session.request(GotoArguments(thread_id=1, target_id=target.id))
    return (await driver.session.wait_for(StoppedEvent, since=position)).reason


@pytest.mark.row("goto")
async def test_goto_goes_to_the_time_when_the_line_was_executed_last(
    driver: Driver, launch: Mapping[str, object]
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
    driver: Driver, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, LAST, **launch)
    await driver.session.next_stop()
    assert await goto(driver, 3) == "goto"
    assert await driver.where() == ("square", 3)
    assert await value(driver, "result") == "16"


async def into(driver: Driver) -> tuple[str, int]:
    position = driver.session.position
    await driver.session.request_custom("dapkit/stepBackInto")
    assert (await driver.session.wait_for(StoppedEvent, since=position)).reason == "step"
    return await driver.where()


@pytest.mark.row("stepBack")
async def test_steps_back_into_what_was_called(driver: Driver, launch: Mapping[str, object]) -> None:
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
