"""Which system this process runs on: Linux, another POSIX system such as macOS, or Windows.

On Linux, `DAPKIT_SYSTEM=posix` selects the code for the other POSIX systems, which is tested so.
"""

import os
import sys

VARIABLE = "DAPKIT_SYSTEM"
"""The variable that has Linux taken for another POSIX system."""

LINUX = "linux"
POSIX = "posix"
WINDOWS = "windows"
OTHER = "other"
"""A system that has no implementation."""


def _selected() -> str:
    platform: str = sys.platform
    if platform == "linux":
        return POSIX if os.environ.get(VARIABLE) == POSIX else LINUX
    if platform == "win32":
        return WINDOWS
    return POSIX if platform == "darwin" or "bsd" in platform else OTHER


NAME = _selected()
"""The system, one of the above."""

SOCKET_PATH_BYTES = {LINUX: 107, WINDOWS: 240}.get(NAME, 103)
"""Longest path of a unix socket, without the zero at its end; on Windows, of a file."""

IS_WINDOWS = NAME == WINDOWS
PROGRAM_ENDINGS = ("", ".exe") if IS_WINDOWS else ("",)
"""Endings of the file of a program that may be left out of its name."""
COMMAND_ENDINGS = (".exe", ".cmd", ".bat") if IS_WINDOWS else ("",)
"""Endings of the files that a shell runs by a name without ending."""

IS_MACOS = sys.platform == "darwin"
