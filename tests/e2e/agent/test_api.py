"""The actions as Python functions, through a hub of their own."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import pytest

import dapkit.agent as debug
from dapkit import hub
from dapkit.agent import ActionError, Answer
from dapkit.agent.results.session import Resumed, Started
from dapkit.agent.results.values import Evaluated
from dapkit.agent.table import ACTIONS
from dapkit.hub.folder import VARIABLE


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the current folder, which is an empty project with a hub for itself."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "hub").mkdir(mode=0o700)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "hub"))
    monkeypatch.setenv("DAPKIT_SESSION_INITIAL_STOP_SECONDS", "30")  # of a slow machine
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.chdir(folder)
    yield folder
    hub.stop()


def test_a_script_debugs_a_program(project: Path) -> None:
    (project / "app.py").write_text(
        "def double(number):\n    return 2 * number\n\nprint(double(21))\n", encoding="utf-8"
    )
    launched = debug.launch(program="app.py", breakpoints=["app.py:2"])
    started = launched.result
    assert isinstance(started, Started)
    assert started.stop is not None
    assert [(variable.name, variable.value) for variable in started.stop.locals] == [("number", "21")]
    assert debug.evaluate("number + 1").result.evaluation.result == "22"
    assert debug.continue_().result.state == "terminated"
    assert str(debug.output()) == "| 42"


@pytest.mark.usefixtures("project")
def test_a_failure_is_an_error_with_its_code() -> None:
    with pytest.raises(ActionError, match="No active debug session") as caught:
        debug.threads()
    assert caught.value.code == "no_session"


@pytest.mark.thorough
def test_a_result_of_two_kinds_is_read_as_the_one_that_it_is(project: Path) -> None:
    (project / "app.py").write_text("print(1)\n", encoding="utf-8")
    debug.launch(program="app.py")
    in_file = debug.set_breakpoint(file="app.py", line=1).result
    on_function = debug.set_breakpoint(function="main").result
    assert (type(in_file).__name__, type(on_function).__name__) == ("SourceBreakpoints", "FunctionBreakpoints")
    debug.terminate()


@pytest.mark.thorough
def test_functions_are_known_to_a_type_checker(project: Path) -> None:
    (project / "app.py").write_text("total = 6 * 7\nprint(total)\n", encoding="utf-8")
    assert_type(debug.launch(program="app.py", breakpoints=["app.py:2"]), Answer[Started])
    assert assert_type(debug.evaluate("total"), Answer[Evaluated]).result.evaluation.result == "42"
    assert assert_type(debug.step_over(), Answer[Resumed]).result.state == "terminated"
    with pytest.raises(TypeError, match="progam"):
        debug.launch(progam="app.py")  # type: ignore[call-arg] # refused by the checker, too
    with pytest.raises(AttributeError, match="has no attribute 'dance'"):
        debug.dance()  # type: ignore[attr-defined] # refused by the checker, too


def test_package_offers_all_functions_and_makes_them_when_one_is_asked_for() -> None:
    signatures = {name: str(inspect.signature(getattr(debug, name))) for name in debug.__all__ if name[0].islower()}
    assert len(signatures) == len(ACTIONS)
    assert "condition: 'str | None' = None" in signatures["set_breakpoint"]
    assert signatures["why"].startswith("(expression: 'str', *, ")
    assert signatures["why"].endswith(" -> 'Answer[WhyResult]'")
    assert debug.why is debug.why
    code = (
        "import sys, dapkit.agent, dapkit.agent.table; print('dapkit.agent.api' in sys.modules);"
        "from dapkit.agent import *; print(launch.__module__, 'dapkit.agent.api' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\ndapkit.agent True\n"


def test_stub_has_the_signatures_that_the_functions_have() -> None:
    stub = ast.parse(Path(str(debug.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    declared = {node.name: node.args for node in stub.body if isinstance(node, ast.FunctionDef)}
    for name, arguments in declared.items():
        parameters = inspect.signature(getattr(debug, name)).parameters.values()
        by_position = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        assert [each.arg for each in arguments.args] == by_position
        assert [each.arg for each in arguments.kwonlyargs] == by_name
    assert len(declared) == len(ACTIONS)
