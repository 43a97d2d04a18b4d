"""Processes that a test has to wait for, although they are not its children, or not any more."""

import os
from pathlib import Path

import anyio

from dapkit.protocol import OutputEvent, ProcessEvent
from e2e.python.adapter_client import AdapterClient

SECONDS = 30.0

STARTS_A_FAMILY = """
    import ctypes, os, subprocess, sys, time
    plain = subprocess.Popen(["sleep", "60"])
    session = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], start_new_session=True, stdout=-1, text=True)
    below = session.stdout.readline().strip()
    daemon = subprocess.check_output(
        ["sh", "-c", "setsid sh -c 'sleep 60 >/dev/null & echo $!' & wait"], text=True
    ).strip()
"""
"""A child, a child with a session of its own, a child of that, and a daemon that nobody is the parent of."""


def command_line(pid: int) -> str:
    """Return what a process was started as."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def runs(pid: int) -> bool:
    """Say whether a process runs."""
    return Path(f"/proc/{pid}").exists()


async def ended(*pids: int) -> None:
    """Wait until processes have ended; a zombie has."""
    with anyio.fail_after(SECONDS):
        for pid in pids:
            await _ended(pid)


async def _ended(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(handle)
    finally:
        os.close(handle)


async def process_of(driver: AdapterClient) -> int:
    """Return the process of the program, running or not."""
    return (await driver.session.wait_for(ProcessEvent, since=0)).system_process_id or 0


async def only_line(driver: AdapterClient) -> str:
    """Wait for the first line that a program writes; with PYTHONUNBUFFERED one `print` comes in several pieces."""
    await driver.session.wait_for(OutputEvent, since=0, where=lambda _: "\n" in driver.output("stdout"))
    return driver.output("stdout").splitlines()[0]


async def computing(pid: int) -> None:
    """Wait until a process has computed for a while, so that it is within what it takes long for."""
    begin = _ticks(pid)
    with anyio.fail_after(SECONDS):
        while _ticks(pid) - begin < os.sysconf("SC_CLK_TCK") / 5:  # noqa: ASYNC110 - there is no event for it
            await anyio.sleep(0.02)


def _ticks(pid: int) -> int:
    """Return the processor time of a process in clock ticks."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


def descendants(pid: int) -> set[int]:
    """Return all processes below one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}
