"""Opening of files and folders with the desktop's program for them, if there is a desktop."""

import os
import shutil
import subprocess
from pathlib import Path

from dapkit.diagnostics import limits
from dapkit.system.files import open_by_type
from dapkit.system.selection import IS_MACOS, IS_WINDOWS

_OPENERS = (
    ("DISPLAY", "xdg-open"),
    ("WAYLAND_DISPLAY", "xdg-open"),
    ("WSL_DISTRO_NAME", "wslview"),
)
"""Programs that open files, each with the environment variable that shows its desktop."""

_SHOWING: list[subprocess.Popen[bytes]] = []
"""The started programs that still run."""


def open_path(path: Path) -> bool:
    """Open a file or a folder on the desktop; False if there is no desktop, or if its program fails at once.

    The program that shows it is not waited for: it stays open when this process ends.
    """
    if IS_WINDOWS:
        return open_by_type(str(path))
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
    programs = [program for variable, program in _OPENERS if os.environ.get(variable)]
    if IS_MACOS:
        programs.append("open")
    return next((path for program in programs if (path := shutil.which(program)) is not None), None)
