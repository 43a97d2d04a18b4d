"""The kind of a running process, and the listener on a port, as far as /proc shows them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dapkit.catalog.errors import NoProgram
from dapkit.catalog.programs import bare_name, is_built_by_go
from dapkit.system import procfs
from dapkit.system.this_system import SYSTEM

_LIBPYTHON = re.compile(rb"/libpython3[\w.]*\.so")


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process that may be attached to.

    Attributes:
        executable: the path of its executable.
        runs: the interpreter it is, without its version; `go` if Go has built it; empty for anything else.
        evidence: how that was seen.
        command: its command line.

    """

    pid: int
    executable: Path
    runs: str
    evidence: str
    command: tuple[str, ...]

    def __str__(self) -> str:
        return f"process {self.pid} {self.evidence}"


def look_at_process(pid: int, debuggers: Mapping[str, str]) -> ProcessInfo:
    """Determine the kind of a process; `debuggers` are titles of debuggers by the names of their processes.

    Raises:
        NoProgram: the process does not exist, or may not be looked at.

    """
    try:
        executable = Path(SYSTEM.executable_of(pid))
        command = tuple(word for word in SYSTEM.command_of(pid) if word)
        runs, evidence = _kind(pid, executable, debuggers)
    except (FileNotFoundError, ProcessLookupError) as error:
        what = (
            "is part of the kernel, or has ended"
            if SYSTEM.exists(pid)
            else "is not there (if it is a port, give it as port)"
        )
        raise NoProgram(f"process {pid} {what}") from error
    except PermissionError as error:
        raise NoProgram(f"process {pid} belongs to another user, and may not be looked at or debugged") from error
    return ProcessInfo(pid, executable, runs, evidence, command)


def _kind(pid: int, executable: Path, debuggers: Mapping[str, str]) -> tuple[str, str]:
    name = bare_name(executable.name.removesuffix(" (deleted)"))
    if name in debuggers:
        return name, f"is {debuggers[name]}, {executable}"
    with Path(SYSTEM.program_file(pid)).open("rb") as file:
        if is_built_by_go(file):
            return "go", f"runs {executable}, which Go has built"
    for file_name in procfs.mapped_files(pid):
        if _LIBPYTHON.search(file_name.encode()) is not None:
            return "python", f"has loaded {Path(file_name).name}"
    return name, f"runs {executable}"


def listener(port: int, debuggers: Mapping[str, str]) -> ProcessInfo | None:
    """Return the process that listens on a port of this machine; None if it cannot be seen."""
    pid = SYSTEM.process_listening_on(port)
    if pid is None:
        return None
    try:
        return look_at_process(pid, debuggers)
    except NoProgram:
        return None


def listening_ports(pid: int) -> set[int]:
    """Return the TCP ports at which a process listens, as far as they can be seen."""
    return SYSTEM.listening_ports(pid)
