"""What tests of the client drive: fake adapters, and programs under real ones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dapkit.client import Session
from dapkit.protocol import Capabilities, SetFunctionBreakpointsBody
from dapkit.testing import HANDSHAKES, FakeAdapter, Script, Timeline, reply
from dapkit.transport import memory_pair

ABLE = Capabilities(
    supports_configuration_done_request=True,
    supports_function_breakpoints=True,
    supports_conditional_breakpoints=True,
    supports_hit_conditional_breakpoints=True,
    supports_log_points=True,
    supports_data_breakpoints=True,
    supports_instruction_breakpoints=True,
    support_terminate_debuggee=True,
)
"""An adapter that can do what the tests are about."""


PROGRAMS = Path(__file__).parent / "e2e" / "client" / "programs"
"""Programs to debug."""


@dataclass
class Driven:
    """Both ends of a conversation."""

    session: Session
    adapter: FakeAdapter

    @property
    def timeline(self) -> Timeline:
        """What passed between them."""
        return self.adapter.timeline


def able(script: Script | None = None, capabilities: Capabilities = ABLE) -> Script:
    """Play lldb-dap's handshake with these capabilities, and further answers."""
    functions = [reply(SetFunctionBreakpointsBody(breakpoints=[]))]
    able_to = {"initialize": [reply(capabilities)], "setFunctionBreakpoints": functions}
    return {**HANDSHAKES["lldb-dap"], **able_to, **(script or {})}


@asynccontextmanager
async def driven(script: Script) -> AsyncIterator[Driven]:
    """Open a session over memory with an adapter that follows a script."""
    ours, theirs = memory_pair()
    async with FakeAdapter(theirs, script) as adapter, Session.over(ours) as session:
        yield Driven(session, adapter)


def line_of(name: str, text: str) -> int:
    """Find the first line of a program that holds a text."""
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
