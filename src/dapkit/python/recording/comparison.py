"""The machine of a recording, and the differences to this one."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dapkit import __version__
from dapkit.python.debuggee_files import TIME_TRAVEL
from dapkit.python.recording.build_ids import has_identity
from dapkit.python.recording.file import Description, listed

_LIBRARY = "import sys, sysconfig; g = sysconfig.get_config_var; print(g('Py_ENABLE_SHARED') and g('INSTSONAME') or '')"
_LIBRARY_PLACES = "import sysconfig; print(sysconfig.get_config_var('LIBDIR') or '')"
_ZONES = "zoneinfo/"


def zone_of_machine() -> str:
    """Return the name of the time zone that holds where TZ is not set; empty if it is not known."""
    return os.path.realpath("/etc/localtime").partition(_ZONES)[2]


def interpreter_files(executable: str) -> list[str]:
    """Return the files that an interpreter is made of: its program, and its library if it has one."""
    files = [os.path.realpath(executable)]
    try:
        answer = subprocess.run(
            [executable, "-I", "-S", "-c", f"{_LIBRARY}; {_LIBRARY_PLACES}"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return files
    if len(answer) == 2 and answer[0]:
        files.append(os.path.realpath(Path(answer[1]) / answer[0]))
    return files


def is_recorded_by(recorded: Description, executable: str) -> bool:
    """Return whether an interpreter is the one of a recording: a library of it may lie where it was recorded, too."""
    libraries = list(recorded.interpreter)[1:]
    files = list(dict.fromkeys((*interpreter_files(executable), *libraries)))
    return all(any(has_identity(path, identity) for path in files) for identity in recorded.interpreter.values())


def objection_to(recorded: Description, executable: str, *, is_same: bool) -> str:
    """Name the differences that prevent a replay; empty if no difference does.

    `is_same` is whether the interpreter is the recording's.
    """
    if not Path(recorded.cwd).is_dir():
        return f"it was recorded in the folder {recorded.cwd}, which is not here: an empty folder of that path suffices"
    if not is_same:
        version, path = recorded.version.partition(" ")[0], next(iter(recorded.interpreter))
        is_here = "is another one" if Path(executable).is_file() else "is not here"
        return (
            f"it was recorded by Python {version}, {path} ({recorded.interpreter[path]}), "
            f"and {executable} {is_here}: give that one as python"
        )
    must_agree = [path for path in recorded.files if path.endswith(".so")]
    if recorded.program not in recorded.sources:
        must_agree.append(recorded.program)
    changed = _changed_among(recorded, must_agree)
    return "" if not changed else f"it was recorded with other files: {listed(changed)}"


def remark_on(recorded: Description) -> str:
    """Say of which files there is another text here, so that the lines shown may not be the lines that ran.

    The same goes for another build of dapkit, which may not find its way through the notes.
    """
    remarks: list[str] = []
    if recorded.extension and not has_identity(str(TIME_TRAVEL), recorded.extension):
        remarks.append(
            f"Another build of dapkit has recorded this (version {recorded.dapkit}, here {__version__}). "
            "If the program goes another way than the recorded one, open it with that build."
        )
    if changed := _changed_among(recorded, recorded.files):
        remarks.append(f"Not as they were when this was recorded: {listed(changed)}.")
    return "\n".join(remarks)


def changed_files(recorded: Description) -> list[str]:
    """Return the paths of the files that were recorded and have another text here, or are missing."""
    return [path for path, identity in recorded.files.items() if identity and not has_identity(path, identity)]


def _changed_among(recorded: Description, files: Iterable[str]) -> list[str]:
    """Return the recorded files that have changed here, or are missing, each with which of both."""
    changed: list[str] = []
    for path in dict.fromkeys(files):
        identity = recorded.files.get(path)
        if identity and not has_identity(path, identity):
            changed.append(f"{path} ({'changed' if Path(path).is_file() else 'missing'})")
    return changed
