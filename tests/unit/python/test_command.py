"""From launch arguments to a command line, without starting anything."""

import sys
from pathlib import Path

import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol import RawJson, decode_as
from dapkit.python.adapter import PythonLaunch
from dapkit.python.adapter.configuration.keys import remark_on
from dapkit.python.adapter.launch.command import command_for
from dapkit.python.debuggee_files import ENTRY

LINK = Path("/run/link")


def launch(text: bytes) -> PythonLaunch:
    return decode_as(PythonLaunch, RawJson(text), "$.arguments")


def test_command_runs_the_engine_with_the_program_and_its_arguments() -> None:
    command = command_for(launch(b'{"code": "print()", "args": ["a b", "--"], "pythonArgs": ["-X", "dev"]}'), LINK)
    interpreter, *options, kind, what, dashes, first, second = command.argv
    assert interpreter == sys.executable
    assert options == ["-X", "dev", str(ENTRY), "--link", "unix:/run/link"]
    assert (kind, what, dashes, first, second) == ("--code", "print()", "--", "a b", "--")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (b'{"program": "/bin/true"}', "true"),
        (b'{"module": "json.tool"}', "json.tool"),
        (b'{"code": ["a", "b"]}', "<string>"),
    ],
)
def test_program_is_called_by_its_file_or_module(given: bytes, name: str) -> None:
    assert command_for(launch(given), LINK).name == name


def test_interpreter_may_bring_arguments_of_its_own() -> None:
    command = command_for(launch(b'{"code": "x", "python": ["env", "-i", "python3"]}'), LINK)
    assert command.argv[1:3] == ("-i", "python3")
    assert Path(command.argv[0]).is_absolute()


def test_interpreter_with_a_relative_path_is_looked_for_in_the_folder_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "python").symlink_to(sys.executable)
    given = PythonLaunch(code="x", python="venv/python", cwd=str(tmp_path))
    assert command_for(given, LINK).argv[0] == str(tmp_path / "venv" / "python")


def test_interpreter_is_looked_for_on_the_path_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "mypython").symlink_to(sys.executable)
    given = PythonLaunch(code="x", python="mypython", env={"PATH": str(tmp_path)})
    assert command_for(given, LINK).argv[0] == str(tmp_path / "mypython")


def test_environment_of_the_adapter_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_A", "1")
    monkeypatch.setenv("DAPKIT_B", "1")
    command = command_for(PythonLaunch(code="x", env={"DAPKIT_A": None, "DAPKIT_C": "3"}), LINK)
    environment = command.environment()
    assert [environment.get(f"DAPKIT_{letter}") for letter in "ABC"] == [None, "1", "3"]


@pytest.mark.parametrize("given", [b"{}", b'{"program": ""}', b'{"module": "a", "code": "b"}'])
def test_one_thing_to_run_is_needed(given: bytes) -> None:
    with pytest.raises(RequestFailed, match="exactly one of program, module and code"):
        command_for(launch(given), LINK)


def test_keys_of_the_editor_are_known() -> None:
    given = launch(b'{"type": "python", "request": "launch", "name": "x", "__id": 1, "preLaunchTask": "make"}')
    assert remark_on(given) == ""


def test_unknown_keys_come_with_what_may_have_been_meant() -> None:
    given = launch(b'{"arg": [], "justmycode": true, "colour": 1, "processId": 2, "gevent": true}')
    assert remark_on(given) == (
        "Launch arguments that dapkit does not know: "
        '"arg" (did you mean "args"?), "justmycode" (did you mean "justMyCode"?), "colour", '
        '"processId" (it is for attach)\n'
    )
