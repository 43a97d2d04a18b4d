"""The actions as Python functions, through a hub of their own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit import hub
from dapkit.agent import api
from dapkit.agent.results.session import Started
from dapkit.hub.folder import VARIABLE


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the current folder, which is an empty project with a hub for itself."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "hub").mkdir(mode=0o700)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "hub"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.chdir(folder)
    yield folder
    hub.stop()


def test_a_script_debugs_a_program(project: Path) -> None:
    (project / "app.py").write_text(
        "def double(number):\n    return 2 * number\n\nprint(double(21))\n", encoding="utf-8"
    )
    launched = api.launch(program="app.py", breakpoints=["app.py:2"])
    started = launched.result
    assert isinstance(started, Started)
    assert started.stop is not None
    assert [(one.name, one.value) for one in started.stop.locals] == [("number", "21")]
    assert api.evaluate("number + 1").result.evaluation.result == "22"
    assert api.continue_().result.state == "terminated"
    assert str(api.output()) == "42\n"


@pytest.mark.usefixtures("project")
def test_a_failure_is_an_error_with_its_code() -> None:
    with pytest.raises(api.ActionError, match="No active debug session") as caught:
        api.threads()
    assert caught.value.code == "no_session"


def test_a_result_of_two_kinds_is_read_as_the_one_that_it_is(project: Path) -> None:
    (project / "app.py").write_text("print(1)\n", encoding="utf-8")
    api.launch(program="app.py")
    in_file = api.set_breakpoint(file="app.py", line=1).result
    on_function = api.set_breakpoint(function="main").result
    assert (type(in_file).__name__, type(on_function).__name__) == ("SourceBreakpoints", "FunctionBreakpoints")
    api.terminate()
