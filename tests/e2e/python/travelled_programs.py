"""The programs whose past is compared with what it was, and what each of them needs."""

import functools
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import bootstrap
from interpreters import OURS, interpreter
from missing import missing
from program_libraries import libraries_for

_TRAVEL = Path(__file__, "..", "travel").resolve()
_RUNNER = _TRAVEL / "standard_library" / "tests_of_library.py"

PROGRAMS = sorted((_TRAVEL / "programs").glob("*.py"))
"""Each is about something that programs take from outside."""
EVERYDAY = sorted((_TRAVEL / "everyday").glob("*.py"))
WITH_LIBRARIES = sorted((_TRAVEL / "with_libraries").glob("*.py"))

BY_ADDRESS = {"order_of_ids", "places"}
"""Of these all results are made of addresses, which stops on the way change for a while; see `time-travel.md`."""

OF_LIBRARY = {
    "test_bisect": 20,
    "test_collections": 30,
    "test_contextlib": 30,
    "test_dataclasses": 40,
    "test_enum": 40,
    "test_fractions": 15,
    "test_heapq": 15,
    "test_queue": 20,
    "test_random": 25,
    "test_string": 30,
    "test_tempfile": 25,
    "test_textwrap": 30,
}
"""Modules of the standard library's own tests, and how many tests of each are run, chosen at random."""

WITH_TESTS = ("3.12", "3.13")
"""The versions that have these: those that were built from source. Debian's 3.14 comes without them."""


@dataclass(frozen=True)
class TravelledProgram:
    """A program on a version of Python.

    Attributes:
        path: of its file.
        version: of Python.
        tested: the module of the standard library's tests that it runs.

    """

    path: Path
    version: str
    tested: str | None = None

    def __str__(self) -> str:
        """Return what tests call it."""
        return f"{self.version}-{self.tested or self.path.stem}"

    @property
    def takes_turns(self) -> bool:
        """Whether it has threads."""
        return self.path.stem.startswith("threads")

    def launch(self, folder: Path) -> Mapping[str, object]:
        """Return the launch arguments for a copy in a folder, where no settings of ours are for a pytest in it.

        What it needs and is not there ends the test.
        """
        python = str(interpreter(self.version))
        arguments: dict[str, object] = {"program": shutil.copy(self.path, folder), "python": python}
        if self.tested is not None:
            arguments["args"] = [self.tested, str(OF_LIBRARY[self.tested])]
            arguments["rules"] = [{"module": f"test.{self.tested}", "include": True}]
        elif self.path in WITH_LIBRARIES:
            arguments["env"] = libraries_for(self.version)
            arguments["python"] = sys.executable if self.version == OURS else python
        return arguments

    def files(self, folder: Path) -> list[Path]:
        """Return the files in which it is stopped on its way: itself, and what it tests."""
        own = folder / self.path.name
        if self.tested is None:
            return [own]
        return [own, _origin(str(interpreter(self.version)), f"test.{self.tested}")]


@functools.cache
def _origin(python: str, module: str) -> Path:
    question = f"import importlib.util as u; print(u.find_spec({module!r}).origin)"
    found = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        missing(f"{python} lacks {module}")
    return Path(found.stdout.strip())


def travelled(*, with_each: bool) -> list[TravelledProgram]:
    """Return all of them, with each version of Python, or each with one of them in turn."""
    paths = [path for path in [*PROGRAMS, *EVERYDAY, *WITH_LIBRARIES] if path.stem not in BY_ADDRESS]
    found = list[TravelledProgram]()
    for number, path in enumerate(paths):
        chosen = bootstrap.VERSIONS if with_each else bootstrap.VERSIONS[number % len(bootstrap.VERSIONS) :][:1]
        found += [TravelledProgram(path, version) for version in chosen]
    for number, tested in enumerate(OF_LIBRARY):
        chosen = WITH_TESTS if with_each else WITH_TESTS[number % 2 :][:1]
        found += [TravelledProgram(_RUNNER, version, tested) for version in chosen]
    return found
