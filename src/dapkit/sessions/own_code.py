"""Which frames are the user's own code, and which of them a stop is about.

A program that aborts stands in libc, one that throws in the runtime of its
language. The innermost frame of the program's own is used then.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dapkit.protocol import Source, StackFrame
from dapkit.system.selection import IS_WINDOWS

_OF_WINDOWS = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)")
_SYSTEM = (
    tuple(Path(os.environ[name]) for name in _OF_WINDOWS if name in os.environ)
    if IS_WINDOWS
    else tuple(map(Path, ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/nix/store", "/snap")))
)
"""Folders of the system, unless the project lies in one of them."""

_LIBRARIES = re.compile(
    r"/(?:site-packages|dist-packages|node_modules|pkg/mod|\.cargo/registry|\.rustup|lib/python\d[^/]*|lib/ruby|gems)/"
)
"""Folders of libraries, wherever they are."""

AT_A_PLACE = frozenset(
    {"step", "breakpoint", "function breakpoint", "data breakpoint", "instruction breakpoint", "goto", "entry"}
)
"""Reasons of stops at a place that was asked for, or stepped to."""


def is_own(frame: StackFrame, folders: Iterable[Path]) -> bool:
    """Whether a frame is the user's own code: its source is there, and not of the system or of a library.

    Args:
        frame: as the adapter reports it.
        folders: the folders of the program and of the project, whose files are the user's wherever they lie.

    """
    return frame.presentation_hint != "subtle" and frame.source is not None and is_own_source(frame.source, folders)


def is_own_source(source: Source, folders: Iterable[Path]) -> bool:
    """Whether a source is the user's own; the folders are as for `is_own`."""
    if not source.path:
        return False
    path = Path(source.path)
    if source.presentation_hint == "deemphasize" or not path.is_absolute() or not path.is_file():
        return False
    path = path.resolve()
    for folder in folders:
        if path.is_relative_to(folder.resolve()):
            return not _LIBRARIES.search(f"/{path.relative_to(folder.resolve()).as_posix()}")
    if _LIBRARIES.search(path.as_posix()) or (IS_WINDOWS and _is_of_an_interpreter(path)):
        return False
    return not any(path.is_relative_to(system) for system in _SYSTEM)


def _is_of_an_interpreter(path: Path) -> bool:
    """Return whether a file is in a folder named Lib beside a `python.exe`, the standard library on Windows."""
    return any(folder.name.lower() == "lib" and (folder.parent / "python.exe").is_file() for folder in path.parents)


def own_frames(frames: Sequence[StackFrame], folders: Sequence[Path]) -> list[int]:
    """Return the places of the frames that are the user's own code."""
    return [index for index, frame in enumerate(frames) if is_own(frame, folders)]
