"""Variables in a launch configuration: `${workspaceFolder}`, `${env:HOME}`, ...

Values that VS Code obtains from its user, its windows and its extensions must be given here from outside; if one is
missing, an error says how to give it. A variable that VS Code does not know either stays: some adapters have
placeholders of their own.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog.launch_json.inputs import Input
from dapkit.system.user_folders import HOME

_VARIABLE = re.compile(r"\$\{([^{}]+)\}")


class Unresolved(Exception):  # noqa: N818 - caught where the file is known, never shown by itself
    """A variable without a value.

    Attributes:
        path: where it stands in the configuration, such as `.args[0]`; empty for the text itself.

    """

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.problem = problem
        self.path = path


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableContext:
    """The known values around a configuration.

    Attributes:
        folder: the workspace folder, which has the `.vscode` in it.
        env: variables of the environment.
        file: the file that would be open in the editor.
        inputs: answers to `${input:...}`.
        asked: the inputs of the file.
        settings: reads the editor's settings, for `${config:...}`.
        pid: the process that would be picked.
        python: returns the interpreter that the Python extension would have chosen.

    """

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, Input] = field(default_factory=dict)
    settings: Callable[[], Mapping[str, object]] = dict
    pid: int | None = None
    python: Callable[[], Path | None] = lambda: None


def resolve(value: object, around: VariableContext) -> object:
    """Return a value with the variables in its texts, at any depth.

    Raises:
        Unresolved: a variable has no value; the text says which, where, and what to do.

    """
    match value:
        case str():
            return _VARIABLE.sub(lambda match: _value(match, around), value)
        case Mapping():
            return {key: _at(f".{key}", item, around) for key, item in value.items()}
        case list():
            return [_at(f"[{number}]", item, around) for number, item in enumerate(value)]
        case _:
            return value


def _at(place: str, value: object, around: VariableContext) -> object:
    try:
        return resolve(value, around)
    except Unresolved as error:
        raise Unresolved(error.problem, f"{place}{error.path}") from error


def _value(match: re.Match[str], around: VariableContext) -> str:
    name, _, rest = match[1].partition(":")
    if name in _OF_KIND:
        return _OF_KIND[name](rest, around)
    if match[1] in _OF_FILE:
        if around.file is None:
            raise Unresolved(f"{match[0]} is about the file that is open in the editor: give one")
        return _OF_FILE[match[1]](around.file, around.folder)
    if match[1] in _PLAIN:
        return _PLAIN[match[1]](around)
    if match[1] in _OF_EDITOR:
        raise Unresolved(f"{match[0]} is known to an editor only: write its value instead")
    return match[0]


def _workspace(name: str, around: VariableContext) -> str:
    if name and name != around.folder.name:
        raise Unresolved(f"${{workspaceFolder:{name}}} is another folder than {around.folder.name}: write its path")
    return str(around.folder)


def _workspace_base(name: str, around: VariableContext) -> str:
    return Path(_workspace(name, around)).name


def _env(name: str, around: VariableContext) -> str:
    return around.env.get(name, "")


def _config(name: str, around: VariableContext) -> str:
    settings = around.settings()
    value: object = settings.get(name)
    if value is None:
        value = settings
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise Unresolved(f"${{config:{name}}} is not set, or no text, in .vscode/settings.json: set it there")
    return str(value)


def _input(name: str, around: VariableContext) -> str:
    question, answer = around.asked.get(name), around.inputs.get(name)
    if answer is not None and question is not None and question.choices and answer not in question.choices:
        raise Unresolved(f"${{input:{name}}} was given as {answer!r}, expected one of {', '.join(question.choices)}")
    if answer is not None:
        return answer
    if question is not None and question.default is not None:
        return question.default
    about = " is not among the inputs of the file" if question is None else f" asks the user{question.wanted}"
    raise Unresolved(f"${{input:{name}}}{about}: give it in `inputs`, on a command line as --input {name}=VALUE")


def _command(name: str, around: VariableContext) -> str:
    if name.lower().endswith(("pickprocess", "pickmyprocess", "pickgoprocess")):
        if around.pid is None:
            raise Unresolved(f"${{command:{name}}} asks for a process: give its pid")
        return str(around.pid)
    if name == "python.interpreterPath" and (python := around.python()) is not None:
        return str(python)
    raise Unresolved(f"${{command:{name}}} is a command of the editor or of an extension: write its result instead")


_OF_KIND: Mapping[str, Callable[[str, VariableContext], str]] = {
    "workspaceFolder": _workspace,
    "workspaceRoot": _workspace,
    "workspaceFolderBasename": _workspace_base,
    "workspaceRootFolderName": _workspace_base,
    "env": _env,
    "config": _config,
    "input": _input,
    "command": _command,
}

_OF_FILE: Mapping[str, Callable[[Path, Path], str]] = {
    "file": lambda file, _folder: str(file),
    "fileWorkspaceFolder": lambda _, folder: str(folder),
    "fileWorkspaceFolderBasename": lambda _, folder: folder.name,
    "relativeFile": os.path.relpath,
    "relativeFileDirname": lambda file, folder: os.path.relpath(file.parent, folder),
    "fileBasename": lambda file, _: file.name,
    "fileBasenameNoExtension": lambda file, _: file.stem,
    "fileExtname": lambda file, _: file.suffix,
    "fileDirname": lambda file, _: str(file.parent),
    "fileDirnameBasename": lambda file, _: file.parent.name,
}

_PLAIN: Mapping[str, Callable[[VariableContext], str]] = {
    "cwd": lambda around: str(around.folder),
    "userHome": lambda around: around.env.get(HOME, ""),
    "pathSeparator": lambda _: os.sep,
    "/": lambda _: os.sep,
}

_OF_EDITOR = {"lineNumber", "columnNumber", "selectedText", "execPath", "defaultBuildTask", "extensionInstallFolder"}
