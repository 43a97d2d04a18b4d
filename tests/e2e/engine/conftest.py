"""Debugged programs, without an adapter between them and the tests."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from e2e.engine.engine_client import EngineClient
from interpreters import OURS, interpreter


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the interpreter that programs run in: for our own version ours, which has numpy and such."""
    version: str = request.param
    return sys.executable if version == OURS else str(interpreter(version))


type Start = Callable[..., EngineClient]


@pytest.fixture
def start(python: str, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program, given as text, and connects to it."""
    with starting(python, tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def start_shared(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return the same for a program that stands where tests of a module only look."""
    with starting(python, tmp_path_factory.mktemp("shared")) as start:
        yield start


@contextmanager
def starting(python: str, folder: Path) -> Iterator[Start]:
    """Start programs in a folder, and end them."""
    with ExitStack() as stack:

        def run(text: str, *arguments: str, env: dict[str, str] | None = None, name: str = "prog.py") -> EngineClient:
            (folder / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
            return stack.enter_context(EngineClient(python, folder, "--program", name, "--", *arguments, env=env))

        yield run
