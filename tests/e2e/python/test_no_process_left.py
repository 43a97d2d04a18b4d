"""Whatever is killed, and wherever the program runs: nothing of it is left, not even what has left its session."""

import os
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dapkit.client.terminal import Terminal, open_terminal
from dapkit.protocol import RunInTerminalRequestArguments
from e2e.python.processes import STARTS_A_FAMILY, ended, runs
from e2e.python.raw_client import RawClient, raw_client

FAMILY = f"""{STARTS_A_FAMILY}
    stubborn = subprocess.Popen(["nohup", "sh", "-c", "trap '' HUP INT TERM; exec sleep 60"], stdout=-3, stderr=-3)
    with open("pids", "w") as file:
        print(os.getpid(), plain.pid, session.pid, below, daemon, stubborn.pid, file=file)
    print("ready", flush=True)
"""
"""One more that ignores signals."""

WORK = {
    "waiting for a child": "plain.wait()",
    "in native code": "ctypes.PyDLL(None).sleep(60)",
    "stopped by a signal": "os.kill(os.getpid(), 19)",
}
CONSOLES = ["internalConsole", "integratedTerminal"]


@asynccontextmanager
async def family(client: RawClient, folder: Path, work: str, console: str) -> AsyncIterator[list[int]]:
    """Run the program, in a terminal that nobody closes; give its processes once it works."""
    program = folder / "prog.py"
    program.write_text(textwrap.dedent(FAMILY) + WORK[work] + "\n")
    await client.initialize(supportsRunInTerminalRequest=True)
    await client.send("launch", {"program": str(program), "cwd": str(folder), "console": console})
    if console == "internalConsole":
        yield await working(client, folder)
        return
    wanted = await client.until(lambda message: message.get("command") == "runInTerminal")
    given = wanted["arguments"]
    arguments = RunInTerminalRequestArguments(cwd=given["cwd"], args=given["args"], env=given.get("env"))
    async with open_terminal(arguments) as terminal:
        await client.accept(wanted)
        yield await working(client, folder, terminal)


async def working(client: RawClient, folder: Path, terminal: Terminal | None = None) -> list[int]:
    await client.event("initialized")
    assert (await client.ask("configurationDone"))["success"]
    if terminal is None:
        await client.event("output", category="stdout")
    else:
        await terminal.wait_for_output("ready")
    return [int(pid) for pid in (folder / "pids").read_text().split()]


@pytest.mark.thorough
@pytest.mark.parametrize("console", CONSOLES)
@pytest.mark.parametrize("work", WORK)
async def test_nothing_is_left_of_a_program_whose_adapter_is_killed(work: str, console: str, tmp_path: Path) -> None:
    async with raw_client() as client, family(client, tmp_path, work, console) as pids:
        client.kill()
        await ended(*pids)


@pytest.mark.parametrize("console", CONSOLES)
async def test_nothing_is_left_of_a_program_whose_client_is_gone(console: str, tmp_path: Path) -> None:
    async with raw_client() as client, family(client, tmp_path, "in native code", console) as pids:
        await client.adapter.stream.aclose()
        await ended(*pids, client.adapter.pid)


@pytest.mark.parametrize("console", CONSOLES)
async def test_terminate_ends_all_that_the_program_has_started(console: str, tmp_path: Path) -> None:
    async with raw_client() as client, family(client, tmp_path, "waiting for a child", console) as pids:
        assert (await client.ask("terminate"))["success"]
        await client.event("terminated")
        await ended(*pids)


@pytest.mark.thorough
@pytest.mark.parametrize("console", CONSOLES)
async def test_processes_that_a_program_left_at_its_end_run_on(console: str, tmp_path: Path) -> None:
    async with raw_client() as client, family(client, tmp_path, "waiting for a child", console) as pids:
        os.kill(pids[0], 15)
        await client.event("terminated")
        await client.ask("disconnect")
        await client.hear_the_end()
        await client.adapter.wait()
        try:
            assert all(runs(pid) for pid in pids[2:5])
        finally:
            for pid in pids[1:]:
                os.kill(pid, 9)
