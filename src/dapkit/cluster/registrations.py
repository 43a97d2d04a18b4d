"""Registrations: a file for each member in the folder of a job, which all machines of the job see.

`dapkit.cluster.run` writes it before the program starts, and once more when it has ended. Files of other users do not
count, and the folder must be ours: a registration names a socket that we connect to.

    JOB/RANK-HOST-PID.json       {"rank", "size", "run", "host", "pid", "started", "command", "socket", "restarts"}
    JOB/RANK-HOST-PID.json.end   {"code", "error"}, which the engine in the program writes when the program ends

Standard library only, since it runs in the program's process.
"""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypedDict

_BYTES: Final = 16 * 1024
"""Size of a registration, at most."""

_END: Final = ".end"

DEFAULT_FOLDER: Final = ".dapkit-job"
"""Of the job whose folder is not named, in the working folder."""


class Registration(TypedDict, total=False):
    """The content of a file.

    Attributes:
        rank: -1 if no launcher has said it.
        run: tells the runs of a job on one machine apart that use one folder after another.
        started: time of the process's registration, in seconds of the epoch.
        socket: path of the unix socket at which the engine listens, on that machine; empty if it does not.
        restarts: as `launcher_variables.Rank` has it.
        code: exit code of the program, if it has ended and left word.
        error: the exception that has ended it, with its place; empty if it has not ended by one.

    """

    rank: int
    size: int
    run: str
    host: str
    pid: int
    started: float
    command: str
    socket: str
    restarts: int
    code: int
    error: str


def write(folder: Path, registration: Registration) -> Path:
    """Write a member's file, in one step; return the file in which the engine leaves word of the program's end.

    Raises:
        OSError: the folder cannot be made or written.

    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    rank, host, pid = registration["rank"], registration["host"], registration["pid"]
    name = f"{rank if rank >= 0 else 'x'}-{host.replace('/', '_')}-{pid}.json"
    new = folder / f".{name}.new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(registration, file)
    new.replace(folder / name)
    return folder / f"{name}{_END}"


def read_all(folder: Path) -> list[Registration]:
    """Return the registrations in a folder, the oldest first. Files that are not registrations are passed over.

    Raises:
        OSError: the folder cannot be read.
        PermissionError: other users can write to it, or own it.

    """
    status = folder.stat()
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
        raise PermissionError(f"{folder} can be written by other users, who could name sockets in it: chmod go-w it")
    return sorted(_readable(folder), key=lambda registration: registration["started"])


def _readable(folder: Path) -> Iterator[Registration]:
    for file in folder.glob("*.json"):
        registration = _content(file)
        if not _is_whole(registration):
            continue
        end = _content(file.with_name(f"{file.name}{_END}"))
        if isinstance(end, dict) and isinstance(end.get("code"), int):
            registration |= {"code": end["code"], "error": str(end.get("error", ""))}
        yield registration


def _content(file: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a small file of ours; None if it is anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as content:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode) or status.st_size > _BYTES:
            return None
        try:
            return json.loads(content.read())
        except ValueError:
            return None


_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "rank": int,
    "size": int,
    "run": str,
    "host": str,
    "pid": int,
    "started": (int, float),
    "command": str,
    "socket": str,
    "restarts": int,
}


def _is_whole(registration: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(registration, dict) and all(
        isinstance(registration.get(name), kind) for name, kind in _TYPES.items()
    )
