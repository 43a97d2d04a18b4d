"""Sudden deaths: whatever is killed, whenever, nothing that belonged to the session is left."""

import os
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from e2e.python.processes import SECONDS, descendants, ended
from e2e.python.raw_client import RawClient, raw_client

PROGRAM = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
print("ready", flush=True)
{work}
"""


async def launching(client: RawClient) -> None:
    await client.initialize()
    await client.send("launch", {"code": PROGRAM.format(work="time.sleep(60)")})


async def configuring(client: RawClient) -> None:
    await launching(client)
    await client.event("initialized")


async def running(client: RawClient) -> None:
    await client.start(code=PROGRAM.format(work="time.sleep(60)"))
    await client.event("output", category="stdout")


async def stopped(client: RawClient) -> None:
    await running(client)
    assert (await client.ask("pause", {"threadId": 1}))["success"]
    await client.event("stopped")


async def busy(client: RawClient) -> None:
    await client.start(code=PROGRAM.format(work="sum(range(10 ** 11))"))
    await client.event("output", category="stdout")


async def flooding(client: RawClient) -> None:
    await client.start(code=PROGRAM.format(work="while True: print('x' * 1000)"))
    await client.event("output", category="stdout")


async def logging(client: RawClient) -> None:
    file = Path(__file__).with_name("counting_program.py")
    await client.initialize()
    await client.send("launch", {"program": str(file)})
    await client.event("initialized")
    breakpoints = [{"line": line_of(file, "count += 1"), "logMessage": "at {count}"}]
    await client.ask("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": breakpoints})
    assert (await client.ask("configurationDone"))["success"]
    await client.event("output", category="console")


def line_of(file: Path, text: str) -> int:
    """Return the first line of a file that holds a text."""
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


async def evaluating(client: RawClient) -> None:
    await stopped(client)
    frames = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
    await client.send("evaluate", {"expression": "time.sleep(60)", "frameId": frames[0]["id"], "context": "repl"})
    assert (await client.ask("threads"))["success"]


MOMENTS: dict[str, Callable[[RawClient], Awaitable[None]]] = {
    moment.__name__: moment
    for moment in (launching, configuring, running, stopped, busy, flooding, logging, evaluating)
}


@pytest.mark.thorough
@pytest.mark.parametrize("moment", MOMENTS)
async def test_nothing_is_left_when_the_adapter_is_killed(moment: str) -> None:
    async with raw_client() as client:
        await MOMENTS[moment](client)
        family = descendants(client.adapter.pid)
        client.kill()
        await ended(*family)


@pytest.mark.thorough
@pytest.mark.parametrize("moment", MOMENTS)
async def test_nothing_is_left_when_the_client_is_gone(moment: str) -> None:
    async with raw_client() as client:
        await MOMENTS[moment](client)
        family = descendants(client.adapter.pid)
        await client.adapter.stream.aclose()
        await ended(client.adapter.pid, *family)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
async def test_adapter_that_is_told_to_end_takes_the_program_along(name: str) -> None:
    async with raw_client() as client:
        await running(client)
        family = descendants(client.adapter.pid)
        os.kill(client.adapter.pid, signal.Signals[name])
        await ended(client.adapter.pid, *family)


@pytest.mark.parametrize(
    "rubbish", [b"Content-Length: x\r\n\r\n", b"GET / HTTP/1.1\r\n", b"Content-Length: 2\r\n\r\n[]"]
)
@pytest.mark.thorough
async def test_client_that_sends_rubbish_ends_the_session_and_the_program(rubbish: bytes) -> None:
    async with raw_client(log=".*the conversation ended.*") as client:
        await running(client)
        family = descendants(client.adapter.pid)
        await client.adapter.stream.send(rubbish)
        await ended(client.adapter.pid, *family)


@pytest.fixture
def runtime_folder() -> Iterator[Path]:
    """Return a folder for sockets, whose path is short enough for them."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


async def test_killed_adapter_leaves_no_socket_behind(runtime_folder: Path) -> None:
    async with raw_client(env={**os.environ, "XDG_RUNTIME_DIR": str(runtime_folder)}) as client:
        await running(client)
        client.kill()
        await client.adapter.wait()
    with anyio.fail_after(SECONDS):  # the parent of the program removes them
        while files(runtime_folder):  # noqa: ASYNC110 - there is no event for it
            await anyio.sleep(0.02)


def files(folder: Path) -> list[Path]:
    """Return what lies in a folder and its folders."""
    return [path for path in folder.rglob("*") if not path.is_dir()]
