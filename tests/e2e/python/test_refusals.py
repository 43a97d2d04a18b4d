"""Launches that cannot succeed, and what the client is told about them."""

import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import dapkit.python.debuggee
from dapkit.client import StartRefused
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.raw_client import raw_client


async def refusal(driver: AdapterClient, **launch: object) -> str:
    with pytest.raises(StartRefused) as refused:
        await driver.launch(**launch)
    return str(refused.value)


async def test_nothing_to_run_is_refused(driver: AdapterClient) -> None:
    assert (
        await refusal(driver) == "launch failed: launch needs exactly one of program, module and code, got none of them"
    )


async def test_two_things_to_run_are_refused(driver: AdapterClient) -> None:
    text = await refusal(driver, program="a.py", code="print()")
    assert text.endswith("exactly one of program, module and code, got program and code")


async def test_missing_program_is_refused_with_the_path_that_was_looked_for(driver: AdapterClient) -> None:
    text = await refusal(driver, program="missing.py")
    assert text.endswith(f"program 'missing.py' does not exist (looked for {driver.folder / 'missing.py'})")


async def test_missing_folder_is_refused(driver: AdapterClient) -> None:
    text = await refusal(driver, program="a.py", cwd="/nowhere")
    assert text.endswith("cwd is '/nowhere', which is not a folder")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("no-such-python", "python is 'no-such-python', but there is no program on PATH that can be run"),
        ("/nowhere/python", "python is '/nowhere/python', but there is no program at /nowhere/python that can be run"),
    ],
)
async def test_missing_interpreter_is_refused(driver: AdapterClient, program: str, told: str) -> None:
    assert (await refusal(driver, code="print()", python=program)).endswith(told)


def interpreter(folder: Path, answer: str) -> str:
    """Make a program that answers as an interpreter of another kind."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho no >&2\necho {answer}\nexit 1\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
@pytest.mark.thorough
async def test_interpreter_that_is_too_old_is_refused_with_its_version(driver: AdapterClient, console: str) -> None:
    python = interpreter(driver.folder, "cpython 3 9 2")
    text = await refusal(driver, code="print()", python=python, console=console)
    assert text.endswith(f"python is {python}, which is CPython 3.9.2; expected CPython 3.12 or later")


def test_engine_leaves_it_to_the_adapter_to_say_that_an_interpreter_is_too_old() -> None:
    entry = Path(dapkit.python.debuggee.__file__).parent / "starting" / "entry.py"
    started = f"import runpy, sys; sys.version_info = (3, 11, 7); runpy.run_path({str(entry)!r}, run_name='__main__')"
    ended = subprocess.run([sys.executable, "-c", started], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


async def test_other_implementation_is_refused_by_its_name(driver: AdapterClient) -> None:
    python = interpreter(driver.folder, "pypy 3 12 1")
    text = await refusal(driver, code="print()", python=python)
    assert text.endswith("which is pypy 3.12.1; expected CPython 3.12 or later")


async def test_program_that_is_no_interpreter_is_refused(driver: AdapterClient) -> None:
    text = await refusal(driver, code="print()", python="cat")
    assert text.endswith("which did not answer as a Python interpreter: expected CPython 3.12 or later")


async def test_interpreter_that_ends_at_once_is_quoted(driver: AdapterClient) -> None:
    text = await refusal(driver, code="print()", pythonArgs=["--no-such-option"])
    assert "the program ended before it could be debugged (exit code 2); it wrote:\nunknown option" in text.lower()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("launch", "place"),
    [
        ({"args": ["a", 1]}, "$.arguments.args[1]"),
        ({"env": {"A": [1]}}, "$.arguments.env"),
        ({"program": ["a.py"]}, "$.arguments.program"),
        ({"stopOnEntry": "yes"}, "$.arguments.stopOnEntry"),
        ({"console": "none"}, "$.arguments.console"),
    ],
)
async def test_argument_of_a_wrong_type_is_refused_with_its_place(
    driver: AdapterClient, launch: dict[str, object], place: str
) -> None:
    text = await refusal(driver, **launch)
    assert text.startswith(f"launch failed: launch: {place}")
    assert "expected" in text
    assert "got" in text


async def test_terminal_is_refused_if_the_client_has_none() -> None:
    async with raw_client() as client:
        await client.initialize()
        answer = await client.ask("launch", {"code": "print()", "console": "integratedTerminal"})
    assert answer["message"] == (
        "console is 'integratedTerminal', but runInTerminal is not supported: "
        "the client did not announce supportsRunInTerminalRequest; use internalConsole"
    )


@pytest.mark.row("attach")
async def test_process_that_is_not_there_is_refused(driver: AdapterClient) -> None:
    with pytest.raises(StartRefused, match="process 4194305 does not exist"):
        await driver.session.attach({"processId": 4194305})  # the kernel gives no higher number than 2**22


@pytest.mark.thorough
@pytest.mark.row("attach")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "exactly one of connect, listen, socket and processId, got none of them"),
        ({"connect": {"port": 1}, "listen": {"port": 1}}, "got connect and listen"),
        ({"connect": {"port": 1}}, "no process listens at 127.0.0.1:1: Connection refused"),
        ({"host": "localhost", "port": 1}, "no process listens at localhost:1: Connection refused"),
        ({"connect": {"port": 1, "tokenFile": "/nowhere"}}, "tokenFile /nowhere cannot be read: No such file"),
        ({"listen": {"host": "::", "port": 0}}, ":: can be reached from other machines"),
        ({"socket": "/nowhere/socket"}, "no process listens at /nowhere/socket: No such file"),
        ({"connect": {"host": "here"}}, "missing"),
    ],
)
async def test_attach_that_cannot_be_is_refused_with_the_reason(
    driver: AdapterClient, given: dict[str, object], told: str
) -> None:
    with pytest.raises(StartRefused) as refused:
        await driver.session.attach(given)
    assert told in str(refused.value)


NEEDS_EXTENSION = "time travel and recordings need the C extension of dapkit, which cannot be loaded (no module "
INSTALL = "install a wheel of dapkit, or install it where there are a C compiler and the headers of Python"


@pytest.mark.row("stepBack")
async def test_time_travel_without_the_extension_is_refused(
    without_extension: Mapping[str, str], tmp_path: Path, python: str
) -> None:
    async with adapter_client(tmp_path, without_extension) as driver:
        text = await refusal(driver, code="print()", python=python, timeTravel=True)
    assert NEEDS_EXTENSION in text
    assert INSTALL in text


@pytest.mark.thorough
def test_recording_without_the_extension_is_refused(without_extension: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "app.py").touch()
    command = [sys.executable, "-m", "dapkit.cli", "record", "-o", "a.dapkit", "app.py"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**without_extension, "PATH": path}
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode != 0
    assert NEEDS_EXTENSION in ended.stderr
    assert INSTALL in ended.stderr
    assert not (tmp_path / "a.dapkit").exists()
