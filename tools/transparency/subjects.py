"""Whose tests are run: modules of the interpreter's own tests."""

import ast
import os
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bootstrap

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
BUILD = bootstrap.ROOT / "build" / "transparency"


@dataclass(frozen=True)
class Subject:
    """Tests that one program runs.

    Attributes:
        name: for tables.
        version: of Python.
        python: the interpreter.
        program: what runs the tests.
        arguments: `OUTCOMES` and `NAMES` stand for files that each run has of its own.
        folder: where it runs; None for a new folder.
        library: the folder whose files count as the program's own code.
        tests, code: files that hold the tests, and what they test.
        repeats: whether the program can run its tests repeatedly.

    """

    name: str
    version: str
    python: str
    program: Path
    arguments: tuple[str, ...]
    folder: Path | None
    library: Path
    tests: tuple[Path, ...]
    code: tuple[Path, ...]
    repeats: bool

    def command(self, outcomes: Path, names: Path | None, seconds: float = 0) -> list[str]:
        """Return the arguments of the program; with `seconds`, it repeats the tests for so long."""
        files = {"OUTCOMES": [str(outcomes)], "NAMES": ["-" if names is None else str(names)]}
        words = [word for argument in self.arguments for word in files.get(argument, [argument])]
        words = [word for word in words if word != "-"] if self.repeats else words
        return [*words, f"{seconds:g}"] if seconds and self.repeats and names is not None else words


@dataclass(frozen=True)
class Function:
    """A function of a file, by the first line of its body."""

    name: str
    file: Path
    line: int


@cache
def functions(file: Path) -> Sequence[Function]:
    """Return the functions of a file; none if this Python cannot read it."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return ()
    return tuple(
        Function(node.name, file, first_line(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the line of the first statement that does something."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1].lineno if is_docstring and len(function.body) > 1 else first.lineno


def never_reached(program: Path) -> int:
    """Return the line of a program that it never reaches."""
    lines = program.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith("# never reached"))


@cache
def interpreter(version: str) -> str | None:
    """Return an interpreter of a version that has the tests of the standard library."""
    python = bootstrap.find_interpreter(version)
    return python if python is not None and (library(python) / "test" / "test_bdb.py").exists() else None


@cache
def library(python: str) -> Path:
    """Return the folder of an interpreter's standard library."""
    code = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    ran = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return Path(ran.stdout.strip())


def modules(key: str) -> list[str]:
    """Return names of test modules: of `all`, or of the `few` that make no use of luck and take little time."""
    with (HERE / "modules.toml").open("rb") as file:
        named: list[str] = tomllib.load(file)[key]
    return named


def module_subject(module: str, version: str) -> Subject | None:
    """Return a test module of an interpreter, or None if that does not have it."""
    python = interpreter(version)
    if python is None:
        return None
    folder = library(python)
    tests = _files(folder, f"test.{module}")
    if not tests:
        return None
    about = [part.removeprefix("test_") for part in module.split(".")]
    code = _files(folder, ".".join(about)) or _files(folder, about[-1])
    if module.startswith("test_multiprocessing"):
        tests, code = (folder / "test/_test_multiprocessing.py",), _files(folder, "multiprocessing")
    return Subject(
        name=module,
        version=version,
        python=python,
        program=PROGRAMS / "run_unittest.py",
        arguments=(f"test.{module}", "OUTCOMES", "NAMES"),
        folder=None,
        library=folder,
        tests=tests,
        code=code,
        repeats=True,
    )


def _files(folder: Path, module: str) -> tuple[Path, ...]:
    base = folder / module.replace(".", os.sep)
    if base.is_dir():
        return tuple(sorted(file for file in base.glob("*.py") if file.name != "__main__.py"))
    file = base.with_suffix(".py")
    return (file,) if file.exists() else ()
