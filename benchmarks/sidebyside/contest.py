"""The two debuggers, and how a program runs under one of them or under none.

Both are driven by our own client, as an editor would, on the same interpreter: it
runs the adapter and the program. Of the environment only what would favour one
of them is changed: bytecode may be cached, and hashing is the same in every run.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import dapkit
from dapkit.client import Ended, Session

PROGRAMS = Path(__file__).parent.parent / "programs"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))},
    "PYTHONHASHSEED": "0",
}
DEADLINE = 120.0


@dataclass(frozen=True)
class Debugger:
    """One way to debug a Python program.

    Attributes:
        name: for tables.
        module: what runs as the adapter.
        environment: added to that of the program.
        package: the folder to import dapkit from, if not the one that is installed.

    """

    name: str
    module: str
    environment: tuple[tuple[str, str], ...] = ()
    package: Path | None = None


OURS = Debugger("ours", "dapkit.python")
DEBUGPY = Debugger("debugpy", "debugpy.adapter")
PROMPT_DEBUGPY = Debugger("debugpy with TCP_NODELAY", "debugpy.adapter", (("PYTHONPATH", str(PROGRAMS / "nodelay")),))


@contextmanager
def without_extension() -> Iterator[Debugger]:
    """Copy dapkit without what is in C: our debugger as it is where there was no compiler."""
    with tempfile.TemporaryDirectory() as folder:
        left_out = shutil.ignore_patterns("*.so", "dapkit-supervisor", "__pycache__")
        shutil.copytree(Path(dapkit.__file__).parent, Path(folder, "dapkit"), ignore=left_out)
        yield replace(OURS, name="ours without the extension", package=Path(folder))


type Preparation = Callable[[Session], Awaitable[object]]
"""Sets breakpoints before the program starts."""


async def nothing(_session: Session) -> None:
    """Set no breakpoints."""


def line_of(program: str, mark: str) -> int:
    """Return the line that ends with a mark."""
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


async def printed(session: Session) -> object:
    """Wait for the end of a program that is not to stop any more; return the JSON that it printed."""
    match await session.settled(deadline=DEADLINE):
        case Ended():
            return json.loads(session.output.read("stdout").text)
        case state:
            raise RuntimeError(f"the program was to run to its end, and is {state}")


@dataclass(frozen=True)
class Contest:
    """Both debuggers on one interpreter.

    Attributes:
        python: the interpreter.
        rounds: how often each measurement is repeated.
        environment: added to that of the program, with a debugger and without one.
        program_python: the interpreter that programs run in, if that is another one; then debugpy is left out.

    """

    python: str
    rounds: int
    environment: tuple[tuple[str, str], ...] = ()
    program_python: str | None = None

    @asynccontextmanager
    async def session(self, debugger: Debugger) -> AsyncIterator[Session]:
        """Start an adapter."""
        argv = [self.python, "-m", debugger.module]
        package = {} if debugger.package is None else {"PYTHONPATH": str(debugger.package)}
        async with Session.spawn(argv, env=ENVIRONMENT | package, adapter_id="python") as session:
            yield session

    async def launch(self, session: Session, debugger: Debugger, program: str, *args: str) -> None:
        """Start a program, its output with the adapter."""
        await session.launch(
            {
                "program": str(PROGRAMS / program),
                "args": list(args),
                "console": "internalConsole",
                "env": dict(self.environment + debugger.environment),
                "python": self.program_python or self.python,
            }
        )

    async def debugged(self, debugger: Debugger, program: str, *args: str, prepare: Preparation = nothing) -> object:
        """Run a program to its end; return the JSON that it prints."""
        async with self.session(debugger) as session:
            await session.break_on_exceptions()
            await prepare(session)
            await self.launch(session, debugger, program, *args)
            return await printed(session)

    def plain(self, program: str, *args: str) -> object:
        """Run a program without a debugger; return the JSON that it prints."""
        command = [self.program_python or self.python, str(PROGRAMS / program), *args]
        environment = ENVIRONMENT | dict(self.environment)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def middle(figures: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(figures)
