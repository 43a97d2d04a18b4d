"""Whether an adapter is installed here, and the command that starts it.

Results are not remembered, so that an adapter is found as soon as it is installed; only the version that its program
reported is, while the file stays.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.executables import FoundExecutable, highest, is_program, search, skipped
from dapkit.catalog.templates import UNKNOWN, fill, placeholders
from dapkit.catalog.versions import numbers, version_told
from dapkit.system.trusted_files import objection_to
from dapkit.system.user_folders import HOME


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Where adapters are looked for.

    Attributes:
        projects: folders whose own programs come first, the nearest first.
        python: the interpreter of the program, for adapters that live beside it.
        skip: takes sentences about programs that strangers can have put into a project; these are not taken.

    """

    projects: tuple[Path, ...]
    env: Mapping[str, str]
    python: Path | None = None
    skip: Callable[[str], object] = str

    def value(self, name: str) -> object:
        """Return the value of a placeholder of a command; placeholders of a program are unknown here."""
        kind, _, rest = name.partition(":")
        match kind:
            case "python":
                return None if self.python is None else str(self.python)
            case "this_python":
                return sys.executable
            case "home":
                return self.env.get(HOME)
            case "env":
                return self.env.get(rest)
            case _:
                return UNKNOWN


@dataclass(frozen=True, slots=True)
class Installed:
    """An adapter that can be started.

    Attributes:
        command: the command with the full path of its program; placeholders for the debugged program or a socket are
            still in it.
        version: if it was asked for.
        where: how it was found.

    """

    command: tuple[str, ...]
    version: str | None
    where: str

    @property
    def path(self) -> Path:
        """The program."""
        return Path(self.command[0])


@dataclass(frozen=True, slots=True)
class NotInstalled:
    """An adapter that cannot be started, or is of no use here.

    Attributes:
        problem: why.
        remedy: an alternative to installing it.
        command: its command, if the problem is only that this was not found on PATH.

    """

    problem: str
    remedy: str = ""
    command: str = ""


def find(
    definition: AdapterDefinition, around: SearchContext, *, ask_version: bool = False
) -> Installed | NotInstalled:
    """Find the first of an adapter's commands that works here."""
    if definition.transport == "connect":
        return Installed((), None, f"it listens at {definition.host}:{definition.port}, which was not tried")
    problems: list[NotInstalled] = []
    for way in definition.command:
        command = _found(way, definition, around)
        if isinstance(command, Installed):
            command = _checked(command, definition, around, ask_version=ask_version)
        if isinstance(command, Installed):
            return command
        if command.problem:
            problems.append(command)
    return NotInstalled(_joined(problems) or "its command is empty")


def lacks_for_pid(definition: AdapterDefinition, around: SearchContext) -> NotInstalled | None:
    """Return what an installed adapter needs to attach to processes and lacks; None if it lacks nothing."""
    for other in definition.attach_to_pid_needs:
        if search(other, around.projects, around.env, around.skip) is None:
            remedy = f"install {other}, or have the program listen on a port, and attach to that"
            return NotInstalled(f"it gets into a process by {other}, which{_NOT_FOUND}", remedy)
    return None


_NOT_FOUND = " was not found on PATH"


def _joined(problems: Sequence[NotInstalled]) -> str:
    """Say in one sentence why several commands do not work; those that were not found are listed together."""
    missing = list(dict.fromkeys(way.command for way in problems if way.command))
    if len(missing) < 2:
        return "; ".join(dict.fromkeys(way.problem for way in problems))
    others = dict.fromkeys(way.problem for way in problems if not way.command)
    return "; ".join([f"{', '.join(missing)} were not found on PATH", *others])


def _found(way: tuple[str, ...], definition: AdapterDefinition, around: SearchContext) -> Installed | NotInstalled:
    program = _program(way[0], definition, around)
    if isinstance(program, NotInstalled):
        return program
    words = [str(program.path)]
    for word in way[1:]:
        filled = fill(word, around.value)
        if filled is None:
            return NotInstalled(f"{', '.join(sorted(placeholders(word)))} is not set")
        if any(name == "home" or name.startswith("env:") for name in placeholders(word)):
            file = highest(Path(str(filled)))
            if file is None:
                return NotInstalled(f"there is no {filled}")
            filled = file
        words.append(str(filled))
    for other in definition.needs:
        if search(other, around.projects, around.env, around.skip) is None:
            return NotInstalled(f"{way[0]} is there, but it needs {other}, which{_NOT_FOUND}")
    return Installed(tuple(words), None, program.kind)


def _program(word: str, definition: AdapterDefinition, around: SearchContext) -> FoundExecutable | NotInstalled:
    filled = fill(word, around.value)
    if filled is None:
        return NotInstalled("" if word == "${python}" else f"{', '.join(sorted(placeholders(word)))} is not set")
    name = str(filled)
    if "/" not in name and not Path(name).is_absolute():
        path = search(name, around.projects, around.env, around.skip)
        if path is not None:
            return path
        if "*" in name:
            return NotInstalled("")  # the plain name comes before it, and is reported
        return NotInstalled(f"{name}{_NOT_FOUND}", command=name)
    return _by_path(Path(name).expanduser(), definition, around)


def _by_path(path: Path, definition: AdapterDefinition, around: SearchContext) -> FoundExecutable | NotInstalled:
    """Resolve a path; a relative one, from the file that contains it or from the project."""
    folders: Sequence[Path] = [*(source.parent for source in definition.sources[-1:]), *around.projects]
    for candidate in [path] if path.is_absolute() else [folder / path for folder in folders]:
        existing = highest(candidate)
        if existing is None or not is_program(existing):
            continue
        if path.is_absolute() or (objection := objection_to(existing)) is None:
            return FoundExecutable(existing, "by its path")
        around.skip(skipped(existing, objection))
    return NotInstalled(f"there is no program {path}")


def _checked(
    installed: Installed, definition: AdapterDefinition, around: SearchContext, *, ask_version: bool
) -> Installed | NotInstalled:
    decides = definition.needs_version or bool(definition.minimum_version)
    if not definition.version or not (decides or ask_version):
        return installed
    version = version_told((installed.command[0], *definition.version), around.env)
    if version is None and decides:
        return NotInstalled(f"`{' '.join((installed.command[0], *definition.version))}` did not report a version")
    if version is not None and definition.minimum_version and numbers(version) < numbers(definition.minimum_version):
        return NotInstalled(f"{installed.command[0]} is version {version}, and {definition.minimum_version} is needed")
    return Installed(installed.command, version, installed.where)
