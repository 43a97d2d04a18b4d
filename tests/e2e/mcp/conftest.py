"""A project with a program to debug, and a hub of its own for each test."""

import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit.hub.front import Front

PROGRAM = """
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
    (made / "app.py").write_text(textwrap.dedent(PROGRAM).lstrip())
    return made


@pytest.fixture
def runtime(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a hub that ends with the test."""
    made = project.with_name("run")
    made.mkdir(mode=0o700)
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(made))
    yield made
    Front(str(made)).stop()
