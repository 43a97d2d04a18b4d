"""The standard input of a command, on systems where the program cannot read it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

pytestmark = pytest.mark.timeout(300)

NOTE = "note: the program does not read the standard input of this command here. Name a file with --stdin-file FILE.\n"
ASKS = "from dapkit.cli.own_input import input_to_pass_on; print(input_to_pass_on())"


def asked(code: str, stdin: "IO[bytes] | int") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code]
    env = {**os.environ, "DAPKIT_SYSTEM": "posix"}
    return subprocess.run(command, env=env, stdin=stdin, capture_output=True, check=False)


def text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n")


def test_data_in_a_file_is_reported_and_not_dropped_silently(tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_text("data\n")
    with file.open("rb") as stdin:
        done = asked(ASKS, stdin)
        assert (text(done.stdout), text(done.stderr)) == ("None\n", NOTE)
    file.write_text("")
    with file.open("rb") as stdin:
        assert asked(ASKS, stdin).stderr == b""


def test_data_in_a_pipe_is_reported() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"data")
        done = asked(ASKS, reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (text(done.stdout), text(done.stderr)) == ("None\n", NOTE)


def test_nothing_is_said_without_input() -> None:
    assert asked(ASKS, subprocess.DEVNULL).stderr == b""
    reading, writing = os.pipe()
    try:
        assert asked(ASKS, reading).stderr == b""
    finally:
        os.close(reading)
        os.close(writing)


def test_own_input_cannot_be_named_as_a_file() -> None:
    done = asked("from dapkit.cli.own_input import path_of_own_input; path_of_own_input()", subprocess.DEVNULL)
    assert done.returncode == 2
    assert text(done.stderr) == "Error: --stdin-file - needs Linux. Name a file with --stdin-file FILE.\n"
