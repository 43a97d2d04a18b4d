"""What is shown of the machine."""

import json
import platform
import sys
from pathlib import Path

import pytest

from dapkit import __version__
from dapkit.diagnostics import limits
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.system import system

PLANTED = "hunter-22-tooth"


@pytest.fixture(autouse=True)
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Where:
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "run"))
    return Where(str(tmp_path))


def test_machine_versions_and_adapters_are_named(where: Where) -> None:
    found = system(where).sections
    assert found["System"]["architecture"] == platform.machine()
    assert "GiB" in found["System"]["memory"]
    assert found["Python"]["version"] == f"CPython {platform.python_version()}"
    assert found["Python"]["executable"] == sys.executable
    assert (found["dapkit"]["version"], found["dapkit"]["hub"]) == (__version__, "does not run")
    assert found["Adapters"]["dapkit"].startswith(__version__)
    assert set(found["Adapters"].values()) >= {"not installed"}


def test_environment_is_shown_without_secrets(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "API_TOKEN": PLANTED,
        "DATABASE_URL": f"postgres://ada:{PLANTED}@db/shop?password={PLANTED}x",
        "OPTIONS": f"--verbose --password {PLANTED}",
        "HARMLESS": "as it is",
    }.items():
        monkeypatch.setenv(name, value)
    report = system(where)
    shown = report.sections["Environment"]
    assert shown.get("API_TOKEN") == "[redacted]"
    assert shown["OPTIONS"] == "--verbose --password [redacted]"
    assert shown["HARMLESS"] == "as it is"
    assert PLANTED not in json.dumps(report.as_json())
    assert PLANTED not in report.as_text()


@pytest.mark.thorough
def test_long_value_of_a_variable_is_cut(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONG", "x" * 5000)
    shown = system(where).sections["Environment"]["LONG"]
    assert shown == "x" * limits.SYSTEM_VALUE_CHARACTERS + "... (5000 characters)"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("variable", "editor"), [("NVIM", "Neovim"), ("INSIDE_EMACS", "Emacs"), ("VSCODE_PID", "VS Code")]
)
def test_editor_is_known_by_what_it_gives_to_its_terminals(
    where: Where, monkeypatch: pytest.MonkeyPatch, variable: str, editor: str
) -> None:
    monkeypatch.setenv(variable, "1")
    assert editor in system(where).sections["Terminal"]["inside of"]


@pytest.mark.thorough
def test_hub_that_does_not_answer_is_no_error(where: Where, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o755)
    assert "does not answer" in system(where).sections["dapkit"]["hub"]
