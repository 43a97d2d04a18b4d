"""Programs to debug, and what is at hand to debug them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driving import PROGRAMS


@pytest.fixture(scope="session")
def debugpy() -> list[str]:
    """Command of debugpy's adapter, on stdio."""
    return [sys.executable, "-m", "debugpy.adapter"]


@pytest.fixture(scope="session")
def lldb_dap(require_tool: Callable[[str], Path]) -> list[str]:
    """Command of LLDB's adapter, on stdio."""
    require_tool("lldb-dap-22")
    return ["lldb-dap-22"]


@pytest.fixture(scope="session")
def compiled(require_tool: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that compiles one of the C programs, with debug information."""
    compiler = require_tool("cc")
    folder = tmp_path_factory.mktemp("compiled")

    def compile_program(name: str) -> Path:
        program = folder / Path(name).stem
        if not program.exists():
            subprocess.run([compiler, "-g", "-O0", "-pthread", "-o", program, PROGRAMS / name], check=True)
        return program

    return compile_program


@pytest.fixture
def running() -> Iterator[Callable[[list[str]], subprocess.Popen[str]]]:
    """Return a function that starts a program which says "ready" and ends with its input."""
    started: list[subprocess.Popen[str]] = []

    def start(command: list[str]) -> subprocess.Popen[str]:
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(program)
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        return program

    yield start
    for program in started:
        assert program.communicate("", timeout=10)[0].endswith("done\n"), "the program did not survive its debugger"
