"""From launch arguments to a command line, and the interpreter that runs it.

Everything that can be known to be wrong before a process is started is said
here, in words of the launch configuration.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from dapkit import limits
from dapkit.endpoint import RequestFailed
from dapkit.python.adapter.configuration.arguments import PythonLaunch
from dapkit.python.adapter.configuration.presenters import presenter_files
from dapkit.python.adapter.launch.env_file import EnvFile, read_env_file
from dapkit.python.debuggee.children import windows_command_line
from dapkit.python.debuggee_files import ENTRY
from dapkit.python.versions import OLDEST
from dapkit.system.selection import IS_WINDOWS, PROGRAM_ENDINGS

_PROBE = "import sys; print(sys.implementation.name, *sys.version_info[:3])"


def interpreter_of(launch: PythonLaunch, cwd: Path, env: Mapping[str, str | None]) -> list[str]:
    """Return the command that runs the interpreter, by its full path; `env` are changes to our environment.

    Raises:
        RequestFailed: there is no interpreter.

    """
    command = launch.python or launch.python_path or launch.pythonpath
    if not command:
        return [sys.executable]
    words = [command] if isinstance(command, str) else command
    sought = str(cwd / Path(words[0]).expanduser()) if _is_path(words[0]) else words[0]
    path = _program(sought, env.get("PATH"))
    if path is None:
        where = f"at {sought}" if _is_path(sought) else "on PATH"
        raise RequestFailed(f"python is {words[0]!r}, but there is no program {where} that can be run")
    return [path, *words[1:]]


def _is_path(name: str) -> bool:
    return os.sep in name or (os.altsep is not None and os.altsep in name)


def _program(name: str, path: str | None) -> str | None:
    """Look for a program as `shutil.which` does, whose module loads the libraries of all kinds of archives."""
    folders = os.environ.get("PATH", os.defpath) if path is None else path
    places = [""] if _is_path(name) else folders.split(os.pathsep) if folders else []
    paths = (Path(place, name + ending) for place in places for ending in PROGRAM_ENDINGS)
    return next((str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


async def objection_to(interpreter: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Ask an interpreter about itself; return why no program can be debugged in it, or None if one can."""
    name = " ".join(interpreter)
    try:
        answer = await anyio.to_thread.run_sync(_probed, interpreter, environment, abandon_on_cancel=True)
    except TimeoutError:
        return f"python is {name}, which did not report its version within {limits.CONNECT_SECONDS:g} s"
    except OSError as error:
        return f"python is {name}, which cannot be run: {error.strerror}"
    match answer.stdout.decode(errors="replace").split():
        case ["cpython", *numbers] if tuple(map(int, numbers)) >= OLDEST:
            return None
        case [implementation, *numbers] if len(numbers) == 3 and all(map(str.isdigit, numbers)):
            what = "CPython" if implementation == "cpython" else implementation
            return f"python is {name}, which is {what} {'.'.join(numbers)}; expected CPython 3.12 or later"
        case _:
            return f"python is {name}, which did not answer as a Python interpreter: expected CPython 3.12 or later"


def _probed(interpreter: Sequence[str], environment: Mapping[str, str]) -> "subprocess.CompletedProcess[bytes]":
    command = [*interpreter, "-c", _PROBE]
    seconds = limits.CONNECT_SECONDS
    try:
        return subprocess.run(command, env=environment, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error


_LITERAL = r"'[^']*'|\\."
"""Characters without a meaning for a shell."""
_EXPANDED = r"[$`*?\[~{;|&<>]"
"""Characters with a meaning."""
_UNEXPANDED = (
    "args: the text was split into words, but nothing in it expanded, for want of a shell; "
    "that takes a terminal as console, and a client that leaves such texts to the shell in it"
)


@dataclass(frozen=True, slots=True)
class Command:
    """A program that can be started.

    Attributes:
        interpreter: the full path of the executable that runs the program.
        argv: the whole command line.
        cwd: absolute path of the folder to run in.
        env: changes to the environment; None takes a variable away.
        name: the program's name for people.
        shell_text: further arguments, as a shell is to read them.
        presenters: files that say how values are shown, by their full paths.
        as_root: the command that runs the rest as root, if that is not the user of the adapter.
        sockets: of ours, which whatever starts it removes if we are killed.
        problems: differences from the request that do not keep the program from running; sentences.

    """

    interpreter: tuple[str, ...]
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str | None]
    name: str
    shell_text: str = ""
    presenters: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    as_root: tuple[str, ...] = ()
    sockets: tuple[Path, ...] = ()

    def environment(self) -> dict[str, str]:
        """Return our environment with the changes made."""
        changed: dict[str, str | None] = {**os.environ, **self.env}
        return {name: value for name, value in changed.items() if value is not None}


def command_for(launch: PythonLaunch, link: Path, *, has_shell: bool = False) -> Command:
    """Make the command that starts a program and connects it to the socket `link`.

    With `has_shell` a shell reads the arguments that are left to it.

    Raises:
        RequestFailed: the program cannot be started like this.

    """
    cwd = _folder(launch)
    kind, target = _target(launch, cwd)
    file = read_env_file(cwd / launch.env_file, os.environ) if launch.env_file else EnvFile({})
    env = {**file.variables, **{name: _as_text(value) for name, value in launch.env.items()}}
    interpreter = interpreter_of(launch, cwd, env)
    as_root = _sudo(launch)
    by_shell = launch.args if has_shell and isinstance(launch.args, str) else ""
    words = () if by_shell else _words(launch.args, "args")
    # The engine takes one "--" away, so that the program's own "--" arrive.
    start = (*interpreter, *_words(launch.python_args, "pythonArgs"))
    argv = (*start, str(ENTRY), "--link", f"unix:{link}", f"--{kind}", target, "--", *words)
    name = {"program": Path(target).name, "module": target, "code": "<string>"}[kind]
    presenters = presenter_files(launch.presenters, cwd)
    unexpanded = () if by_shell else _unexpanded(launch.args)
    problems = (*file.problems, *unexpanded, *presenters.problems)
    return Command(tuple(interpreter), argv, cwd, env, name, by_shell, presenters.paths, problems, as_root)


def _folder(launch: PythonLaunch) -> Path:
    """Return the folder to run in."""
    try:
        folder = Path(launch.cwd or _default_folder(launch)).expanduser().absolute()
    except FileNotFoundError as error:
        raise RequestFailed("the folder of the adapter was removed: give an absolute path as cwd") from error
    if not folder.is_dir():
        raise RequestFailed(f"cwd is {launch.cwd or str(folder)!r}, which is not a folder")
    return folder


def _default_folder(launch: PythonLaunch) -> Path:
    """Return the folder of the program, or else the folder that is open in the editor, or the adapter's own."""
    program = Path(launch.program or "")
    if program.is_absolute() and program.parent.is_dir():
        return program.parent
    return Path(launch.workspace_folder or Path.cwd())


def _sudo(launch: PythonLaunch) -> tuple[str, ...]:
    """Return the beginning of a command that is to run as root, as far as it is to."""
    if not launch.is_elevated:
        return ()
    if launch.console == "internalConsole":
        raise RequestFailed("sudo may ask for a password: it needs a terminal, such as integratedTerminal as console")
    import shutil

    if (sudo := shutil.which("sudo")) is None:
        raise RequestFailed("sudo is true, but there is no program of that name in PATH")
    return (sudo, "-E")


def _as_text(value: str | float | None) -> str | None:
    """Return the value of a variable: a value that is not a text as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _words(words: tuple[str, ...] | str, key: str) -> tuple[str, ...]:
    """Return arguments one by one; a text is split as a shell splits it."""
    if not isinstance(words, str):
        return words
    try:
        return tuple(windows_command_line.split(words) if IS_WINDOWS else shlex.split(words))
    except ValueError as error:
        raise RequestFailed(f"{key} is {words!r}, which cannot be split into words: {error}") from error


def _unexpanded(words: tuple[str, ...] | str) -> tuple[str, ...]:
    """Report the shell syntax in a text, which no shell reads."""
    if not isinstance(words, str) or not re.search(_EXPANDED, re.sub(_LITERAL, "", words)):
        return ()
    return (_UNEXPANDED,)


def _target(launch: PythonLaunch, cwd: Path) -> tuple[str, str]:
    """Return the program to run: `program`, `module` or `code`, and its value."""
    code = "\n".join(launch.code) if isinstance(launch.code, list) else launch.code
    choices = [
        (name, value)
        for name, value in (("program", launch.program), ("module", launch.module), ("code", code))
        if value
    ]
    if len(choices) != 1:
        names = " and ".join(name for name, _ in choices) or "none of them"
        raise RequestFailed(f"launch needs exactly one of program, module and code, got {names}")
    [(name, value)] = choices
    if name == "program" and not (cwd / value).exists():
        raise RequestFailed(f"program {value!r} does not exist (looked for {cwd / value})")
    return name, value
