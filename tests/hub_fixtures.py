"""What tests of the hub have in common: how the adapters on this machine are started on a program."""

import sys
from collections.abc import Sequence
from pathlib import Path

from client_fixtures import PROGRAMS
from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.client.routes import Spawned
from dapkit.sessions.start_spec import StartSpec

OURS = [sys.executable, "-m", "dapkit.python"]
DEBUGPY = [sys.executable, "-m", "debugpy.adapter"]


def python_start(
    program: Path,
    *breakpoints: BreakpointSpec,
    command: Sequence[str] = OURS,
    exceptions: Sequence[str] | None = (),
    **configuration: object,
) -> StartSpec:
    """Launch a Python program, by our adapter unless another command is given."""
    return StartSpec(
        adapter="python" if command is OURS else "debugpy",
        route=Spawned(command),
        request="launch",
        configuration={"program": str(program), "cwd": str(program.parent), **configuration},
        cwd=program.parent,
        program=str(program),
        breakpoints=breakpoints,
        exceptions=exceptions,
    )


def at_text(name: str, text: str) -> BreakpointSpec:
    """Break at the line with a text, in one of the programs."""
    return BreakpointSpec(SourceLocation(PROGRAMS / name, text=text))
