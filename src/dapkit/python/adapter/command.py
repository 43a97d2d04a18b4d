"""From launch arguments to a command line.

Everything that can be known to be wrong before a process is started is said
here, in words of the launch configuration.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dapkit.endpoint import RequestFailed
from dapkit.python.adapter.arguments import PythonLaunch

ENTRY = Path(__file__).parent.parent / "debuggee" / "entry.py"
"""What runs in the program's interpreter; needs nothing of ours installed there."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that can be started.

    Attributes:
        argv: the whole command line.
        cwd: absolute path of the folder to run in.
        env: changes to the environment; None takes a variable away.
        name: what people call the program.

    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str | None]
    name: str

    def environment(self) -> dict[str, str]:
        """Return our environment with the changes made."""
        changed: dict[str, str | None] = {**os.environ, **self.env}
        return {name: value for name, value in changed.items() if value is not None}


def command_for(launch: PythonLaunch, link: Path) -> Command:
    """Make the command that starts a program and connects it to the socket `link`.

    Raises:
        RequestFailed: the program cannot be started like this.

    """
    cwd = Path(launch.cwd or Path.cwd()).absolute()
    if not cwd.is_dir():
        raise RequestFailed(f"cwd is {launch.cwd!r}, which is not a folder")
    flag, target = _target(launch, cwd)
    interpreter = _interpreter(launch, cwd)
    argv = (*interpreter, *launch.python_args, str(ENTRY), "--link", f"unix:{link}", flag, target, *launch.args)
    return Command(argv, cwd, launch.env, name=launch.module or Path(target).name if flag != "--code" else "<string>")


def _target(launch: PythonLaunch, cwd: Path) -> tuple[str, str]:
    code = "\n".join(launch.code) if isinstance(launch.code, list) else launch.code
    given = [
        (name, value)
        for name, value in (("program", launch.program), ("module", launch.module), ("code", code))
        if value
    ]
    if len(given) != 1:
        found = " and ".join(name for name, _ in given) or "none of them"
        raise RequestFailed(f"launch needs exactly one of program, module and code, got {found}")
    [(name, value)] = given
    if name == "program" and not (cwd / value).exists():
        raise RequestFailed(f"program {value!r} does not exist (looked for {cwd / value})")
    return f"--{name}", value


def _interpreter(launch: PythonLaunch, cwd: Path) -> list[str]:
    if not launch.python:
        return [sys.executable]
    words = [launch.python] if isinstance(launch.python, str) else launch.python
    found = shutil.which(words[0] if os.sep not in words[0] else str(cwd / words[0]), path=launch.env.get("PATH"))
    if found is None:
        raise RequestFailed(f"python is {words[0]!r}, which is no program that can be run")
    return [found, *words[1:]]
