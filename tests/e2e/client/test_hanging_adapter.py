"""An adapter that hangs takes its program along when the session is closed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.client import Session
from dapkit.transport import DeadlineExceeded


async def leave_while_it_hangs(session: Session) -> None:
    assert session.adapter_pid is not None
    os.kill(session.adapter_pid, signal.SIGSTOP)
    with pytest.raises(DeadlineExceeded):
        await session.threads(deadline=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
async def test_debugpy_that_hangs_leaves_no_process(console: str, debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(PROGRAMS / "sums.py", line_of("sums.py", "total = left"))
        await session.launch({"program": str(PROGRAMS / "sums.py"), "console": console})
        await session.next_stop()
        await leave_while_it_hangs(session)


@pytest.mark.thorough
async def test_lldb_dap_that_hangs_leaves_no_process(lldb_dap: list[str], compiled: Callable[[str], Path]) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(PROGRAMS / "squares.c", line_of("squares.c", "counter += 1"))
        await session.launch({"program": str(compiled("squares.c"))})
        await session.next_stop()
        await leave_while_it_hangs(session)
