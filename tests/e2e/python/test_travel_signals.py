"""Handlers of signals are part of the program: they run in its past as they did."""

from pathlib import Path

import msgspec
import pytest

from dapkit.protocol.time_travel import TimelineBody
from e2e.python.adapter_client import AdapterClient

pytestmark = [pytest.mark.each_python, pytest.mark.row("reverseContinue")]

PROGRAM = """\
import signal
import time

handled = []


def handle(number, frame):
    asked = time.time()
    handled.append((number, asked))


signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
count = 0
while len(handled) < 20:
    count += 1
    count += 2
signal.setitimer(signal.ITIMER_REAL, 0)
pass
"""


async def state(driver: AdapterClient) -> str:
    """Return what the handler has noted, and when."""
    frames = await driver.frames()
    return (await driver.session.evaluate("handled, count", frame_id=frames[-1].id)).result


@pytest.mark.thorough
async def test_handlers_run_while_conditions_are_checked(driver: AdapterClient, tmp_path: Path, python: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    lines = PROGRAM.splitlines()
    last, loop = len(lines), lines.index("    count += 1") + 1
    await driver.session.add_breakpoint(program, last)
    await driver.session.add_breakpoint(program, loop, condition="str(count) == handled")
    await driver.session.add_breakpoint(program, loop + 1, condition="str(count) == handled")
    launch = {"program": str(program), "cwd": str(tmp_path), "python": python, "timeTravel": True}
    await driver.session.launch(launch)
    await driver.session.next_stop()
    live = await state(driver)
    timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
    await driver.travel(timeline.live, from_beginning=True)
    assert await state(driver) == live


DELEGATES = """\
import _thread
from functools import partial
from operator import call


def inner():
    try:
        yield
    except KeyboardInterrupt:
        caught.append("inner")


def outer():
    yield from inner()


caught = []
going = outer()
next(going)
try:
    list(map(call, [_thread.interrupt_main, partial(going.send, None)]))
except (StopIteration, KeyboardInterrupt) as error:
    caught.append(type(error).__name__)
pass
"""


async def test_ctrl_c_is_raised_where_the_interpreter_raises_it(driver: AdapterClient, python: str) -> None:
    # Code that goes on for the first time is looked at there, by a function that would notice the signal too early.
    await driver.start(DELEGATES, len(DELEGATES.splitlines()), python=python, timeTravel=True)
    await driver.session.next_stop()
    frames = await driver.frames()
    assert (await driver.session.evaluate("caught", frame_id=frames[-1].id)).result == "['inner']"
