"""The kind of program that is about to be started: Python, a launcher that may start Python, or another.

And its name for people.

Read from the file that is to be executed, as the kernel reads it, and from the command line, as Python reads it.
"""

import os
from collections.abc import Iterator
from typing import Final

from ..system import IS_WINDOWS, READ_ONLY

_LAUNCHERS: Final = frozenset((
    "ash", "bash", "busybox", "chrt", "conda", "coreutils", "dash", "doas", "env", "fish", "hatch", "ionice", "ksh",
    "make", "mamba", "micromamba", "nice", "nohup", "pdm", "pipenv", "pixi", "poetry", "runuser", "setpriv", "setsid",
    "sh", "stdbuf", "sudo", "taskset", "time", "timeout", "tox", "unshare", "uv", "uvx", "xargs", "zsh",
))  # fmt: skip
"""Programs that start other programs and pass their environment on."""
_HEAD_BYTES: Final = 256  # the part of a script that the kernel reads
_WITH_VALUE: Final = "WXcm"
"""Options of the interpreter that take a value; with `c` and `m` they end."""

SPAWN: Final = "from multiprocessing.spawn import"
FORK_SERVER: Final = "from multiprocessing.forkserver import"
RESOURCE_TRACKER: Final = "from multiprocessing.resource_tracker import"
"""The beginning of the code with which `multiprocessing` starts its processes, from 3.14 on after another import."""

_BEGINNING: Final = 80  # characters
_CODE_CHARACTERS: Final = 40
"""As much of code names a process."""

OTHER: Final = "other"
PYTHON: Final = "python"
LAUNCHER: Final = "launcher"


def kind_of(path: str) -> str:
    """Return the kind of an executable file: PYTHON, also a script for it, a LAUNCHER, or OTHER."""
    try:
        return _kind_of_name(_interpreter(path) or os.path.realpath(path))
    except ValueError:  # it cannot be a path
        return OTHER


def _interpreter(path: str) -> str:
    """Return the program that the first line of a script names, "" if the file is not a script."""
    try:
        handle = os.open(path, READ_ONLY)  # it may be a pipe with a name
    except OSError:
        return ""
    try:
        head = os.read(handle, _HEAD_BYTES)
    except OSError:
        return ""
    finally:
        os.close(handle)
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].partition(b"\n")[0].decode("utf-8", "surrogateescape").split()
    if len(words) > 1 and os.path.basename(words[0]) == "env":
        names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return names[0] if names else words[0]
    return words[0] if words else ""


def _kind_of_name(path: str) -> str:
    name = os.path.basename(path)
    if IS_WINDOWS:
        name = name.lower().removesuffix(".exe").replace("pythonw", "python")
    if name.startswith("python"):
        rest = name.removeprefix("python")
        return PYTHON if not rest or rest[0] in "0123456789-" else OTHER
    return LAUNCHER if name in _LAUNCHERS else OTHER


def program_name(path: str) -> str:
    """Return a program's name for people: its file, or the package that is run by `-m`."""
    folder, file = os.path.split(path)
    return os.path.basename(folder) if folder and file == "__main__.py" else file


class CommandLine:
    """A command line of the interpreter.

    Attributes:
        ignores_environment: whether PYTHONPATH or `site` have no effect, so that the process cannot be followed.
        kind: `program`, `module`, `code`, or "" for none of them.
        what: its value.

    """

    def __init__(self, words: list[str]) -> None:
        self.ignores_environment = False
        self.kind, self.what = "", ""
        rest = iter(words[1:])
        for word in rest:
            if word == "-" or not word.startswith("-"):
                self.kind, self.what = ("program", word) if word != "-" else ("", "")
                return
            if word.startswith("--"):
                continue
            if self._read(word[1:], rest):
                return

    def _read(self, letters: str, rest: Iterator[str]) -> bool:
        """Read a group of options; return whether it was the last."""
        for place, letter in enumerate(letters):
            self.ignores_environment = self.ignores_environment or letter in "EIS"
            if letter in _WITH_VALUE:
                value = letters[place + 1 :] or next(rest, "")
                if letter in "cm":
                    self.kind, self.what = {"c": "code", "m": "module"}[letter], value
                return letter in "cm"
        return False

    def runs(self, beginning: str) -> bool:
        """Return whether it runs code that begins so."""
        return self.kind == "code" and beginning in self.what[:_BEGINNING]

    @property
    def is_helper(self) -> bool:
        """Whether it is a process that only helps `multiprocessing`."""
        return self.runs(RESOURCE_TRACKER) or self.runs(FORK_SERVER)

    @property
    def name(self) -> str:
        """Its name for people."""
        match self.kind:
            case "program":
                return program_name(self.what)
            case "module":
                return self.what
            case "code":
                return f"-c {' '.join(self.what.split())}"[:_CODE_CHARACTERS]
        return "python"
