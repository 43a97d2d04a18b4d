"""A debugged program per test, in every Python version at hand that the engine supports."""

import subprocess
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.debuggee.peer import Peer, interpreters

WANTED = ("3.12", "3.13")


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for program in interpreters():
        answer = subprocess.run(
            [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=True,
        )
        found.setdefault(answer.stdout.strip(), program)
    return found


VERSIONS = _versions()


@pytest.fixture(params=[*dict.fromkeys([*WANTED, *VERSIONS])])
def python(request: pytest.FixtureRequest) -> str:
    """Return an interpreter; a version that is not at hand is a skip."""
    if request.param not in VERSIONS:
        pytest.skip(f"no Python {request.param} on this machine")
    return VERSIONS[request.param]


type Start = Callable[..., Peer]


@pytest.fixture
def start(python: str, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program, given as text, and connects to it."""
    with ExitStack() as stack:

        def run(text: str, *arguments: str, env: dict[str, str] | None = None, name: str = "prog.py") -> Peer:
            (tmp_path / name).write_text(textwrap.dedent(text).lstrip("\n"))
            return stack.enter_context(Peer(python, tmp_path, "--program", name, "--", *arguments, env=env))

        yield run
