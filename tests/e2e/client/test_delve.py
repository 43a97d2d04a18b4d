"""delve, which listens or calls back, on a Go module with goroutines."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.client import Ended, Session
from fake_adapters import until

MODULE = PROGRAMS / "squares"
RETURN = line_of("squares/main.go", "return result")

BUILD_SECONDS = 120.0
"""The first build of a machine compiles Go's own library."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("place", ["--listen=127.0.0.1:${port}", "--client-addr=127.0.0.1:${callback}"])
async def test_full_session(place: str, require_tool: Callable[[str], Path], tmp_path: Path) -> None:
    require_tool("go")
    dlv = str(require_tool("dlv"))
    async with Session.spawn_listening([dlv, "dap", place], cwd=MODULE) as session:
        await session.add_breakpoint(MODULE / "main.go", RETURN, condition="number == 3")
        build = {"program": ".", "mode": "debug", "output": str(tmp_path / "squares")}
        await session.launch(build, deadline=BUILD_SECONDS)
        stop = await session.next_stop()
        assert stop.reason == "breakpoint"
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        assert (frame.name, frame.line) == ("main.square", RETURN)
        scopes = (await session.scopes(frame.id)).scopes
        variables = (await session.variables(scopes[0].variables_reference)).variables
        assert {"number": "3", "result": "9"}.items() <= {one.name: one.value for one in variables}.items()
        assert (await session.evaluate("result + 1", frame_id=frame.id)).result == "10"
        await session.next(stop.thread_id)
        await session.next_stop()
        await session.clear_breakpoints()
        assert await session.resume() == Ended(None)
        assert "total 14" in session.adapter_stderr


TURNS = """package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	fmt.Println("process", os.Getpid())
	for {
		time.Sleep(time.Millisecond)
	}
}
"""


@pytest.mark.timeout(180)
async def test_killed_delve_takes_a_running_program_along(require_tool: Callable[[str], Path], tmp_path: Path) -> None:
    require_tool("go")
    dlv = str(require_tool("dlv"))
    (tmp_path / "go.mod").write_text("module example.com/turns\n")
    (tmp_path / "main.go").write_text(TURNS)
    command = [dlv, "dap", "--client-addr=127.0.0.1:${callback}"]
    async with Session.spawn_listening(command, cwd=tmp_path) as session:
        await session.launch(
            {"program": ".", "mode": "debug", "output": str(tmp_path / "turns")}, deadline=BUILD_SECONDS
        )
        told = re.compile(r"^process (\d+)\n", re.MULTILINE)
        await until(lambda: told.search(session.adapter_stderr) is not None)
        [process] = map(int, told.findall(session.adapter_stderr))
        assert session.adapter_pid is not None
        os.kill(session.adapter_pid, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{process}").exists() or _is_dead(process))


def _is_dead(process: int) -> bool:
    """Say whether it has ended and only waits for its new parent, the test, to look."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
