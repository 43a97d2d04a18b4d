"""Processes that a test has to wait for, although they are not its children, or not any more."""

import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

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
    return " ".join(psutil.Process(pid).cmdline())


def runs(pid: int) -> bool:
    """Say whether a process runs."""
    return psutil.pid_exists(pid)


def kill(pid: int) -> None:
    """End a process as nothing can prevent: by SIGKILL, or on Windows by TerminateProcess."""
    psutil.Process(pid).kill()


async def output_of(command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None) -> str:
    """Return the output of a command that must succeed, and write nothing to its standard error."""
    run = partial(subprocess.run, command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    done = await anyio.to_thread.run_sync(run)
    assert done.stderr == ""
    return done.stdout


async def ended(*pids: int) -> None:
    """Wait until processes have ended; a zombie has."""
    with anyio.fail_after(SECONDS):
        for pid in pids:
            while _runs_on(pid):  # noqa: ASYNC110 - not every system has an event for it
                await anyio.sleep(0.02)


def _runs_on(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def process_of(driver: AdapterClient) -> int:
    """Return the process of the program, running or not."""
    return (await driver.session.wait_for(ProcessEvent, since=0)).system_process_id or 0


async def only_line(driver: AdapterClient) -> str:
    """Wait for the first line that a program writes; with PYTHONUNBUFFERED one `print` comes in several pieces."""
    await driver.session.wait_for(OutputEvent, since=0, where=lambda _: "\n" in driver.output("stdout"))
    return driver.output("stdout").splitlines()[0]


async def computing(pid: int) -> None:
    """Wait until a process has computed for a while, so that it is within what it takes long for."""
    begin = _processor_seconds(pid)
    with anyio.fail_after(SECONDS):
        while _processor_seconds(pid) - begin < 0.2:  # noqa: ASYNC110 - there is no event for it
            await anyio.sleep(0.02)


def _processor_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def descendants(pid: int) -> set[int]:
    """Return all processes below one."""
    return {process.pid for process in psutil.Process(pid).children(recursive=True)}
