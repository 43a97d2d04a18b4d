"""What a launched program has started ends with the session, wherever it has gone."""

import contextlib
import os
import signal
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapkit.protocol import DisconnectArguments
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import STARTS_A_FAMILY, descendants, ended, only_line, process_of, runs
from e2e.python.raw_client import raw_client

pytestmark = pytest.mark.row("restart, terminate, disconnect")

FAMILY = f"""{STARTS_A_FAMILY}
    print(plain.pid, session.pid, below, daemon, flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


@contextmanager
def killed_at_last(*pids: int) -> Iterator[None]:
    """End processes that are not to end with the session."""
    handles = [os.pidfd_open(pid) for pid in pids]
    try:
        yield
    finally:
        for handle in handles:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)


def state(pid: int) -> str:
    """Return the letter for what a process does."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def parent_of(pid: int) -> int:
    """Return the parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def family(driver: AdapterClient, python: str | None = None) -> list[int]:
    await driver.start(FAMILY, **({} if python is None else {"python": python}))
    pids = [int(pid) for pid in (await only_line(driver)).split()]
    assert all(map(runs, pids))
    return pids


async def test_disconnect_ends_them_all(driver: AdapterClient, python: str) -> None:
    pids = await family(driver, python)
    await driver.session.disconnect()
    await ended(*pids)


async def test_terminate_ends_them_all(driver: AdapterClient) -> None:
    pids = await family(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(*pids)


async def test_second_terminate_ends_them_all(driver: AdapterClient) -> None:
    pids = await family(driver)
    await driver.session.terminate()
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(*pids)


@pytest.mark.thorough
async def test_restart_ends_them_all(driver: AdapterClient) -> None:
    pids = await family(driver)
    await driver.session.restart()
    await ended(*pids)


async def test_release_leaves_them_all(driver: AdapterClient) -> None:
    pids = await family(driver)
    pids.append(await process_of(driver))
    with killed_at_last(*pids):
        await driver.session.detach()
        assert all(map(runs, pids))
    await ended(*pids)


async def test_released_program_outlives_an_adapter_that_is_killed() -> None:
    async with raw_client() as client:
        await client.start(code=textwrap.dedent(FAMILY))
        await client.until(lambda _: client.output("stdout").endswith("\n"))
        pids = [int(pid) for pid in client.output("stdout").split()]
        pids.append((await client.event("process"))["systemProcessId"])
        [parent] = descendants(client.adapter.pid) - set(pids)
        with killed_at_last(*pids):
            await client.send("disconnect", {"terminateDebuggee": False})
            await client.event("terminated")
            client.kill()
            await client.adapter.wait()
            assert not {state(pid) for pid in [parent, *pids]} & {"Z", "X"}
    await ended(parent, *pids)


async def test_launched_program_can_be_left_suspended(driver: AdapterClient, python: str) -> None:
    await driver.start("import time\nprint('ready', flush=True)\nx = 1\nprint('on')\n", 3, python=python)
    await driver.session.next_stop()
    pid = await process_of(driver)
    await driver.session.request(DisconnectArguments(suspend_debuggee=True))
    assert state(pid) == "T"
    os.kill(pid, signal.SIGCONT)
    await ended(pid)


async def test_killed_supervisor_leaves_no_process_that_still_has_its_parent(driver: AdapterClient) -> None:
    *pids, daemon = await family(driver)
    program = await process_of(driver)
    supervisor = parent_of(program)
    with killed_at_last(daemon):  # whose parent is init by then, so that nothing leads to it
        os.kill(supervisor, signal.SIGKILL)
        await ended(program, *pids)
        await driver.session.wait_until_ended()
    await ended(daemon)
