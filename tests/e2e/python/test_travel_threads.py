"""Threads of the debugger are none of the program's, in its past as well."""

import msgspec
import pytest

from dapkit.protocol import StoppedEvent
from dapkit.protocol.time_travel import TimelineBody, TravelToArguments
from e2e.python.driving import Driver

pytestmark = [pytest.mark.each_python, pytest.mark.row("reverseContinue")]

COUNTS = """
    import _thread

    first = _thread._count()
    for _ in range(10):
        pass
    again = _thread._count()
    shown = True
    pass
"""


async def test_the_program_counts_its_threads_as_it_did_when_its_past_goes_on(driver: Driver, python: str) -> None:
    await driver.start(COUNTS, 8, python=python, timeTravel=True)
    await driver.session.next_stop()
    timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
    position = driver.session.position
    await driver.session.request_custom("dapkit/travelTo", TravelToArguments(clock=timeline.live - 3))
    await driver.session.wait_for(StoppedEvent, since=position)
    await driver.session.next(1)
    await driver.session.next_stop()
    await driver.session.next(1)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    assert frame.line == 7
    assert (await driver.session.evaluate("again - first", frame_id=frame.id)).result == "0"
