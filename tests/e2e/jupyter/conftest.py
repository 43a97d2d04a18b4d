"""Kernels of Jupyter, driven as JupyterLab drives them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.jupyter.notebook import Notebook, notebook
from interpreters import OURS, interpreter
from program_libraries import libraries_for

SOURCES = Path(__file__).parents[3] / "src"


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the version of the interpreter that the kernel runs in."""
    version: str = request.param
    return version


@pytest.fixture
def lab(python: str, tmp_path: Path) -> Iterator[Notebook]:
    """Return a notebook whose kernel was installed by our own command, where ipykernel and dapkit are."""
    program = sys.executable if python == OURS else str(interpreter(python))
    libraries = libraries_for(python).get("PYTHONPATH", "")
    env = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{libraries}" if libraries else str(SOURCES)}
    command = [program, "-m", "dapkit.jupyter", "install", "--prefix", str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
    with notebook(tmp_path, env) as lab:
        yield lab
