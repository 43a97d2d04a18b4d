"""Opening files and folders with what the desktop has for them, where there is a desktop."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from dapkit.diagnostics import limits

_OPENERS = (
    ("DISPLAY", "xdg-open"),
    ("WAYLAND_DISPLAY", "xdg-open"),
    ("WSL_DISTRO_NAME", "wslview"),
)
"""Programs that open what they are given, each with the variable that says that there is such a desktop."""

_SHOWING: list[subprocess.Popen[bytes]] = []
"""What was started, and shows something still."""


def open_path(path: Path) -> bool:
    """Open a file or a folder on the desktop; False where there is none, or it fails at once.

    The program that shows it is not waited for: it stays open when this process ends.
    """
    opener = _opener()
    if opener is None:
        return False
    try:
        process = subprocess.Popen(
            [opener, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        return process.wait(limits.OPENING_SECONDS) == 0
    except subprocess.TimeoutExpired:  # some openers are the program that shows it
        _SHOWING[:] = [process, *(shows for shows in _SHOWING if shows.poll() is None)]
        return True


def _opener() -> str | None:
    found = [program for variable, program in _OPENERS if os.environ.get(variable)]
    if sys.platform == "darwin":
        found.append("open")
    return next((path for program in found if (path := shutil.which(program)) is not None), None)
