"""Programs that load the extension as a debugged program does: from its folder, under the private name."""

import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from interpreters import interpreter
from missing import missing

DEBUGGEE = Path(__file__).parents[3] / "src/dapkit/python/debuggee"

LOAD = """
import sys
package = type(sys)("_dapkit_debuggee")
package.__path__ = [{folder!r}]
sys.modules["_dapkit_debuggee"] = package
from _dapkit_debuggee.interpreter import native
"""

type Run = Callable[..., str]


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> Path:
    """Return the interpreter that programs run in; dapkit is not installed there."""
    return interpreter(request.param)


@pytest.fixture
def run(python: Path, tmp_path: Path) -> Run:
    """Return a function that runs a program after loading the extension, and returns what it prints."""

    def run(program: str, *, folder: Path = DEBUGGEE, env: dict[str, str] | None = None) -> str:
        file = tmp_path / "program.py"
        file.write_text(LOAD.format(folder=str(folder)) + textwrap.dedent(program))
        ran = subprocess.run(
            [python, "-X", "faulthandler", str(file)],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
            env={**os.environ, **(env or {})},
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout.strip()

    return run


@pytest.fixture
def needs_extension(run: Run) -> None:
    """Skip, or with CI=true fail, where the extension was not built."""
    reason = run("print(native.REASON)")
    if reason:
        missing(reason)
