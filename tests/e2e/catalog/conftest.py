"""Programs to debug, and processes to attach to."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dapkit.catalog import Catalog, NoAdapter, load
from e2e.catalog.running_programs import Running
from missing import missing


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Return what is known in an empty folder, for a user without files but what Go has compiled before."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return load(tmp_path, tmp_path, env={"GOCACHE": f"{cache}/go-build", **os.environ, "HOME": str(tmp_path)})


@pytest.fixture
def installed(catalog: Catalog, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that ends the test if an adapter is not installed, or too old; with CI=true it fails it."""

    def need(adapter: str) -> None:
        try:
            catalog.choose(cwd=tmp_path, adapter=adapter)
        except NoAdapter as error:
            missing(error.problem)

    return need


@pytest.fixture(scope="session")
def built_by_go(
    require_tool: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], Path]:
    """Return a function that builds a Go module for debugging."""
    go = require_tool("go")
    folder = tmp_path_factory.mktemp("built")

    def build(module: Path) -> Path:
        program = folder / module.name
        subprocess.run([go, "build", "-gcflags=all=-N -l", "-o", program, "."], check=True, cwd=module)
        return program

    return build


@pytest.fixture
def running() -> Iterator[Running]:
    """Return what starts programs, which are ended with the test."""
    programs = Running()
    yield programs
    programs.end()
