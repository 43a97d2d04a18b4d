"""A debugged program per test, in every Python version at hand that the engine supports."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import bootstrap
from e2e.debuggee.peer import Peer

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(params=bootstrap.VERSIONS)
def python(request: pytest.FixtureRequest, pythons: dict[str, Path]) -> str:
    """Return an interpreter of each version, ours (which has numpy and such) for its own; a missing one is a skip."""
    if request.param == OURS:
        return sys.executable
    if request.param not in pythons:
        pytest.skip(f"no Python {request.param} on this machine")
    return str(pythons[request.param])


type Start = Callable[..., Peer]


@pytest.fixture
def start(python: str, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program, given as text, and connects to it."""
    with ExitStack() as stack:

        def run(text: str, *arguments: str, env: dict[str, str] | None = None, name: str = "prog.py") -> Peer:
            (tmp_path / name).write_text(textwrap.dedent(text).lstrip("\n"))
            return stack.enter_context(Peer(python, tmp_path, "--program", name, "--", *arguments, env=env))

        yield run
