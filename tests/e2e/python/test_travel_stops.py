"""What the debugger does in a program at a stop makes no difference to how it is executed again."""

import pytest

from dapkit.client import Stopped
from e2e.python.adapter_client import AdapterClient
from e2e.python.forward_run import timeline

pytestmark = [pytest.mark.each_python, pytest.mark.row("reverseContinue")]


async def value(driver: AdapterClient, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [frame, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=frame.id)).result


async def look(driver: AdapterClient) -> None:
    """Have the debugger make objects, of which some are kept."""
    await driver.locals()
    made = "[number], str(number), number + 0.5, 1000 + number, object()"
    await value(driver, f"vars(__import__('sys')).setdefault('looked', []).extend(({made}) for number in range(1000))")


PLACES = """
    import threading
    go = threading.Event()
    thread = threading.Thread(target=go.wait)
    thread.start()
    kept = []
    for number in range(3):
        kept += [{number}, [], (number,), number + 0.5, str(number), lambda: kept, object(), 300 + number]
    places = [id(each) for each in kept]
    go.set()
    thread.join()
    pass
"""
IN_LOOP, AFTER, END = 7, 9, 11


@pytest.mark.thorough
async def test_objects_lie_where_they_did_after_stops_while_threads_run(driver: AdapterClient, python: str) -> None:
    # There is no copy of the program while it has two threads, so what the debugger makes at the stops is in none.
    await driver.start(PLACES, IN_LOOP, AFTER, python=python, timeTravel=True)
    for _ in range(3):
        await driver.session.next_stop()
        await look(driver)
        await driver.resume()
    live = await value(driver, "hash(tuple(places))")
    await driver.travel((await timeline(driver)).now)
    assert await value(driver, "hash(tuple(places))") == live


@pytest.mark.thorough
async def test_objects_lie_where_they_did_after_a_look_at_the_past(driver: AdapterClient, python: str) -> None:
    await driver.start(PLACES, END, python=python, timeTravel=True)
    await driver.session.next_stop()
    live = await value(driver, "hash(tuple(places))")
    await driver.travel((await timeline(driver)).now - 8)
    assert await value(driver, "len(kept)") == "8"
    while (await driver.where())[1] != AFTER:
        await look(driver)
        await driver.session.next(1)
        await driver.session.next_stop()
    assert await value(driver, "hash(tuple(places))") == live


NAMES = """
    import sys
    import warnings
    warnings.simplefilter("ignore")
    class Thing:
        abcd = 1

    values = [getattr(Thing, "".join(["ab", "cd"]))]
    first = True
    second = True
    sys._clear_type_cache()
    kept = [(object(),) for _ in range(100)]
    places = [id(each) for each in kept]
    made = True
    pass
"""
FIRST, MADE, OVER = 8, 13, 14


@pytest.mark.thorough
async def test_objects_lie_where_they_did_though_names_were_forgotten(driver: AdapterClient, python: str) -> None:
    # The interpreter's cache of attributes holds such a name, and lets go of it when the debugger looks up others.
    await driver.start(NAMES, OVER, python=python, timeTravel=True)
    await driver.session.next_stop()
    live = await value(driver, "hash(tuple(places))")
    while (await driver.where())[1] != FIRST:
        await driver.session.step_back(1)
        await driver.session.next_stop()
    await value(driver, "sys._clear_type_cache()")
    while (await driver.where())[1] != MADE:
        await driver.session.next(1)
        await driver.session.next_stop()
    assert await value(driver, "hash(tuple(places))") == live


THROWS = """
    import types

    @types.coroutine
    def suspended():
        yield

    async def waits():
        while True:
            await suspended()
            continue

    def cancel():
        waiting = waits()
        for _ in range(3):
            waiting.send(None)
        stopped = True
        try:
            waiting.throw(KeyError())
        except KeyError:
            pass

    cancel()
    pass
"""
STOPPED, LAST = 16, 23


@pytest.mark.thorough
async def test_lines_are_counted_the_same_when_something_is_thrown_into_a_coroutine(
    driver: AdapterClient, python: str
) -> None:
    # CPython 3.13 and 3.14 report the line where it was suspended once more if breakpoints have changed since it began.
    await driver.start(THROWS, STOPPED, python=python, timeTravel=True)
    await driver.session.next_stop()
    await driver.session.add_breakpoint(driver.file, LAST)
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("<module>", LAST)
    now = (await timeline(driver)).now
    for from_beginning in (True, False):
        await driver.travel(now, from_beginning=from_beginning)
        assert await driver.where() == ("<module>", LAST)
