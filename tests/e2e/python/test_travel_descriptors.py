"""Descriptors of a program with time travel have the numbers that they have without a debugger."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit.protocol import StepBackArguments, StoppedEvent
from e2e.python.adapter_client import AdapterClient, adapter_client

pytestmark = pytest.mark.each_python

PROGRAM = """
    import os

    with open(os.devnull) as first, open(os.devnull) as second:
        print(first.fileno(), second.fileno(), os.listdir("/proc/self/fd") != [], flush=True)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    print(os.getpid() > 0, flush=True)
    ended = True
"""


@pytest.fixture
def usual_limit() -> Iterator[None]:
    """Have as many open files as most systems allow a process at first, which is less than the hard limit."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("usual_limit")
@pytest.mark.thorough
async def test_numbers_of_descriptors_where_a_process_may_have_few(tmp_path: Path, python: str) -> None:
    async with adapter_client(tmp_path) as driver:
        await driver.start(PROGRAM, 7, python=python, timeTravel=True)
        await stops_and_steps_back(driver)
        assert driver.output("stdout") == "3 4 True\nTrue\n"


async def stops_and_steps_back(driver: AdapterClient) -> None:
    """See that the program has a history where it stops."""
    await driver.session.next_stop()
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    assert (await driver.session.wait_for(StoppedEvent, since=position)).reason == "step"
