"""The definitions that come with dapkit, and the user's definitions, which replace them.

From the lowest to the highest: dapkit's own, the home folder, the user's
configuration folder, then the folders of the project down to the one where the
user is. Each may have `dap.json`, `dap.yaml`, `dap.yml` and `dap.toml`, and the
same with a dot before. A file is a table `adapters`, or that table itself. A faulty definition is reported and left
out; the others count.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dapkit import limits
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.tables import Invalid, RawDefinition, build, check, merge
from dapkit.system.trusted_files import is_trusted, objection_to, read_file
from dapkit.system.user_folders import HOME, config_folder

BUILT_IN = Path(__file__).parent / "adapters"
"""Where the definitions are that come with dapkit."""

FILE_NAMES = tuple(f"{dot}dap.{form}" for form in ("json", "yaml", "yml", "toml") for dot in ("", "."))
"""Names of users' files, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class DefinitionProblem:
    """Something in a file that was left out.

    Attributes:
        file: which one.
        place: where in it, such as `line 3` or `adapters.mine.command, line 7`; empty for the file as a whole.
        text: the fault, and the expected value.

    """

    file: Path
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}{f', {self.place}' if self.place else ''}: {self.text}"


def user_folders(env: Mapping[str, str]) -> tuple[Path, Path]:
    """Return the folders of the user's own files: the home folder and the configuration folder."""
    return Path(env.get(HOME) or Path.home()), config_folder(env) / "dapkit"


@cache
def built_in() -> Mapping[str, AdapterDefinition]:
    """Return the definitions that come with dapkit."""
    return {name: build(name, settings, sources=(file,)) for name, (settings, file) in _own().items()}


@cache
def _own() -> Mapping[str, tuple[RawDefinition, Path]]:
    return {
        file.stem: (merge({}, check(tomllib.loads(file.read_text()), (file.stem,))), file)
        for file in sorted(BUILT_IN.glob("*.toml"))
    }


def read_all(cwd: Path, home: Path, config: Path) -> tuple[dict[str, AdapterDefinition], list[DefinitionProblem]]:
    """Return all definitions for a folder, and the faults in their files."""
    adapters = dict(built_in())
    settings = {name: own for name, (own, _) in _own().items()}
    problems: list[DefinitionProblem] = []
    for file in _files(cwd, home, config):
        try:
            text, table = _read(file)
        except Invalid as error:
            problems.append(DefinitionProblem(file, "", error.problem))
            continue
        for path, content in _tables(table):
            name = path[-1] if path else ""
            try:
                merged = merge(settings.get(name, {}), check(content, path))
                sources = adapters[name].sources if name in adapters else ()
                definition = build(name, merged, sources=(*sources, file))
            except Invalid as error:
                whole = error.path if error.path[: len(path)] == path else (*path, *error.path)
                problems.append(DefinitionProblem(file, _place(text, whole), error.problem))
            else:
                adapters[name], settings[name] = definition, merged
    return adapters, problems


def _tables(table: object) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the table of each adapter, and the keys down to it."""
    if not isinstance(table, Mapping):
        yield (), table
        return
    inner = table.get("adapters")
    prefix: tuple[str, ...] = ()
    if isinstance(inner, Mapping):
        table, prefix = inner, ("adapters",)
    for name, content in table.items():
        if name != "$schema":
            yield (*prefix, str(name)), content


def _files(cwd: Path, home: Path, config: Path) -> Iterator[Path]:
    folders = [home, config, *_project(cwd, home)]
    for folder in dict.fromkeys(folders):
        for name in FILE_NAMES:
            file = folder / name
            if os.path.lexists(file):
                yield file


def _project(cwd: Path, home: Path) -> list[Path]:
    """Folders from the top of the repository down to this one; this one alone outside of any."""
    chain = [cwd, *cwd.parents]
    for depth, folder in enumerate(chain):
        if folder == home:
            break
        if is_trusted(folder / ".git"):
            return chain[depth::-1]
    return [cwd]


def _read(file: Path) -> tuple[str, object]:
    """Return a file's text, and its parsed contents.

    Raises:
        Invalid: it cannot be read, or does not say anything.

    """
    if (objection := objection_to(file)) is not None:
        raise Invalid((), f"{objection}, and others could have any command run by it: not read")
    try:
        text = read_file(file, limits.CONFIGURATION_BYTES).decode()
    except OSError as error:
        raise Invalid((), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid((), f"is not UTF-8: byte {error.start} is not text") from error
    match file.suffix:
        case ".json":
            return text, _json(text)
        case ".toml":
            return text, _toml(text)
        case _:
            return text, _yaml(text)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid((), f"line {error.lineno}, column {error.colno}: {error.msg}; expected JSON") from error
    except RecursionError as error:
        raise Invalid((), "is nested too deeply") from error


def _toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid((), f"{error}; expected TOML") from error


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise Invalid((), f"{where}{error.problem}; expected YAML") from error
    except yaml.YAMLError as error:
        raise Invalid((), f"{error}; expected YAML") from error


def _place(text: str, path: tuple[str, ...]) -> str:
    """Name a place by its keys, and by its line where the text shows it."""
    if not path:
        return ""
    lines = text.splitlines()
    line_number = 0
    line: int | None = None
    for key in path:
        quoted = re.escape(key)
        pattern = re.compile(rf"""^\s*(\{{\s*)?["']?{quoted}["']?\s*[:=]|^\s*\[+[^\]]*["']?\b{quoted}["']?\s*[.\]]""")
        here = next((number for number in range(line_number, len(lines)) if pattern.search(lines[number])), None)
        if here is None:
            break
        line_number = line = here
    return ".".join(path) if line is None else f"{'.'.join(path)}, line {line + 1}"
