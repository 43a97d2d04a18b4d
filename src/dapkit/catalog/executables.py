"""Where commands are looked for: in the project first, then on PATH, then where Mason keeps adapters."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from dapkit.catalog.projects import listed
from dapkit.catalog.versions import numbers
from dapkit.system.selection import COMMAND_ENDINGS, IS_WINDOWS
from dapkit.system.trusted_files import objection_to
from dapkit.system.user_folders import HOME

VENV_PROGRAMS = "Scripts" if IS_WINDOWS else "bin"
"""The folder of the programs in a virtual environment."""

LOCAL_FOLDERS = ("node_modules/.bin", f".venv/{VENV_PROGRAMS}", f"venv/{VENV_PROGRAMS}", "vendor/bin", "bin")
"""Where projects keep programs of their own."""


@dataclass(frozen=True, slots=True)
class FoundExecutable:
    """Where a command was found.

    Attributes:
        kind: `project`, `PATH`, ...

    """

    path: Path
    kind: str


def search(
    name: str, projects: Sequence[Path], env: Mapping[str, str], skip: Callable[[str], object] = str
) -> FoundExecutable | None:
    """Find a command; of several versions (`lldb-dap-*`) the highest in the first folder that has any.

    A program in the project that other users could have put there is not used, but passed to `skip`, in a sentence.
    """
    for folder, kind in _folders(projects, env):
        files = _in_folder(folder, name)
        if files is None:
            continue
        if kind != "project" or (objection := objection_to(files)) is None:
            return FoundExecutable(files, kind)
        skip(skipped(files, objection))
    return None


def skipped(path: Path, objection: str) -> str:
    """Report that a program was not taken, though it would have been the first."""
    return f"skipped {path}, which would have been run: {objection}"


def is_program(path: Path) -> bool:
    """Whether a path is a file that may be executed."""
    return path.is_file() and os.access(path, os.X_OK)


def highest(pattern: Path) -> Path | None:
    """Return the path that fits a pattern and has the highest version; a path without `*` if it is there."""
    text = str(pattern)
    if "*" not in text:
        return pattern if pattern.exists() else None
    paths = list(Path(pattern.anchor).glob(text.removeprefix(pattern.anchor)))
    return max(paths, key=lambda path: _versions(str(path)), default=None)


def _folders(projects: Sequence[Path], env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    on_path = [Path(entry) for entry in env.get("PATH", os.defpath).split(os.pathsep) if Path(entry).is_absolute()]
    for project in dict.fromkeys(projects):
        for name in LOCAL_FOLDERS:
            if project / name not in on_path:  # as /bin is for the project /; its place in PATH counts
                yield project / name, "project"
    for folder in on_path:  # entries that are not absolute would depend on where the user happens to be
        yield folder, "PATH"
    if home := env.get(HOME):
        yield Path(home, ".local/share/nvim/mason/bin"), "Mason"


def _in_folder(folder: Path, name: str) -> Path | None:
    if "*" not in name:
        paths = (folder / (name + ending) for ending in COMMAND_ENDINGS)
        return next((path for path in paths if is_program(path)), None)
    patterns = [name + ending for ending in COMMAND_ENDINGS]
    files = [
        file
        for file in listed(folder)
        if any(fnmatchcase(file.name, pattern) for pattern in patterns) and is_program(file)
    ]
    return max(files, key=lambda path: _versions(path.name), default=None)


def _versions(text: str) -> tuple[tuple[int, ...], ...]:
    """Return all versions in a text, such as ((22,),) of `lldb-dap-22`."""
    words = "".join(char if char.isdigit() or char == "." else " " for char in text).split()
    return tuple(
        numbers(word.strip(".")) for word in words if word.strip(".").replace(".", "").isdigit() and ".." not in word
    )
