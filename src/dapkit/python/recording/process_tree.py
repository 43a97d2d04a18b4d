"""The Python processes that a recorded program starts.

The environment of the program has the folder of `dapkit.python.startup` in PYTHONPATH, and these variables. A Python
that starts with them is recorded, too (`started_process`), into one folder for the whole tree of processes. The
recorder of the program packs all of it into its file.
"""

import marshal
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import dapkit.python
from dapkit.python.recording.ended_processes import UNKNOWN_SIGNAL
from dapkit.python.recording.file import Description
from dapkit.python.recording.started_process import OPTIONS, PARENT

KEEP: Final = "DAPKIT_RECORD"
"""Which recordings are kept: `always` or `failed`."""
FOLDER: Final = "DAPKIT_RECORDINGS"

_STARTUP: Final = str(Path(dapkit.python.__path__[0], "startup"))
_PATH: Final = "PYTHONPATH"


def followed(environment: Mapping[str, str], keep: str, folder: Path, name: str, most: int) -> dict[str, str]:
    """Return the environment of a program whose processes are recorded, too, into a folder that is made.

    Args:
        environment: without these variables.
        keep: which recordings are kept.
        folder: which gets a folder for each process.
        name: of the program's recording.
        most: bytes of notes of each process.

    """
    folder.mkdir()
    (folder / OPTIONS).write_bytes(marshal.dumps({"most": most}))
    settings = {
        KEEP: keep,
        FOLDER: str(folder),
        PARENT: name,
        _PATH: os.pathsep.join(filter(None, (_STARTUP, environment.get(_PATH)))),
    }
    return {**environment, **settings}


def as_replayed(recorded: Description) -> dict[str, str]:
    """Return the environment of a recorded program, with the folder in PYTHONPATH that is here instead of there."""
    environment = {**recorded.environment}
    if KEEP in environment:
        _, *others = environment[_PATH].split(os.pathsep)
        environment[_PATH] = os.pathsep.join((_STARTUP, *others))
    return environment


def listed_processes(processes: list[Description], file: str) -> list[str]:
    """Return a line for each process, with the command that opens it: those that failed come first."""
    numbers = {each.name: number for number, each in enumerate(processes, start=1)}
    lines: list[tuple[bool, str]] = []
    for number, each in enumerate(processes, start=1):
        parent = f" of process {numbers[each.parent]}" if each.parent in numbers else ""
        how = f"{_program_name(each)}, {ended(each)}"
        line = f"process {number}{parent}: {how}. Open it with: dapkit launch {file} {number}"
        lines.append((not has_failed(each.exit_code), line))
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


def failed_processes(processes: list[Description]) -> dict[int, str]:
    """Return the names of the programs of the processes that have failed, by their numbers."""
    return {number: _program_name(each) for number, each in enumerate(processes, start=1) if has_failed(each.exit_code)}


def has_failed(exit_code: int) -> bool:
    """Return whether a process that another one has started has failed: one that got SIGTERM was asked to end."""
    return exit_code not in (0, -signal.SIGTERM)


def _program_name(recorded: Description) -> str:
    name = "code" if recorded.kind == "code" else Path(recorded.what).name
    return f"{name}: fork" if recorded.forked else name


def ended(recorded: Description) -> str:
    """Return how a recorded program has ended."""
    code = recorded.exit_code
    if code == UNKNOWN_SIGNAL:
        return "a signal that is not known"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
