"""The processes of a recorded program that have ended.

A Python process that was started has a folder of its own, whose name is its name (`started_process`). A child that was
made by `fork` alone writes notes into a folder below its parent's, from the fork on. Notes from before the fork are in
its parent's:

    FOLDER/notes                                  of the program
    FOLDER/forks/PLACE-PID/begin, notes, ...      of its child: the notes before PLACE are missing
    FOLDER/forks/PLACE-PID/forks/PLACE-PID/...    of a child of this child

A parent that has waited for a process has noted how this ended. Else it is known if the process ended by itself.
"""

import marshal
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from dapkit.python.recording.file import SUFFIX
from dapkit.python.recording.notes import EXECUTED, FIRST_NOTE, data_of_calls, head_of
from dapkit.python.recording.started_process import COMMAND

FORKS: Final = "forks"
UNKNOWN_SIGNAL: Final = -255
"""The exit code of a process that was ended by a signal, if its parent has not waited for it."""
_CHUNK: Final = 1 << 24
_UNFINISHED: Final = (OSError, EOFError, ValueError, struct.error)
"""Errors where the files of a process are read that was killed as it began."""
_FORK: Final = "fork"
_CONTINUED: Final = 0xFFFF
"""The status of a process that was stopped, and goes on."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A child that has ended.

    Attributes:
        folder: of its notes.
        number: its place among the children of the program, which is part of its name: `1`, or `1.2` for a child of 1.
        exit_code: minus the signal that ended it, or `UNKNOWN_SIGNAL`.

    """

    folder: Path
    number: str
    exit_code: int
    _ancestors: tuple[tuple[Path, int], ...]

    def complete(self) -> None:
        """Copy the notes that it shares with its ancestors.

        Raises:
            OSError: there is no room for them.

        """
        first = FIRST_NOTE
        for folder, end in self._ancestors:
            _copy(folder / "notes", self.folder / "notes", first, end)
            first = end


def name_of_fork(program: str, number: str) -> str:
    """Return the name of the recording of a child; `program` is the name of the program's."""
    return f"{program.removesuffix(SUFFIX)}-{_FORK}{number}{SUFFIX}" if number else program


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A Python process that the program, or a process of it, has started, and that has ended.

    Attributes:
        folder: of its notes.
        facts: as `started_process` has noted them.
        exit_code: minus the signal that ended it, or `UNKNOWN_SIGNAL`.

    """

    folder: Path
    facts: dict[str, Any]
    exit_code: int


def ended_processes(folder: Path, program: Path | None) -> list[StartedProcess]:
    """Return the processes that have written into a folder, in the order in which they were started.

    Args:
        folder: which has a folder for each process.
        program: the folder of the program's notes; None for a program that is not of Python.

    """
    processes: list[StartedProcess] = []
    for child in folder.iterdir():
        try:
            facts = marshal.loads((child / COMMAND).read_bytes())  # noqa: S302 - by the process
            of_parent = folder / facts["parent"]
            parent = of_parent if of_parent.is_dir() else program
            notes = None if parent is None else _Notes(parent, FIRST_NOTE)
            code = _exit_code(child, facts["pid"], notes, FIRST_NOTE) if (child / "begin").exists() else None
        except _UNFINISHED:  # it has ended before it was recorded
            continue
        if code is not None:
            processes.append(StartedProcess(child, facts, code))
    return sorted(processes, key=lambda process: process.facts["began"])


def ended_forks(folder: Path) -> list[Fork]:
    """Return the children of the program whose notes are in a folder, and their children, in the order of the forks.

    A child that is running yet is left out, as is one that has become another program.
    """
    return [*_ended(folder, "", ())]


def _ended(folder: Path, prefix: str, ancestors: tuple[tuple[Path, int], ...]) -> Iterator[Fork]:
    children = sorted((folder / FORKS).iterdir()) if (folder / FORKS).is_dir() else []
    for order, child in enumerate(children, start=1):
        try:
            begin = marshal.loads((child / "begin").read_bytes())  # noqa: S302 - by the program's debugger
            line = (*ancestors, (folder, begin["place"]))
            parent = _Notes(folder, ancestors[-1][1] if ancestors else FIRST_NOTE)
            code = _exit_code(child, begin["pid"], parent, begin["place"])
        except _UNFINISHED:  # it has ended before it was recorded
            continue
        if code is not None:
            yield Fork(child, f"{prefix}{order}", code, line)
        yield from _ended(child, f"{prefix}{order}.", line)


class _Notes(NamedTuple):
    """Notes of a parent: their folder, and where they begin."""

    folder: Path
    first: int


def _exit_code(child: Path, pid: int, parent: _Notes | None, place: int) -> int | None:
    """Return the exit code of a child that was made at a place in its parent's notes, or later.

    None if it is running, or has become another program.
    """
    import fcntl  # not on Windows, where processes of recordings are listed as well

    with (child / "notes").open("r+b") as file:
        ending = head_of(file.read(FIRST_NOTE)).exit
        if ending == EXECUTED:
            return None
        for waited, at, code in _waited_for(parent) if parent is not None else ():
            if waited == pid and at >= place:
                return code
        if ending:
            return ending - 1
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
    return UNKNOWN_SIGNAL


@lru_cache(maxsize=1)  # most processes of a parent are looked at one after the other
def _waited_for(parent: _Notes) -> list[tuple[int, int, int]]:
    """Return the processes that a program has waited for, the places of the notes, and the exit codes."""
    with (parent.folder / "notes").open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as notes:
        return [
            (waited, data, os.waitstatus_to_exitcode(status))
            for waited, data, size in data_of_calls(notes, "wait4", parent.first, head_of(notes).end)
            if waited > 0 and size
            if not os.WIFSTOPPED(status := int.from_bytes(notes[data : data + 4], "little")) and status != _CONTINUED
        ]


def _copy(source: Path, target: Path, first: int, end: int) -> None:
    with source.open("rb") as reads, target.open("r+b") as writes:
        reads.seek(first)
        writes.seek(first)
        for place in range(first, end, _CHUNK):
            writes.write(reads.read(min(_CHUNK, end - place)))
