"""Whose tests are run: packages from the registry, each by pytest in the folder of its source distribution.

Everything is made once, in build/transparency/packages: an environment for each version of Python with all packages,
and the folders for each version.
"""

import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bootstrap
from transparency.subjects import BUILD, HERE, PROGRAMS, Subject, library

FOLDER = BUILD / "packages"
READY = "ready.txt"


@dataclass(frozen=True)
class Package:
    """A package with its tests.

    Attributes:
        tests: what pytest gets.
        needs: what the tests need besides pytest.

    """

    name: str
    version: str
    tests: tuple[str, ...]
    needs: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The package as pip takes it."""
        return f"{self.name}=={self.version}"


def subjects(version: str, names: Sequence[str]) -> list[Subject]:
    """Return packages with their tests, all of them unless some are named."""
    python = bootstrap.find_interpreter(version)
    if python is None:
        return []
    chosen, known = [], packages()
    environment = _environment(python, version, known)
    for package in known:
        if names and package.name not in names:
            continue
        folder = _sources(package, version)
        tests = [file for start in package.tests for file in sorted((folder / start).rglob("*.py"))]
        chosen.append(
            Subject(
                name=f"{package.name} {package.version}",
                version=version,
                python=str(environment / "bin" / "python"),
                program=PROGRAMS / "run_pytest.py",
                arguments=("OUTCOMES", "NAMES", *package.tests),
                folder=folder,
                library=library(str(environment / "bin" / "python")),
                tests=tuple(file for file in tests if "test" in file.name),
                code=tuple(
                    file for file in sorted(folder.rglob("*.py")) if "test" not in str(file.relative_to(folder))
                ),
                repeats=False,
            )
        )
    return chosen


def packages() -> list[Package]:
    """Read the list."""
    rows: list[dict[str, Any]] = _list()["package"]
    return [Package(row["name"], row["version"], tuple(row["tests"]), tuple(row.get("needs", ()))) for row in rows]


def _list() -> dict[str, Any]:
    with (HERE / "packages.toml").open("rb") as file:
        return tomllib.load(file)


def _environment(python: str, version: str, known: Sequence[Package]) -> Path:
    """Make the environment of a version, if it is not there as the list wants it."""
    folder = FOLDER / f"python-{version}"
    wanted = [f"pytest=={_list()['pytest']}", *(package.requirement for package in known)]
    wanted += [need for package in known for need in package.needs]
    ready = folder / READY
    if not ready.exists() or ready.read_text(encoding="utf-8") != "\n".join(wanted):
        _uv("venv", "--quiet", "--clear", "--python", python, str(folder))
        _uv("pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *wanted)
        ready.write_text("\n".join(wanted), encoding="utf-8")
    return folder


def _sources(package: Package, version: str) -> Path:
    """Unpack the source distribution of a package, if it is not there, and return its folder."""
    parent = FOLDER / f"sources-{version}" / package.requirement
    if not parent.exists():
        archive = _archive(package)
        parent.parent.mkdir(parents=True, exist_ok=True)
        (parent.parent / "pytest.ini").touch()  # for packages without a configuration; pytest would take ours
        unfinished = parent.with_name(f"{parent.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with tarfile.open(archive) as file:
            file.extractall(unfinished, filter="data")
        unfinished.rename(parent)
    [folder] = parent.iterdir()
    return folder


def _archive(package: Package) -> Path:
    """Fetch the source distribution of a package, if it is not there."""
    folder = FOLDER / "archives" / package.requirement
    if not folder.exists() or not any(folder.iterdir()):  # pip makes the folder before it fetches
        pip = FOLDER / "pip"
        if not pip.exists():
            _uv("venv", "--quiet", "--seed", str(pip))
        command = [str(pip / "bin" / "python"), "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", package.name, "--dest", str(folder), package.requirement]
        subprocess.run(command, check=True, env=bootstrap.surroundings())
    [archive] = folder.iterdir()
    return archive


def _uv(*arguments: str) -> None:
    subprocess.run([str(bootstrap.UV), *arguments], check=True, env=bootstrap.surroundings())
