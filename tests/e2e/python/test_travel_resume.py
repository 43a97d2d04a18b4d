"""A program that goes on from a moment of its past does what it did, though it was looked at there."""

import anyio
import pytest

from dapkit.client import Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import StoppedEvent, from_json_value
from dapkit.protocol.time_travel import TimelineBody
from e2e.python.adapter_client import AdapterClient

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


RANDOM = """
    kept = []
    first = 1
    import threading
    from _ssl import RAND_bytes
    numbers = []
    thread = threading.Thread(target=lambda: numbers.append(RAND_bytes(16).hex()))
    thread.start()
    thread.join()
    shown = True
    pass
"""
"""OpenSSL makes numbers for each thread, also of where the thread has its memory."""


async def shown_from(driver: AdapterClient, clock: int, line: int, expression: str) -> tuple[str, str]:
    """Go to a clock, look, and go on to a line of the past; return what a value was, and what it is."""
    await driver.session.next_stop()
    live = await value(driver, expression)
    await driver.travel(clock)
    taken = "bytearray(size) for size in range(500, 2000, 8) for _ in range(60)"  # what comes next, comes elsewhere
    await value(driver, f"vars().setdefault('kept', []).extend({taken})")
    while (await driver.where())[1] != line:
        await driver.session.next(1)
        await driver.session.next_stop()
    return live, await value(driver, expression)


async def value(driver: AdapterClient, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [frame, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=frame.id)).result


@pytest.mark.thorough
async def test_the_program_counts_its_threads_as_it_did(driver: AdapterClient, python: str) -> None:
    await driver.start(COUNTS, 8, python=python, timeTravel=True)
    live, past = await shown_from(driver, 4, 7, "again - first")
    assert live == past == "0"


@pytest.mark.thorough
async def test_random_numbers_of_openssl_are_those_that_it_had(driver: AdapterClient, python: str) -> None:
    await driver.start(RANDOM, 10, python=python, timeTravel=True)
    live, past = await shown_from(driver, 2, 9, "numbers")
    assert live == past


SEMAPHORE = """
    import os
    from _multiprocessing import SemLock
    lock = SemLock(1, 1, 1, f"/dapkit-{os.urandom(8).hex()}", True)
    shown = True
    pass
"""


@pytest.mark.thorough
async def test_semaphores_with_names_cannot_be_used_in_the_past(driver: AdapterClient, python: str) -> None:
    # The process of the past begins before there is one, so that it has not its memory; and the live program has it.
    await driver.start(SEMAPHORE, 5, python=python, timeTravel=True)
    await driver.session.next_stop()
    await driver.session.step_back(1)
    await driver.session.next_stop()
    for refused in ("lock._get_value()", "lock.acquire(False)"):
        with pytest.raises(RequestFailed, match="Read-only file system"):
            await value(driver, refused)
    assert isinstance(await driver.resume(), Stopped)
    assert await value(driver, "lock._get_value()") == "1"


REMOVED = """
    import os
    import tempfile
    here, folder = os.getcwd(), tempfile.mkdtemp()
    os.chdir(folder)
    entered = True
    again = True
    os.chdir(here)
    os.rmdir(folder)
    pass
"""


@pytest.mark.thorough
async def test_a_moment_in_a_folder_is_shown_that_was_removed_since(driver: AdapterClient, python: str) -> None:
    # A copy of the program is made as it goes on from the first stop, and has that folder as its working directory.
    await driver.start(REMOVED, 5, 9, python=python, timeTravel=True)
    await driver.session.next_stop()
    assert isinstance(await driver.resume(), Stopped)
    for line in (8, 7, 6):
        await driver.session.step_back(1)
        await driver.session.next_stop()
        assert await driver.where() == ("<module>", line)


@pytest.mark.thorough
async def test_steps_forwards_in_code_with_a_breakpoint_stop_at_the_next_line(
    driver: AdapterClient, python: str
) -> None:
    # Lines of such code are reported to the engine, that of the moment shown as well, when the program goes on.
    await driver.start("a = 1\nb = 2\nc = 3\nd = 4\n", 4, python=python, timeTravel=True)
    await driver.session.next_stop()
    await driver.session.step_back(1)
    await driver.session.next_stop()
    await driver.session.step_back(1)
    await driver.session.next_stop()
    seen = [await driver.where()]
    for step in (driver.session.next, driver.session.step_in):
        await step(1)
        await driver.session.next_stop()
        seen.append(await driver.where())
    assert [line for _, line in seen] == [2, 3, 4]


COUNTED = """
    total = 0
    for i in range(3000):
        total += i
        total -= 1
    pass
"""


@pytest.mark.row("threads")
async def test_threads_can_be_asked_for_while_the_past_comes_to_its_end(driver: AdapterClient, python: str) -> None:
    await driver.start(COUNTED, 5, python=python, timeTravel=True)
    await driver.session.next_stop()
    timeline = from_json_value(TimelineBody, await driver.session.request_custom("dapkit/timeline"))
    for known in driver.session.breakpoints:
        await driver.session.remove_breakpoint(known.number)
    is_over = False
    names: set[str] = set()

    async def ask() -> None:
        while not is_over:
            [thread] = (await driver.session.threads()).threads
            names.add(thread.name)

    for _ in range(10):
        await driver.travel(timeline.live - 400)
        assert (await driver.where())[1] in {2, 3, 4}
        is_over = False
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(ask)
            position = driver.session.position
            await driver.session.continue_(1)
            await driver.session.wait_for(StoppedEvent, since=position)
            is_over = True
        assert await driver.where() == ("<module>", 5)
    assert names == {"MainThread"}


@pytest.mark.thorough
async def test_a_crash_in_the_past_is_reported_and_leads_to_the_live_program(
    driver: AdapterClient, python: str
) -> None:
    await driver.start("a = 1\nb = 2\n", 2, python=python, timeTravel=True)
    await driver.session.next_stop()
    await driver.session.step_back(1)
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", 1)
    position = driver.session.position
    with pytest.raises(RequestFailed, match="evaluate: time travel: a process of the past was killed by SIGSEGV"):
        await value(driver, "__import__('ctypes').string_at(1)")
    await driver.session.wait_for(StoppedEvent, since=position)
    assert await driver.where() == ("<module>", 2)
