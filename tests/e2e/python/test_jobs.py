"""A launched program among groups, sessions and terminals: as a shell, or an editor, starts it without a debugger."""

import os
import shlex
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dapkit.client import Ended
from dapkit.client.terminal import Terminal, open_terminal
from dapkit.protocol import RunInTerminalRequestArguments
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import ended, runs
from e2e.python.raw_client import RawClient, raw_client


@pytest.mark.each_python
async def test_program_may_lead_a_group_of_its_own(driver: AdapterClient, python: str) -> None:
    program = """
        import os
        assert os.getpgrp() != os.getpid() != os.getsid(0)
        os.setpgrp()
        os.setpgid(0, 0)
        assert os.getpgrp() == os.getpid()
    """
    assert await driver.run(program, python=python) == Ended(0)


async def test_program_may_lead_a_session_of_its_own_and_has_no_terminal_without_it(driver: AdapterClient) -> None:
    program = """
        import errno, os
        try:
            os.open("/dev/tty", os.O_RDWR)
        except OSError as error:
            assert error.errno == errno.ENXIO
        os.setsid()
        assert os.getsid(0) == os.getpgrp() == os.getpid()
    """
    assert await driver.run(program) == Ended(0)


async def test_signal_that_the_program_sends_its_group_reaches_nobody_else(driver: AdapterClient) -> None:
    program = "import os, signal\nprint(os.getppid(), flush=True)\nos.killpg(0, signal.SIGKILL)\n"
    assert await driver.run(program) == Ended(128 + signal.SIGKILL)
    assert driver.output("console") == "The program was ended by SIGKILL.\n"


@pytest.fixture(params=["parent in C", "parent in Python"])
def environment(request: pytest.FixtureRequest, without_extension: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the environment of an adapter whose programs have one parent or the other."""
    return None if request.param == "parent in C" else without_extension


@asynccontextmanager
async def job(client: RawClient, folder: Path, text: str) -> AsyncIterator[Terminal]:
    """Have a shell with job control run a program."""
    (folder / "prog.py").write_text(text)
    await client.initialize(supportsRunInTerminalRequest=True)
    await client.send(
        "launch", {"program": str(folder / "prog.py"), "cwd": str(folder), "console": "integratedTerminal"}
    )
    wanted = await client.until(lambda message: message.get("command") == "runInTerminal")
    shell = RunInTerminalRequestArguments(cwd=str(folder), args=["bash", "--norc", "-i"], env={"PS1": "prompt> "})
    async with open_terminal(shell) as terminal:
        await terminal.send_input(shlex.join(wanted["arguments"]["args"]) + "\n")
        await client.accept(wanted)
        await client.event("initialized")
        assert (await client.ask("configurationDone"))["success"]
        yield terminal


READS = """
import os, sys
assert os.getpgrp() == os.getpid() == os.tcgetpgrp(0)
os.setpgrp()
print("pid", os.getpid(), flush=True)
for line in sys.stdin:
    print("got", line.strip(), flush=True)
sys.exit(7)
"""


@pytest.mark.thorough
async def test_job_stops_at_ctrl_z_goes_on_in_the_foreground_and_ends_with_its_code(
    tmp_path: Path, environment: Mapping[str, str] | None
) -> None:
    async with raw_client(env=environment) as client, job(client, tmp_path, READS) as terminal:
        await terminal.wait_for_output("pid ")
        await terminal.send_input("\x1a")
        await terminal.wait_for_output("Stopped")
        await terminal.send_input("fg\n")
        await terminal.send_input("one\n")
        await terminal.wait_for_output("got one")
        await terminal.send_input("\x04")
        assert (await client.event("exited"))["exitCode"] == 7
        await terminal.send_input("echo code $?\n")
        await terminal.wait_for_output("code 7")


@pytest.mark.thorough
async def test_job_that_is_stopped_ends_with_its_adapter(tmp_path: Path, environment: Mapping[str, str] | None) -> None:
    async with raw_client(env=environment) as client, job(client, tmp_path, READS) as terminal:
        await terminal.wait_for_output("pid ")
        await terminal.send_input("\x1a")
        await terminal.wait_for_output("Stopped")
        client.kill()
        await ended((await client.event("process"))["systemProcessId"])


@pytest.mark.thorough
async def test_job_that_is_killed_is_reported_to_shell_and_client(
    tmp_path: Path, environment: Mapping[str, str] | None
) -> None:
    async with raw_client(env=environment) as client, job(client, tmp_path, READS) as terminal:
        await terminal.wait_for_output("pid ")
        os.kill((await client.event("process"))["systemProcessId"], signal.SIGKILL)
        assert (await client.event("exited"))["exitCode"] == 128 + signal.SIGKILL
        await terminal.wait_for_output("Killed")


async def test_program_that_a_signal_has_stopped_is_reported_and_requests_are_refused() -> None:
    async with raw_client() as client:
        await client.start(code="import os\nwhile True: os.write(1, b'.' * 10)\n", redirectOutput=False)
        pid = (await client.event("process"))["systemProcessId"]
        os.kill(pid, signal.SIGSTOP)
        await client.event("output", category="important")
        assert client.output("important").startswith("The program was stopped by SIGSTOP")
        refused = await client.ask("threads")
        assert refused["message"] == (
            "threads: the program is stopped by SIGSTOP, and answers once it is continued (SIGCONT)"
        )
        os.kill(pid, signal.SIGCONT)
        await client.event("output", output="The program was continued.\n")
        assert (await client.ask("threads"))["success"]


async def test_request_that_waits_is_refused_once_a_signal_has_stopped_the_program(tmp_path: Path) -> None:
    async with raw_client() as client:
        program = tmp_path / "prog.py"
        program.write_text("import os, signal\nx = 1\n")
        await client.initialize()
        await client.send("launch", {"program": str(program), "stopOnEntry": True})
        await client.event("initialized")
        await client.ask("configurationDone")
        await client.event("stopped")
        frame = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"][0]["id"]
        expression = "__import__('os').kill(__import__('os').getpid(), 19)"
        answer = await client.ask("evaluate", {"expression": expression, "frameId": frame, "context": "repl"})
        assert "is stopped by SIGSTOP" in answer["message"]
        assert (await client.ask("terminate"))["success"]
        await client.event("terminated")


@pytest.mark.thorough
async def test_job_that_is_stopped_goes_on_when_its_terminal_is_hung_up(
    tmp_path: Path, environment: Mapping[str, str] | None
) -> None:
    async with raw_client(env=environment) as client:
        ignores = (
            "import signal\nfor number in (signal.SIGHUP, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        )
        async with job(client, tmp_path, ignores + READS) as terminal:
            await terminal.wait_for_output("pid ")
            pid = (await client.event("process"))["systemProcessId"]
            await terminal.send_input("\x1a")
            await terminal.wait_for_output("Stopped")
            await client.event("output", category="important")
        await client.event("output", output="The program was continued.\n")
        await client.event("exited")  # it can read no more
        await ended(pid)


@pytest.mark.thorough
@pytest.mark.parametrize("suspend", [False, True])
async def test_program_that_a_signal_has_stopped_can_be_released(*, suspend: bool) -> None:
    async with raw_client() as client:
        await client.start(code="import os\nwhile True: os.write(1, b'.' * 10)\n", redirectOutput=False)
        pid = (await client.event("process"))["systemProcessId"]
        os.kill(pid, signal.SIGSTOP)
        await client.event("output", category="important")
        asked = await client.ask("disconnect", {"terminateDebuggee": False, "suspendDebuggee": suspend})
        try:
            assert asked["success"], asked
            await client.event("terminated")
            assert runs(pid)
        finally:
            os.kill(pid, signal.SIGKILL)
