"""A version of Python that is newer than any that was tested: what says so, and what refuses it.

The newest one of the tests takes itself for the next.
"""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from dapkit.client import Ended, StartRefused
from dapkit.python.debuggee.engine.interpreter_checks import NEWEST_TESTED
from e2e.python.adapter_client import AdapterClient
from e2e.python.listening_program import SOURCES, client
from e2e.python.test_attach_to_process import attach, plain
from interpreters import interpreter

MAJOR, MINOR = NEWEST_TESTED
NEWER = f"import sys\nsys.version_info = ({MAJOR}, {MINOR + 1}, 0, 'final', 0)\n"
CHANGED = """
import types
function = types.SimpleNamespace(__text_signature__="($module, args, environment, /)")
sys.modules["_posixsubprocess"] = types.SimpleNamespace(fork_exec=function)
"""
"""What a check finds that the engine makes of how programs are started."""

REMARK = f"dapkit was tested with Python 3.12 to {MAJOR}.{MINOR}, and this is {MAJOR}.{MINOR + 1}: "
REFUSAL = (
    f"Python {MAJOR}.{MINOR + 1} has changed how programs are started, which the debugger needs for following child"
)
COUNTS = """
    import os
    print("ready", flush=True)
    while not os.path.exists("go"):
        pass
    print("counted", flush=True)
"""


@pytest.fixture
def newer(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which Python takes itself for a newer version."""
    return environment(tmp_path, NEWER)


@pytest.fixture
def changed(tmp_path: Path) -> dict[str, str]:
    """Return one in which an internal has changed as well."""
    return environment(tmp_path, NEWER + CHANGED)


def environment(folder: Path, text: str) -> dict[str, str]:
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(site)}


@pytest.fixture
def newest() -> str:
    """Return the newest interpreter."""
    return str(interpreter(f"{MAJOR}.{MINOR}"))


async def test_newer_version_is_debugged_with_one_sentence(
    driver: AdapterClient, newer: dict[str, str], newest: str
) -> None:
    await driver.start("x = 1\ny = 2\n", 2, python=newest, env=newer)
    await driver.session.next_stop()
    assert (await driver.locals())["x"].value == "1"
    assert await driver.resume() == Ended(0)
    assert driver.output("console").count(REMARK) == 1


async def test_newer_version_is_refused_where_an_internal_has_changed(
    driver: AdapterClient, changed: dict[str, str], newest: str
) -> None:
    with pytest.raises(StartRefused, match=REFUSAL):
        await driver.start("x = 1\n", 1, python=newest, env=changed)


async def test_newer_version_has_no_time_travel(driver: AdapterClient, newer: dict[str, str], newest: str) -> None:
    with pytest.raises(StartRefused, match=rf"time travel was tested with Python 3\.12 to {MAJOR}\.{MINOR}"):
        await driver.start("x = 1\n", 1, python=newest, env=newer, timeTravel=True)


async def test_running_program_is_refused_and_runs_on_where_an_internal_has_changed(
    tmp_path: Path, changed: dict[str, str], newest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        with monkeypatch.context() as for_program:
            for_program.setenv("PYTHONPATH", changed["PYTHONPATH"])
            program = stack.enter_context(plain(COUNTS, tmp_path, newest))
        async with client() as session:
            with pytest.raises(StartRefused, match=REFUSAL):
                await attach(session, program)
        program.go()
        assert program.line() == "counted"
        assert program.process.wait(30) == 0


def test_program_that_listens_says_why_it_cannot(tmp_path: Path, changed: dict[str, str], newest: str) -> None:
    program = tmp_path / "prog.py"
    program.write_text("print('runs')\n")
    command = [newest, "-m", "dapkit", "--listen", "0", str(program)]
    environment = {"PYTHONPATH": os.pathsep.join((changed["PYTHONPATH"], str(SOURCES)))}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode != 0, ran.stdout) == (True, "")
    assert REFUSAL in ran.stderr
    assert "Traceback" not in ran.stderr


async def test_child_of_such_a_version_runs_undebugged(
    driver: AdapterClient, changed: dict[str, str], newest: str
) -> None:
    text = f"""
        import os, subprocess
        variables = os.environ | {{"PYTHONPATH": {changed["PYTHONPATH"]!r}}}
        child = subprocess.run([{newest!r}, "-c", "print('runs')"], env=variables, capture_output=True, text=True)
        print(child.returncode, child.stdout, child.stderr)
    """
    assert await driver.run(text) == Ended(0)
    assert "0 runs" in driver.output("stdout")
    assert REFUSAL in driver.output("stdout")
    assert "This process is not debugged." in driver.output("stdout")
