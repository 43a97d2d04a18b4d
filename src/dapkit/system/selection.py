"""Which system this process runs on: Linux, or another POSIX system such as macOS.

On Linux, `DAPKIT_SYSTEM=posix` selects the code for the other POSIX systems, which is tested so.
"""

import os
import sys

VARIABLE = "DAPKIT_SYSTEM"
"""The variable that has Linux taken for another POSIX system."""

LINUX = "linux"
POSIX = "posix"
OTHER = "other"
"""A system that has no implementation yet, such as Windows."""


def _selected() -> str:
    platform: str = sys.platform
    if platform == "linux":
        return POSIX if os.environ.get(VARIABLE) == POSIX else LINUX
    return POSIX if platform == "darwin" or "bsd" in platform else OTHER


NAME = _selected()
"""The system, one of the above."""

SOCKET_PATH_BYTES = 107 if NAME == LINUX else 103
"""Longest path of a unix socket, without the zero at its end."""

IS_MACOS = sys.platform == "darwin"
