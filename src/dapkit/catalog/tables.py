"""From the table of a file to a definition: the keys, the type of each, and the merging of tables.

Keys are written as in the files that come with dapkit. The keys of the tool that made `dap.json` usual are understood
as well: `fileTypes`, `launchDefaults`, `args`, ...
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from dapkit.catalog.definition import AdapterDefinition, SignalExitCodes, Traits

type RawDefinition = Mapping[str, object]
"""Checked settings of one adapter, by the names of the fields of a definition."""

type Check = Callable[[object, tuple[str, ...]], object]
"""Returns a value as it is kept; raises Invalid, with the keys down to it."""


class Invalid(Exception):  # noqa: N818 - caught where the file is known, never shown by itself
    """A value in a table has the wrong type.

    Attributes:
        path: keys down to it.

    """

    def __init__(self, path: tuple[str, ...], problem: str) -> None:
        super().__init__(f"{'.'.join(path)}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


_ALIASES = {
    "connectMode": "transport",
    "launchDefaults": "launch",
    "attachDefaults": "attach",
    "acceptsDirectoryProgram": "directories",
}

STANDARD_LAUNCH: RawDefinition = {
    "request": "launch",
    "program": "${program}",
    "args": "${args}",
    "cwd": "${cwd}",
    "env": "${env}",
    "stopOnEntry": "${stop_on_entry}",
}
"""Default arguments for an adapter that the user defined."""

_STANDARD_LAUNCH_IN_TERMINAL: RawDefinition = {"console": "integratedTerminal"}
"""Default arguments for a terminal if the launch has a `console`, as VS Code calls it."""

_STANDARD_ATTACH: RawDefinition = {"request": "attach", "cwd": "${cwd}"}


def check(table: object, path: tuple[str, ...]) -> dict[str, object]:
    """Return the settings that a table holds.

    Raises:
        Invalid: a key is unknown, or its value wrong.

    """
    if not isinstance(table, Mapping):
        raise Invalid(path, f"found {_kind(table)}, expected a table with the adapter's settings")
    return _checked(table, path, _CHECKS, "no adapter has this setting")


def _checked(
    table: Mapping[str, object], path: tuple[str, ...], checks: Mapping[str, Check], unknown: str
) -> dict[str, object]:
    settings: dict[str, object] = {}
    for original_key, value in ((str(key), value) for key, value in table.items()):  # in YAML a key may be a number
        key = _ALIASES.get(original_key) or _in_snake_case(original_key)
        if key not in checks:
            raise Invalid((*path, original_key), f"{unknown}; there are {', '.join(sorted(checks))}")
        settings[key] = checks[key](value, (*path, original_key))
    return settings


def _in_snake_case(key: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f"_{capital[0].lower()}", key)


def merge(below: RawDefinition, above: RawDefinition) -> dict[str, object]:
    """Return settings with others laid over them; tables of arguments are merged key by key."""
    merged = dict(below)
    for key, value in above.items():
        beneath = merged.get(key)
        if key == "command" and isinstance(value, str):
            merged[key] = (value, *_arguments_of(below)) if "args" not in above else value
        elif isinstance(value, Mapping) and isinstance(beneath, Mapping):
            merged[key] = {**beneath, **value}
        else:
            merged[key] = value
    return _with_command(merged)


def build(name: str, settings: RawDefinition, *, sources: tuple[Path, ...]) -> AdapterDefinition:
    """Make a definition of merged settings.

    Raises:
        Invalid: they do not fit together.

    """
    settings = {**settings}
    attach = settings.pop("attach", None)
    if isinstance(attach, Mapping):
        _spread(attach, settings)
    launch = settings.setdefault("launch", STANDARD_LAUNCH)
    if isinstance(launch, Mapping) and "console" in launch:
        settings.setdefault("launch_in_terminal", _STANDARD_LAUNCH_IN_TERMINAL)
    if isinstance(traits := settings.get("traits"), Mapping):
        settings["traits"] = Traits(**traits)
    definition = AdapterDefinition(name=name, sources=sources, **settings)  # type: ignore[arg-type]  # checked by `check`
    _check_reach(definition)
    return definition


def _with_command(settings: dict[str, object]) -> dict[str, object]:
    """Make the command whole: `args` belong to it, and a text or a single list is one way to start."""
    command, arguments = settings.get("command"), settings.pop("args", None)
    if isinstance(command, str):
        command = (command,)
    if isinstance(command, tuple) and command and isinstance(command[0], str):
        command = (command,)
    if arguments is not None and isinstance(command, tuple) and command:
        command = ((command[0][0], *_words(arguments)),)
    if command is not None:
        settings["command"] = command
    return settings


def _arguments_of(settings: RawDefinition) -> tuple[str, ...]:
    command = settings.get("command")
    return command[0][1:] if isinstance(command, tuple) and command else ()


def _words(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _spread(attach: RawDefinition, settings: dict[str, object]) -> None:
    """Lay arguments for every way of attaching over the two ways."""
    by_pid, by_port = settings.get("attach_to_pid"), settings.get("attach_to_port")
    if by_pid is None and by_port is None:
        by_pid = {**_STANDARD_ATTACH, "pid": "${pid}", "processId": "${pid}"}
        by_port = {**_STANDARD_ATTACH, "host": "${host}", "port": "${port}"}
    for key, beneath in (("attach_to_pid", by_pid), ("attach_to_port", by_port)):
        if isinstance(beneath, Mapping):
            settings[key] = {**beneath, **attach}


_MARKS = {"stdio": (), "tcp": ("${port}", "${callback}"), "unix": ("${socket}",), "connect": ()}


def _check_reach(definition: AdapterDefinition) -> None:
    if definition.transport == "connect":
        if not definition.port:
            raise Invalid(("port",), 'missing: the transport "connect" needs the port where the adapter listens')
        return
    if not definition.command:
        raise Invalid(("command",), "missing: there is nothing to start the adapter by")
    marks = _MARKS[definition.transport]
    for way in definition.command:
        if marks and not any(mark in word for word in way for mark in marks):
            raise Invalid(
                ("command",),
                f'the transport "{definition.transport}" needs {" or ".join(marks)} in the command',
            )


# The type of each key


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "`true`", False: "`false`"}[value]
    if isinstance(value, str | int | float):
        return f'"{value}"' if isinstance(value, str) else f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "a table" if isinstance(value, Mapping) else repr(value)


def _text(value: object, path: tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise Invalid(path, f"found {_kind(value)}, expected a text")
    return value


def _texts(value: object, path: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Invalid(path, f"found {_kind(value)}, expected a list of texts")
    return tuple(_text(item, (*path, str(number))) for number, item in enumerate(value))


def _command(value: object, path: tuple[str, ...]) -> object:
    match value:
        case str() if value:
            return value
        case [str(), *_]:
            return _texts(value, path)
        case [list(), *_]:
            return tuple(_some_texts(way, (*path, str(number))) for number, way in enumerate(value))
        case _:
            raise Invalid(path, f"found {_kind(value)}, expected a command as a list of texts")


def _some_texts(value: object, path: tuple[str, ...]) -> tuple[str, ...]:
    texts = _texts(value, path)
    if not texts:
        raise Invalid(path, "found an empty list, expected a command as a list of texts")
    return texts


def _file_types(value: object, path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text.lower() if text.startswith(".") else text for text in _texts(value, path))


def _bool(value: object, path: tuple[str, ...]) -> bool:
    if not isinstance(value, bool):
        raise Invalid(path, f"found {_kind(value)}, expected true or false")
    return value


def _number(value: object, path: tuple[str, ...]) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(path, f"found {_kind(value)}, expected a whole number")
    return value


def _port(value: object, path: tuple[str, ...]) -> int:
    port = _number(value, path)
    if not 0 < port < 65536:
        raise Invalid(path, f"found {port}, expected a port between 1 and 65535")
    return port


def _pattern(value: object, path: tuple[str, ...]) -> re.Pattern[str]:
    text = _text(value, path)
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise Invalid(path, f"found {_kind(text)}, expected a regular expression: {error}") from error
    if not pattern.groups:
        raise Invalid(path, f"found {_kind(text)}, expected a regular expression with one group")
    return pattern


def _table(value: object, path: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise Invalid(path, f"found {_kind(value)}, expected a table")
    return dict(value)


def _table_of_texts(value: object, path: tuple[str, ...]) -> dict[str, str]:
    return {key: _text(item, (*path, key)) for key, item in _table(value, path).items()}


def _transport(value: object, path: tuple[str, ...]) -> str:
    name = {"socket": "unix"}.get(str(value), value)
    if name not in _MARKS:
        raise Invalid(path, f"found {_kind(value)}, expected one of {', '.join(_MARKS)}")
    return str(name)


def _traits(value: object, path: tuple[str, ...]) -> dict[str, object]:
    return _checked(_table(value, path), path, _TRAITS, "no adapter has this trait")


_SPECIAL: dict[str, Check] = {
    "command": _command,
    "args": _texts,
    "transport": _transport,
    "port": _port,
    "debug_port": _port,
    "file_types": _file_types,
    "programs": _file_types,
    "attach": _table,
    "attach_to_pid": _table,
    "attach_to_port": _table,
    "open_core": _table,
    "launch": _table,
    "launch_in_terminal": _table,
    "launch_with_input": _table,
    "source_map": _table,
    "debugger_commands": _table,
    "required": _table_of_texts,
    "sample": _table_of_texts,
    "traits": _traits,
}


def _signal_exit_codes(value: object, path: tuple[str, ...]) -> str:
    names = get_args(SignalExitCodes.__value__)
    if value not in names:
        raise Invalid(path, f"found {_kind(value)}, expected one of {', '.join(names)}")
    return str(value)


_USUAL: dict[object, Check] = {
    str: _text,
    bool: _bool,
    int: _number,
    tuple[str, ...]: _texts,
    tuple[str, ...] | None: _texts,
    re.Pattern[str] | None: _pattern,
    Mapping[str, str]: _table_of_texts,
    SignalExitCodes: _signal_exit_codes,
}

_CHECKS = _SPECIAL | {
    field.name: _USUAL[field.type]
    for field in dataclasses.fields(AdapterDefinition)
    if field.name not in _SPECIAL and field.name not in {"name", "sources"}
}

_TRAITS = {field.name: _USUAL[field.type] for field in dataclasses.fields(Traits)}
