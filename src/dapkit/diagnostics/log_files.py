"""Files of the hub's log: which there are, and their ends. Nothing but regular files is read, and no link followed."""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from dapkit import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.hub.daily_log import file_name, logged_days
from dapkit.system.files import AT_ONCE, CLOSE_IN_CHILDREN, NO_LINK, read_at
from dapkit.system.state_folder import LOGS, NoStateFolder, state_folder


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a file.

    Attributes:
        lines: without their ends.
        first: number of the first of them in the file.
        size: bytes that were read.
        whole: whether the file begins with them.

    """

    lines: list[bytes]
    first: int
    size: int
    whole: bool


def log_folder() -> Path:
    """Return the folder of the log. Raises: DiagnosticsError, if it cannot be used."""
    try:
        return Path(state_folder(LOGS))
    except NoStateFolder as error:
        raise DiagnosticsError("no_folder", str(error)) from error


def days_in(folder: Path) -> list[str]:
    """Return the days that have a log, the newest first. Raises: DiagnosticsError, if the folder cannot be read."""
    try:
        return logged_days(folder)
    except OSError as error:
        raise DiagnosticsError("no_folder", f"{folder} cannot be read: {error.strerror}") from error


def path_of(folder: Path, day: str) -> Path:
    """Return where the log of a day is."""
    return folder / file_name(day)


def opened(path: Path) -> int:
    """Open a file to be read; return its descriptor.

    Raises:
        OSError: it is not there, is not a regular file, is larger than the hub writes any, or cannot be read.

    """
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINK | AT_ONCE | CLOSE_IN_CHILDREN)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", str(path)) from error
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if status.st_size > 2 * limits.LOG_DAY_BYTES:
        os.close(handle)
        text = f"it has {status.st_size} bytes, and the hub writes {limits.LOG_DAY_BYTES}"
        raise OSError(errno.EFBIG, text, str(path))
    return handle


def tail_of(path: Path, most_lines: int, most_bytes: int) -> Tail:
    """Read the end of a file. Raises: as `opened`."""
    handle = opened(path)
    try:
        size = os.fstat(handle).st_size
        start = max(size - most_bytes, 0)
        data = _read(handle, start, size)
        begin = data.find(b"\n", 0, -1) + 1 if start else 0  # a line that was cut is left out, unless there is no other
        before = _lines_in(handle, start) + data.count(b"\n", 0, begin)
    finally:
        os.close(handle)
    lines = data[begin:].removesuffix(b"\n").split(b"\n") if data[begin:] else []
    left_out = max(len(lines) - most_lines, 0)
    return Tail(lines[left_out:], before + left_out + 1, len(data), whole=not (start or left_out))


def _read(handle: int, start: int, end: int) -> bytes:
    pieces = []
    while start < end and (piece := read_at(handle, min(end - start, limits.MEGABYTE), start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _lines_in(handle: int, end: int) -> int:
    """Count the lines before a place, without keeping them."""
    line_count = 0
    for start in range(0, end, limits.MEGABYTE):
        line_count += read_at(handle, min(end - start, limits.MEGABYTE), start).count(b"\n")
    return line_count
