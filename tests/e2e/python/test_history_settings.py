"""`timeTravel` with settings: how often the program is copied, how much memory copies have, what threads are to it."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec
import pytest

from dapkit.client import Ended
from dapkit.endpoint import RequestFailed
from dapkit.protocol import OutputEvent, StepBackArguments, StoppedEvent
from dapkit.protocol.time_travel import TimelineBody
from dapkit.python import limits
from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.each_python

BUSY = """
    import time
    kept = []
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        kept.append(bytearray(1_000_000))
        for part in kept[-60:]:
            part[::4096] = bytes(len(part[::4096]))
    print("done", flush=True)
"""
DONE = 8


async def timeline(driver: AdapterClient) -> TimelineBody:
    return msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)


async def copies(driver: AdapterClient, python: str, **settings: object) -> int:
    """Run the busy program to its last line; return how many copies of it there are."""
    await driver.start(BUSY, DONE, python=python, timeTravel=settings)
    await driver.session.next_stop()
    return len((await timeline(driver)).checkpoints)


@pytest.mark.thorough
@pytest.mark.row("stepBack")
async def test_copies_are_as_far_apart_as_asked(driver: AdapterClient, python: str) -> None:
    assert await copies(driver, python, interval=3600) == 1


@pytest.mark.thorough
@pytest.mark.row("stepBack")
async def test_copies_are_dropped_that_have_more_memory_than_they_may(driver: AdapterClient, python: str) -> None:
    await copies(driver, python, interval=0.001, memoryLimit=1)
    with anyio.fail_after(30):
        while len((await timeline(driver)).checkpoints) > limits.LEAST_CHECKPOINTS:  # noqa: ASYNC110 - nobody reports it
            await anyio.sleep(0.05)
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    await driver.session.wait_for(StoppedEvent, since=position)
    assert await driver.where() == ("<module>", DONE - 4)


THREADS = """
    import threading
    values = []
    values.append(1)
    thread = threading.Thread(target=values.append, args=(2,))
    thread.start()
    thread.join()
    values.append(3)
    print(values, flush=True)
"""


@pytest.mark.row("stepBack")
async def test_history_ends_where_threads_begin_if_it_is_to(driver: AdapterClient, python: str) -> None:
    await driver.start(THREADS, 8, python=python, timeTravel={"threads": "end"})
    await driver.session.next_stop()
    assert [event.output for event in driver.told(OutputEvent) if event.category == "important"] == [
        'Time travel: the history ends where the program began a second thread ("threads": "end").\n'
    ]
    places = []
    for _ in range(3):
        position = driver.session.position
        await driver.session.request(StepBackArguments(thread_id=1))
        stop = await driver.session.wait_for(StoppedEvent, since=position)
        places.append((stop.description, await driver.where()))
    assert places == [
        ("End of recorded history", ("<module>", 5)),
        (None, ("<module>", 4)),
        (None, ("<module>", 3)),
    ]
    await driver.resume()
    assert await driver.where() == ("<module>", 8)
    assert isinstance(await driver.resume(), Ended)
    assert driver.output("stdout") == "[1, 2, 3]\n"


@pytest.mark.row("launch")
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"interval": 0}, r"timeTravel\.interval"),
        ({"memoryLimit": "1 GB"}, r"timeTravel\.memoryLimit"),
        ({"threads": "stop"}, r"timeTravel\.threads"),
        ("yes", "timeTravel"),
    ],
)
async def test_other_settings_are_refused(driver: AdapterClient, python: str, settings: object, problem: str) -> None:
    with pytest.raises(RequestFailed, match=problem):
        await driver.start("pass", python=python, timeTravel=settings)


IN_A_FOLDER = """
    import os
    import tempfile

    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        total = 1
        total += 1
        total += 1
        os.chdir(home)
    print(total, flush=True)
"""


@pytest.mark.row("stepBack")
async def test_a_folder_that_is_gone_does_not_hide_the_past_in_it(
    driver: AdapterClient, python: str, launch: Mapping[str, object]
) -> None:
    """The copy that is made after the first stop is in a folder that is removed later."""
    await driver.start(IN_A_FOLDER, 8, 11, python=python, **launch)
    await driver.session.next_stop()
    clock = (await timeline(driver)).now
    await driver.resume()
    await driver.travel(clock + 2)
    assert any(clock <= known.clock <= clock + 1 for known in (await timeline(driver)).checkpoints)
    [top, *_] = await driver.frames()
    assert (top.line, top.source and top.source.path) == (10, str(Path(driver.file)))
    assert (await driver.session.evaluate("total", frame_id=top.id)).result == "3"


@pytest.fixture
def launch() -> Mapping[str, object]:
    """Return launch arguments: copies are made after stops only."""
    return {"timeTravel": {"interval": 3600}}
