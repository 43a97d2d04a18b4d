"""Programs that frameworks run, on each Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.engine.engine_client import EngineClient
from interpreters import OURS, interpreter
from program_libraries import libraries_for

type Start = Callable[..., EngineClient]


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the version of the interpreter that programs run in."""
    version: str = request.param
    return version


@pytest.fixture
def start(python: str, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts what words for the entry say, where the frameworks are."""
    program = sys.executable if python == OURS else str(interpreter(python))
    with ExitStack() as stack:

        def run(*words: str) -> EngineClient:
            return stack.enter_context(EngineClient(program, tmp_path, *words, env=libraries_for(python)))

        yield run
