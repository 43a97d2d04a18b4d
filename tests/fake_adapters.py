"""A route to scripted adapters in memory, for orders and faults that no real adapter shows on demand."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from client_fixtures import able
from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec
from dapkit.client.routes import Reached
from dapkit.protocol import Capabilities, Source, StackFrame, StackTraceBody, StoppedEvent
from dapkit.sessions.start_spec import StartSpec
from dapkit.testing import FakeAdapter, Script, Step, reply, tell
from dapkit.transport import memory_pair

FILE = Path("/p/main.c")


@dataclass
class Scripted:
    """A route on which each session meets an adapter of its own, with the next script, or the last one again."""

    scripts: Sequence[Script]
    adapters: list[FakeAdapter] = field(default_factory=list)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        """Start the next adapter."""
        ours, theirs = memory_pair()
        script = self.scripts[min(len(self.adapters), len(self.scripts) - 1)]
        async with FakeAdapter(theirs, script) as adapter:
            self.adapters.append(adapter)
            yield Reached(ours, again=self)


def stack(line: int, *, frame: int = 1000, file: Path = FILE) -> Step:
    """Answer that the top frame is at a line."""
    top = StackFrame(id=frame, name="f", line=line, column=1, source=Source(path=str(file)))
    return reply(StackTraceBody(stack_frames=[top], total_frames=1))


def stopping(reason: str = "breakpoint", *hit: int) -> Step:
    """Tell that the program has stopped."""
    return tell(StoppedEvent(reason=reason, thread_id=1, hit_breakpoint_ids=list(hit) or None))


def start(*scripts: Script, breakpoints: Sequence[BreakpointSpec] = (), traits: Traits | None = None) -> StartSpec:
    """Start a session with these adapters."""
    return StartSpec(
        "fake", Scripted(scripts), "launch", {}, cwd=Path("/p"), breakpoints=breakpoints, traits=traits or Traits()
    )


def script(more: Script, capabilities: Capabilities | None = None) -> Script:
    """Play an adapter whose program stops on entry at line 1."""
    at_entry: Script = {"stackTrace": [stack(1)]}
    return able({**at_entry, **more}) if capabilities is None else able({**at_entry, **more}, capabilities)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that tells nobody when it happens."""
    with anyio.fail_after(30):
        while not condition():  # noqa: ASYNC110 - there is no event for it
            await anyio.sleep(0.001)
