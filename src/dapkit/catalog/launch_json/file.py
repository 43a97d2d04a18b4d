"""A `.vscode/launch.json`: its configurations by name, its compounds, and the adapter for each."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dapkit import limits
from dapkit.catalog.catalog import Catalog
from dapkit.catalog.choice import CORE_KEYS, Choice
from dapkit.catalog.errors import LaunchFileError
from dapkit.catalog.interpreters import python_for
from dapkit.catalog.launch_json.inputs import Input, names_in
from dapkit.catalog.launch_json.translation import flattened, translate
from dapkit.catalog.launch_json.variables import Unresolved, VariableContext, resolve
from dapkit.catalog.projects import up_to_repository
from dapkit.catalog.route import route_to
from dapkit.system.trusted_files import objection_to, read_file

if TYPE_CHECKING:
    from dapkit.client.routes import Route


# JSON as editors write it: with comments, and commas after the last item.
#
# Both become blanks, so that lines and columns in errors match the file.

_PARTS = re.compile(
    r"""
    (?P<text>"(?:\\.|[^"\\\n])*")
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<comma>,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}]))
    """,
    re.VERBOSE | re.DOTALL,
)
_ANY_BUT_LINE_END = re.compile(r"[^\n]")


def read_json(text: str) -> object:
    """Return the value of a JSON text with comments.

    Raises:
        ValueError: it is not JSON; the text names line and column.

    Example:
        >>> read_json('{"a": [1, 2,] /* as in launch.json */ }')
        {'a': [1, 2]}

    """
    plain = _PARTS.sub(_blank, text.removeprefix("\ufeff"))
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["text"] is not None else _ANY_BUT_LINE_END.sub(" ", match[0])


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration, as it stands in the file."""

    name: str
    type: str
    request: str
    settings: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Compound:
    """Several configurations that are started together.

    Attributes:
        stop_all: whether the end of one ends all.

    """

    name: str
    configurations: tuple[str, ...]
    stop_all: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A configuration ready to be started.

    Attributes:
        choice: the adapter; None if it listens already, at `debug_server`.
        request: `launch` or `attach`.
        arguments: the arguments for the adapter, with their variables.
        notes: steps of an editor that are not carried out.
        secrets: answers that are in the arguments and are not to be shown.

    """

    name: str
    choice: Choice | None
    request: str
    arguments: Mapping[str, object]
    notes: tuple[str, ...] = ()
    debug_server: int | None = None
    secrets: tuple[str, ...] = ()

    def with_choice(self, choice: Choice) -> "Plan":
        """Return a copy with another choice, and with further arguments for its adapter."""
        return replace(self, choice=choice, arguments={**self.arguments, **choice.arguments})

    def route(self) -> "Route":
        """Return the way to the adapter, for a client session."""
        if self.choice is None:
            from dapkit.client.routes import Tcp

            return Tcp("127.0.0.1", self.debug_server or 0)
        _, host, port = _attached(self.arguments) if self.request == "attach" else (None, None, None)
        return route_to(self.choice, self.arguments, host=host or "127.0.0.1", port=port)


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """The contents of a `launch.json`."""

    file: Path
    configurations: tuple[Configuration, ...]
    compounds: tuple[Compound, ...]
    inputs: Mapping[str, Input] = field(default_factory=dict, repr=False)

    @property
    def folder(self) -> Path:
        """The workspace folder."""
        return self.file.parent.parent

    @property
    def names(self) -> tuple[str, ...]:
        """All that can be started."""
        return (
            *(configuration.name for configuration in self.configurations),
            *(compound.name for compound in self.compounds),
        )

    def members(self, name: str) -> tuple[str, ...]:
        """Return the configurations of a compound; of a configuration, itself.

        Raises:
            LaunchFileError: no configuration has this name, or a compound names a missing one.

        """
        for compound in self.compounds:
            if compound.name == name:
                for member in compound.configurations:
                    self._configuration(member, f'the compound "{name}" names "{member}", and there is no such')
                return compound.configurations
        self._configuration(name)
        return (name,)

    def asked(self, name: str) -> tuple[Input, ...]:
        """Return the questions to the user in a configuration, or in any part of a compound.

        Raises: as `members`.
        """
        names = [
            variable
            for member in self.members(name)
            for variable in names_in(flattened(self._configuration(member).settings))
        ]
        return tuple(self.inputs.get(name, Input(name=name)) for name in dict.fromkeys(names))

    def plan(
        self,
        name: str,
        catalog: Catalog,
        *,
        program: Path | None = None,
        inputs: Mapping[str, str] | None = None,
        pid: int | None = None,
    ) -> Plan:
        """Resolve a configuration, and choose the adapter for it.

        Args:
            name: of a configuration; the members of a compound are planned one by one.
            catalog: adapters to choose from.
            program: the file that would be open in the editor, for `${file}` and the like.
            inputs: answers for `${input:...}`.
            pid: the process that would be picked.

        Raises:
            LaunchFileError: there is no such configuration, or a variable of it has no value.
            NoAdapter: no adapter for its type, or none that is installed.

        """
        configuration = self._configuration(name)
        skipped: list[str] = []
        around = VariableContext(
            folder=self.folder,
            env=catalog.env,
            file=None if program is None else program.absolute(),
            inputs=inputs or {},
            asked=self.inputs,
            settings=partial(_settings, self.folder),
            pid=pid,
            python=partial(_python, self.folder, catalog.env, skipped.append),
        )
        try:
            resolved = resolve(flattened(configuration.settings), around)
        except Unresolved as error:
            raise LaunchFileError(self.file, f'configuration "{name}", {str(error).removeprefix(".")}') from error
        settings = dict(resolved) if isinstance(resolved, Mapping) else {}
        secrets = tuple(
            around.inputs[each.name] for each in self.asked(name) if each.secret and each.name in around.inputs
        )
        server = settings.get("debugServer")
        if isinstance(server, int):
            return Plan(name, None, configuration.request, {**settings}, debug_server=server, secrets=secrets)
        choice = self._choice(configuration, settings, catalog)
        translated = translate(settings, choice)
        request = str(translated.arguments.get("request", configuration.request))
        return Plan(
            name, translated.choice, request, translated.arguments, (*translated.notes, *skipped), secrets=secrets
        )

    def _choice(self, configuration: Configuration, settings: Mapping[str, object], catalog: Catalog) -> Choice:
        python = settings.get("python") or settings.get("pythonPath")
        pid, host, port = _attached(settings) if configuration.request == "attach" else (None, None, None)
        return catalog.choose(
            _program(settings),
            cwd=self.folder,
            launch_type=configuration.type,
            ability="core" if CORE_KEYS & settings.keys() else None,
            pid=pid,
            host=host or "127.0.0.1",
            port=port,
            python=Path(os.path.normpath(self.folder / python)) if isinstance(python, str) and "/" in python else None,
        )

    def _configuration(self, name: str, problem: str | None = None) -> Configuration:
        for configuration in self.configurations:
            if configuration.name == name:
                return configuration
        names = ", ".join(f'"{name}"' for name in self.names) or "none"
        raise LaunchFileError(self.file, f"{problem or f'there is no configuration "{name}"'}; there are {names}")


def find(cwd: Path) -> Path | None:
    """Return the nearest folder with a `.vscode/launch.json`, up to the top of the repository.

    Raises:
        LaunchFileError: there is one, but only such as strangers can have written.

    """
    skipped: LaunchFileError | None = None
    for folder in up_to_repository(cwd.absolute()):
        file = folder / ".vscode/launch.json"
        if not os.path.lexists(file):
            continue
        objection = objection_to(file)
        if objection is None:
            return folder
        skipped = skipped or LaunchFileError(
            file, f"{objection}, and others could have any command run by it: not read"
        )
    if skipped is not None:
        raise skipped
    return None


def read(folder: Path) -> LaunchFile:
    """Read the `.vscode/launch.json` of a workspace folder.

    Raises:
        LaunchFileError: the file does not exist, or cannot be understood; the text says where.

    """
    file = folder.absolute() / ".vscode/launch.json"
    table = _read(file)
    configurations = tuple(
        _configuration(entry, number, file) for number, entry in enumerate(_list(table, "configurations", file))
    )
    compounds = tuple(_compound(entry, number, file) for number, entry in enumerate(_list(table, "compounds", file)))
    inputs = [entry for entry in _list(table, "inputs", file) if isinstance(entry, Mapping)]
    inputs_by_name = {str(entry["id"]): Input.read(str(entry["id"]), entry) for entry in inputs if "id" in entry}
    return LaunchFile(file, configurations, compounds, inputs_by_name)


def _read(file: Path) -> Mapping[str, object]:
    try:
        table = read_json(read_file(file, limits.CONFIGURATION_BYTES).decode())
    except FileNotFoundError as error:
        raise LaunchFileError(file, "is not there") from error
    except OSError as error:
        raise LaunchFileError(file, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LaunchFileError(file, f"{error}; expected JSON with comments") from error
    if not isinstance(table, Mapping):
        raise LaunchFileError(file, "expected an object with configurations")
    return table


def _list(table: Mapping[str, object], key: str, file: Path) -> list[object]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise LaunchFileError(file, f"{key}: expected a list")
    return value


def _configuration(item: object, number: int, file: Path) -> Configuration:
    if not isinstance(item, Mapping):
        raise LaunchFileError(file, f"configurations[{number}]: expected an object")
    names: dict[str, str] = {}
    for key in ("name", "type", "request"):
        if not isinstance(item.get(key), str):
            name_text = f' ("{item["name"]}")' if isinstance(item.get("name"), str) else ""
            raise LaunchFileError(file, f"configurations[{number}]{name_text}.{key}: expected a text")
        names[key] = str(item[key])
    if names["request"] not in {"launch", "attach"}:
        where = f'configurations[{number}] ("{names["name"]}").request'
        raise LaunchFileError(file, f'{where}: expected launch or attach, found "{names["request"]}"')
    return Configuration(**names, settings=item)


def _compound(item: object, number: int, file: Path) -> Compound:
    match item:
        case {"name": str(name), "configurations": list(listed), **rest}:
            members = tuple(str(each.get("name")) if isinstance(each, Mapping) else str(each) for each in listed)
            return Compound(name, members, stop_all=rest.get("stopAll") is True)
        case _:
            raise LaunchFileError(file, f"compounds[{number}]: expected an object with name and configurations")


def _settings(folder: Path) -> Mapping[str, object]:
    """Return the settings of the folder.

    Raises:
        Unresolved: they cannot be read.

    """
    file = folder / ".vscode/settings.json"
    if not os.path.lexists(file):
        return {}
    if (objection := objection_to(file)) is not None:
        raise Unresolved(f"{file} is not read: {objection}")
    try:
        settings = read_json(read_file(file, limits.CONFIGURATION_BYTES).decode())
    except (OSError, ValueError) as error:
        raise Unresolved(f"{file} cannot be read: {error}") from error
    return settings if isinstance(settings, Mapping) else {}


def _attached(settings: Mapping[str, object]) -> tuple[int | None, str | None, int | None]:
    """Return pid, host and port of the target of a configuration, as far as it names them."""
    connect = settings.get("connect")
    place = connect if isinstance(connect, Mapping) else settings
    pid, host, port = settings.get("processId", settings.get("pid")), place.get("host"), place.get("port")
    return (
        int(str(pid)) if str(pid).isdigit() else None,
        host if isinstance(host, str) else None,
        port if isinstance(port, int) else None,
    )


def _program(settings: Mapping[str, object]) -> str | None:
    program = settings.get("program") or settings.get("script")
    return program if isinstance(program, str) else None


def _python(folder: Path, env: Mapping[str, str], skip: Callable[[str], object]) -> Path | None:
    interpreter = python_for(None, folder, env, skip)
    return None if interpreter is None else interpreter.path
