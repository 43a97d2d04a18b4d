"""delve, which listens or calls back, on a Go module with goroutines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.client import Ended, Session
from driving import PROGRAMS, line_of

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
