"""Time travel of programs whose libraries begin threads that the interpreter does not know."""

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from dapkit.protocol import OutputEvent, StepBackArguments, StoppedEvent
from dapkit.protocol.time_travel import TimelineBody
from dapkit.python.adapter.time_travel.replay_messages import history_ended
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.library_with_thread import CALLER, make_library
from interpreters import OURS, interpreter
from program_libraries import libraries_for

VERSIONS = ("3.12", "3.13", "3.14", "3.15")

PRODUCTS = """
    import numpy as np
    a = np.random.default_rng(1).normal(size=(400, 400))
    sums = []
    for i in range(30):
        sums.append(float((a @ a)[i].sum()))
    print("done", flush=True)
"""


async def step_back(driver: AdapterClient) -> StoppedEvent:
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    return await driver.session.wait_for(StoppedEvent, since=position)


async def value(driver: AdapterClient, expression: str) -> str:
    frame = (await driver.frames(1))[-1].id  # the program's: there may be one of numpy above it
    return (await driver.session.evaluate(expression, frame_id=frame, context="clipboard")).result


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.row("stepBack")
@pytest.mark.parametrize("version", VERSIONS)
async def test_threads_of_openblas_compute_the_same_in_the_past(tmp_path: Path, version: str) -> None:
    """A thread in a copy once got the stack of a thread of the debugger, whose frames the interpreter still reads."""
    python = sys.executable if version == OURS else str(interpreter(version))
    settings = {"OPENBLAS_NUM_THREADS": "3", **libraries_for(version)}
    async with adapter_client(tmp_path) as driver:
        await driver.start(PRODUCTS, 6, python=python, env=settings, timeTravel={"interval": 0.05})
        await driver.session.next_stop()
        live = await value(driver, "sums")
        timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
        for clock in range(timeline.live - 1, timeline.live - 50, -7):
            await driver.travel(clock)
            assert live.startswith((await value(driver, "sums")).removesuffix("]"))


@pytest.mark.row("stepBack")
@pytest.mark.each_python
async def test_history_ends_before_a_library_begins_a_thread(
    driver: AdapterClient, python: str, require_tool: Callable[[str], Path]
) -> None:
    make_library(driver.folder, require_tool("cc"))
    await driver.start(CALLER, 6, python=python, timeTravel=True)
    await driver.session.next_stop()
    assert await value(driver, "answer") == "42"
    assert [event.output for event in driver.told(OutputEvent) if event.category == "important"] == [
        "Time travel: the history ends where worker.so began a thread that the interpreter does not know.\n"
    ]
    assert (await step_back(driver)).description == "End of recorded history"
    assert await driver.where() == ("<module>", 5)
    await step_back(driver)
    assert (await driver.where(), await value(driver, "before")) == (("<module>", 4), "20")


def test_a_library_that_can_do_without_threads_is_named_with_the_way_to_say_so() -> None:
    assert history_ended("scikit_learn.libs/libgomp-e985bcbb.so.1.0.0").endswith(
        "To go back in the rest of the program, set OMP_NUM_THREADS=1 in its environment.\n"
    )
