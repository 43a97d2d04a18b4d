"""Programs to debug, and what is at hand to debug them."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS
from dapkit.catalog.files import built_in
from dapkit.hub.client import HubClient
from missing import missing

ADDING = """
    import sys
    def total(prices):
        result = 0
        for price in prices:
            result += price
        return result
    print("adding")
    print(total([1, 2, 3]))
    if "wait" in sys.argv:
        import threading
        threading.Event().wait()
"""


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
def gdb(require_tool: Callable[[str], Path]) -> list[str]:
    """Command of GDB's adapter, with the words of the catalog, on stdio.

    GDB has one from version 14 on, and tools/debian_trees.sh brings 16.
    """
    ours = Path(__file__).parents[2] / ".tools" / "bin" / "gdb"
    command = str(ours) if ours.exists() else str(require_tool("gdb"))
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    if int(said.split()[-1].partition(".")[0]) < 14:
        missing(f"{said} has no debug adapter: 14 is needed")
    [[_, *words, program]] = built_in()["gdb"].command
    assert program == "${program_if_any}"
    return [command, *words]


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
        assert program.communicate("", timeout=20)[0].endswith("done\n"), "the program did not survive its debugger"


@pytest.fixture
def in_background() -> Iterator[None]:
    """Let the test process ignore signals as a job in the background of a shell does, under nohup."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    }
    yield
    for number, action in before.items():
        signal.signal(number, action)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with `app.py`, with no settings of the user around it."""
    for variable in [name for name in os.environ if name.startswith("DAPKIT_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    made = tmp_path / "project"
    made.mkdir()
    (made / ".dapkit.toml").touch()
    (made / "app.py").write_text(textwrap.dedent(ADDING).lstrip())
    return made


@pytest.fixture
def runtime(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a hub that ends with the test."""
    made = project.with_name("run")
    made.mkdir(mode=0o700)
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(made))
    yield made
    HubClient(str(made)).stop()
