"""Which interpreter runs the program, and whether it can be debugged."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from dapkit import limits
from dapkit.endpoint import RequestFailed
from dapkit.python.adapter.configuration.arguments import PythonLaunch
from dapkit.python.versions import OLDEST

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
    sought = words[0] if os.sep not in words[0] else str(cwd / Path(words[0]).expanduser())
    path = _program(sought, env.get("PATH"))
    if path is None:
        where = "on PATH" if sought == words[0] and os.sep not in sought else f"at {sought}"
        raise RequestFailed(f"python is {words[0]!r}, but there is no program {where} that can be run")
    return [path, *words[1:]]


def _program(name: str, path: str | None) -> str | None:
    """Look for a program as `shutil.which` does, whose module loads the libraries of all kinds of archives."""
    folders = os.environ.get("PATH", os.defpath) if path is None else path
    places = [""] if os.sep in name else folders.split(os.pathsep) if folders else []
    paths = (Path(place, name) for place in places)
    return next((str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


async def objection_to(interpreter: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Ask an interpreter about itself; return why no program can be debugged in it, or None if one can."""
    name = " ".join(interpreter)
    try:
        with anyio.fail_after(limits.CONNECT_SECONDS):
            answer = await anyio.run_process([*interpreter, "-c", _PROBE], env=environment, check=False)
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
