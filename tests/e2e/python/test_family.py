"""What a launched program has started ends with the session, wherever it has gone."""

import os
import signal
from pathlib import Path

import pytest

from dapkit.protocol import DisconnectArguments
from e2e.python.driving import Driver
from e2e.python.processes import ended, only_line, process_of, runs

pytestmark = pytest.mark.row("restart, terminate, disconnect")

FAMILY = """
    import os, subprocess, sys, time
    plain = subprocess.Popen(["sleep", "60"])
    session = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], start_new_session=True, stdout=-1, text=True)
    below = session.stdout.readline().strip()
    daemon = subprocess.check_output(
        ["sh", "-c", "setsid sh -c 'sleep 60 >/dev/null & echo $!' & wait"], text=True
    ).strip()
    print(plain.pid, session.pid, below, daemon, flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""
"""A child, a child with a session of its own, a child of that, and a daemon that nobody is the parent of."""


def state(pid: int) -> str:
    """Return the letter for what a process does."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def family(driver: Driver, python: str | None = None) -> list[int]:
    await driver.start(FAMILY, **({} if python is None else {"python": python}))
    pids = [int(pid) for pid in (await only_line(driver)).split()]
    assert all(map(runs, pids))
    return pids


async def test_disconnect_ends_them_all(driver: Driver, python: str) -> None:
    pids = await family(driver, python)
    await driver.session.disconnect()
    await ended(*pids)


async def test_terminate_ends_them_all(driver: Driver) -> None:
    pids = await family(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(*pids)


async def test_second_terminate_ends_them_all(driver: Driver) -> None:
    pids = await family(driver)
    await driver.session.terminate()
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(*pids)


async def test_restart_ends_them_all(driver: Driver) -> None:
    pids = await family(driver)
    await driver.session.restart()
    await ended(*pids)


async def test_release_leaves_them_all(driver: Driver) -> None:
    pids = await family(driver)
    await driver.session.detach()
    assert all(map(runs, pids))
    for pid in [await process_of(driver), *pids]:
        os.kill(pid, signal.SIGKILL)


async def test_launched_program_can_be_left_suspended(driver: Driver, python: str) -> None:
    await driver.start("import time\nprint('ready', flush=True)\nx = 1\nprint('on')\n", 3, python=python)
    await driver.session.next_stop()
    pid = await process_of(driver)
    await driver.session.request(DisconnectArguments(suspend_debuggee=True))
    assert state(pid) == "T"
    os.kill(pid, signal.SIGCONT)
    await ended(pid)
