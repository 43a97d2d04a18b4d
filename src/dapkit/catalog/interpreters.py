"""Which Python runs a program: the one that its user would have it run by."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dapkit.catalog.executables import VENV_PROGRAMS, search, skipped
from dapkit.catalog.programs import bare_name, shebang
from dapkit.catalog.projects import up_to_repository
from dapkit.catalog.versions import Version, answer, numbers
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.trusted_files import objection_to

_OF_PROJECT = "the project's environment"
FIRST_ON_PATH = "first on PATH"
"""Where an interpreter was found that the user has not chosen."""

_OWN = "the one that runs dapkit"

_PYTHON = "python.exe" if IS_WINDOWS else "python"

_QUESTION = "import sys; print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])), sys.executable)"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python interpreter.

    Attributes:
        implementation: `cpython`, `pypy`, ...
        why: how it was found.

    """

    path: Path
    implementation: str
    version: Version
    why: str

    def __str__(self) -> str:
        name = "Python" if self.implementation == "cpython" else self.implementation
        return f"{self.path} ({self.why}) is {name} {'.'.join(map(str, self.version))}"


def asked(path: Path, why: str, env: Mapping[str, str], cwd: Path) -> Interpreter | None:
    """Ask an interpreter about itself; None if it does not answer.

    One that is a front for others (pyenv's) chooses by the folder that it is started in.
    """
    facts = (answer((str(path), "-I", "-S", "-c", _QUESTION), env, cwd) or "").split(maxsplit=2)
    match facts:
        case [implementation, version, executable]:
            return Interpreter(Path(executable.strip()), implementation, numbers(version), why)
        case _:
            return None


def own_interpreter(env: Mapping[str, str], cwd: Path) -> Interpreter | None:
    """Return the interpreter that runs dapkit."""
    return asked(Path(sys.executable), _OWN, env, cwd)


def python_for(
    program: Path | None, cwd: Path, env: Mapping[str, str], skip: Callable[[str], object] = str
) -> Interpreter | None:
    """Return the interpreter for a program; None if no interpreter works.

    An environment that strangers can have put into a project is not taken, but passed to `skip`, in a sentence.

    In this order: the one its `#!` line names, a virtual environment beside it or above
    it in the same repository, the active environment, `python3` and `python` on PATH,
    the one that runs dapkit.
    """
    for path, why in _places(program, cwd, env):
        if not path.is_file():
            continue
        if why == _OF_PROJECT and (objection := objection_to(path)) is not None:
            skip(skipped(path, objection))
        elif (interpreter := asked(path, why, env, cwd)) is not None:
            return interpreter
    return None


def _places(program: Path | None, cwd: Path, env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if program is not None:
        first = shebang(program) if program.is_file() else ""
        if bare_name(first) in {"python", "pypy"}:
            yield Path(first), "named in its first line"
    start = cwd if program is None else program if program.is_dir() else program.parent
    for folder in dict.fromkeys([*up_to_repository(start), *up_to_repository(cwd)]):
        for name in (".venv", "venv"):
            yield folder / name / VENV_PROGRAMS / _PYTHON, _OF_PROJECT
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if active := env.get(variable):
            yield Path(active, *_folder_of_active(variable), _PYTHON), f"the active environment, {variable}"
    for name in ("python3", "python"):
        if (path := search(name, (), env)) is not None:
            yield path.path, FIRST_ON_PATH
    yield Path(sys.executable), _OWN


def _folder_of_active(variable: str) -> list[str]:
    """Return the folder of programs in an active environment; conda has the interpreter above it on Windows."""
    return [] if IS_WINDOWS and variable == "CONDA_PREFIX" else [VENV_PROGRAMS]
