"""On other systems: packages can be imported, and what cannot be done there ends with one error.

Another system is played by an interpreter without what it lacks, except for what its own event loop is made of. Windows
runs on this machine (tests/windows).
"""

import subprocess
import sys
from pathlib import Path

import pytest

import windows_lacks
from linux_only import FEATURES

MACOS = """\
LACKS = {os: ["pidfd_open", "sched_getaffinity"], signal: ["pidfd_send_signal"], socket: ["SO_PEERCRED"]}
"""
BEGINNING = """\
import asyncio, multiprocessing, os, shutil, signal, socket, subprocess, sys, tempfile
import anyio, anyio._backends._asyncio
"""
END = """\
for module, names in LACKS.items():
    for name in names:
        delattr(module, name)
sys.platform = {platform!r}
"""
SYSTEMS = {"darwin": MACOS, "sunos5": MACOS}


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    platform: str = request.param
    return platform


def run_there(system: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script on another system."""
    script = BEGINNING + SYSTEMS[system] + END.format(platform=system) + code
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=50, check=False)


def test_packages_can_be_imported(system: str, tmp_path: Path) -> None:
    names = ("protocol", "endpoint", "transport", "adapter", "client", "testing", "proxy", "catalog", "sessions")
    code = "".join(f"import dapkit.{name}\n" for name in names)
    done = run_there(
        system, f"{code}from dapkit.protocol import Thread\nprint(Thread(id=1, name='main').name)", tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "main\n", "")


START = "import runpy\nsys.argv[1:] = {words!r}\nrunpy.run_module({module!r}, run_name='__main__')\n"
SPAWNING = """\
from dapkit.client import BlockingSession, Session
from dapkit.transport import CannotStart
try:
    with BlockingSession(Session.spawn(["./debugger"])): ...
except CannotStart as error:
    sys.exit(f"error: {error}")
"""
LISTENING = """\
import dapkit
try:
    dapkit.listen(0)
except RuntimeError as error:
    sys.exit(f"error: {error}")
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "code",
    [
        START.format(module="dapkit.cli", words=["run", "--", "app.py"]),
        START.format(module="dapkit.cli", words=["--version"]),
        START.format(module="dapkit.python", words=[]),
        START.format(module="dapkit.python", words=["--listen", "127.0.0.1:0"]),
        SPAWNING,
        LISTENING,
    ],
    ids=["run", "version", "adapter", "server", "client", "program"],
)
def test_what_starts_something_says_why_it_cannot(code: str, tmp_path: Path) -> None:
    done = run_there("sunos5", code, tmp_path)
    assert done.returncode in {1, 2}
    text = "error: dapkit runs on Linux, macOS and Windows, and this is sunos5: use one of these, a container or WSL\n"
    assert done.stderr.lower() == text.lower()


def test_page_of_systems_names_each_feature_that_others_lack() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/platforms.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    features = [*FEATURES, *windows_lacks.FEATURES]
    assert [feature for feature in features if not any(row.startswith(f"| {feature}") for row in rows)] == []
