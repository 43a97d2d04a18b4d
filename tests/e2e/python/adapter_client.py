"""A client of the Python adapter, for tests: a real adapter, a real program, in few words."""

import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

from dapkit.client import Ended, Session, Stopped
from dapkit.client.events import SessionEvent
from dapkit.protocol import Scope, StackFrame, StoppedEvent, Variable
from dapkit.protocol.time_travel import TravelToArguments

ADAPTER = (sys.executable, "-m", "dapkit.python")
PATIENCE = 240.0
"""Seconds that a program may run until its next stop; a test has a shorter limit of its own, if it needs one."""
LATE_SECONDS = 10.0
"""After them the stacks of all processes are written. No answer in a test takes so long, unless it never comes."""


class AdapterClient:
    """A session whose program is a text.

    Attributes:
        session: with the adapter.
        file: where the text is.

    """

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.file = folder / "prog.py"

    async def start(self, text: str, *lines: int, **launch: object) -> None:
        """Run a program, breakpoints on some lines."""
        self.write(text)
        for line in lines:
            await self.session.add_breakpoint(self.file, line)
        await self.launch(program=str(self.file), **launch)

    def write(self, text: str, name: str = "prog.py") -> Path:
        """Make a file of the program."""
        path = self.folder / name
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    async def launch(self, **launch: object) -> None:
        """Start with launch arguments as they are, in the folder of the test."""
        await self.session.launch({"cwd": str(self.folder), **launch})

    async def run(self, text: str, **launch: object) -> Ended:
        """Run a program to its end."""
        await self.start(text, **launch)
        return await self.session.wait_until_ended()

    async def resume(self) -> Stopped | Ended:
        """Continue to the next stop, or to the end."""
        match await self.session.resume(deadline=PATIENCE):
            case Stopped() | Ended() as state:
                return state
            case state:
                raise AssertionError(f"the program is still {state}")

    async def travel(self, clock: int, *, from_beginning: bool = False) -> StoppedEvent:
        """Go to a moment of a program with time travel."""
        position = self.session.position
        async with stacks_if_late(self.session.adapter_pid or 0):
            await self.session.request(TravelToArguments(clock=clock, from_beginning=from_beginning))
            return await self.session.wait_for(StoppedEvent, since=position)

    async def frames(self, thread_id: int = 1) -> list[StackFrame]:
        """Return the stack of a thread."""
        return (await self.session.stack_trace(thread_id)).stack_frames

    async def where(self, thread_id: int = 1) -> tuple[str, int]:
        """Return the function and line of the newest frame."""
        [top, *_] = (await self.session.stack_trace(thread_id, levels=1)).stack_frames
        return top.name, top.line

    async def scopes(self, frame: int = 0) -> list[Scope]:
        """Return the scopes of a frame of the main thread."""
        return (await self.session.scopes((await self.frames())[frame].id)).scopes

    async def locals(self, frame: int = 0) -> dict[str, Variable]:
        """Return the local variables of a frame."""
        [scope, *_] = await self.scopes(frame)
        found = await self.session.variables(scope.variables_reference)
        return {variable.name: variable for variable in found.variables}

    def told[E: SessionEvent](self, kind: type[E]) -> list[E]:
        """Return all events of a kind so far."""
        return [event for event in self.session.events(since=0).unread if isinstance(event, kind)]

    def output(self, *categories: str) -> str:
        """Return the program's output, with one character at the end of a line on all systems."""
        text = self.session.output.read(*categories).text
        return text.replace("\r\n", "\n") if sys.platform == "win32" else text


@asynccontextmanager
async def stacks_if_late(pid: int, seconds: float = LATE_SECONDS) -> AsyncIterator[None]:
    """Write the stacks of a process and of those that it has started to stderr, if the block takes too long."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write_stacks, pid, seconds)
        yield
        tasks.cancel_scope.cancel()


async def _write_stacks(pid: int, seconds: float) -> None:
    await anyio.sleep(seconds)
    adapter = psutil.Process(pid)
    for process in (adapter, *adapter.children(recursive=True)):
        command = [sys.executable, "-m", "dapkit.cli", "stacks", str(process.pid)]
        show = partial(subprocess.run, command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        shown = await anyio.to_thread.run_sync(show)
        sys.stderr.write(f"Late for {seconds} s: process {process.pid}\n{shown.stdout}{shown.stderr}\n")


@asynccontextmanager
async def adapter_client(folder: Path, env: Mapping[str, str] | None = None) -> AsyncIterator[AdapterClient]:
    """Start an adapter, in an environment if one is given, and be its client."""
    async with Session.spawn(ADAPTER, env=env) as session:
        yield AdapterClient(session, folder)
        assert session.violations == (), session.violations
        assert "Internal error of the debugger" not in session.output.read("stderr").text, session.output.read(
            "stderr"
        ).text
