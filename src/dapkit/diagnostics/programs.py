"""The program of a session, as a process that profilers and snapshots look at from outside."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dapkit.adapter import RequestFailed
from dapkit.agent.results.snapshot import Snapshot
from dapkit.catalog.programs import bare_name, is_built_by_go
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where, record_of
from dapkit.python.adapter.injection import target
from dapkit.system import procfs
from dapkit.system.selection import LINUX, NAME
from dapkit.system.this_system import SYSTEM

_THIS_MACHINE = ("", "localhost", "::1", "0.0.0.0")  # noqa: S104 - compared with

type Language = Literal["python", "go", "native"]


@dataclass(frozen=True, slots=True)
class Program:
    """A process that is debugged.

    Attributes:
        language: its language; every process with an interpreter in it is Python.
        project: absolute path of the folder that its session belongs to.
        created: when the session was opened, in seconds since the epoch.

    """

    pid: int
    language: Language
    snapshot: Snapshot
    project: str
    created: float

    @property
    def name(self) -> str:
        """Its name for people: its path in its working folder, or its session."""
        path = self.snapshot.program or self.snapshot.id
        return path.removeprefix(f"{self.snapshot.cwd}{os.sep}")


def program_of(where: Where) -> Program:
    """Find the program of a session.

    Raises:
        DiagnosticsError: there is no such session, it has ended or runs on another machine, or its adapter does not
            say which process it is.

    """
    record = record_of(where)
    snapshot = record.snapshot
    if snapshot.status == "terminated":
        raise DiagnosticsError("not_running", f"The program of {snapshot.id} has ended.", "dapkit launch starts one.")
    if (host := _other_host(record.configuration.arguments)) is not None:
        raise DiagnosticsError(
            "not_possible",
            f"The program of {snapshot.id} runs on {host}.",
            "Look at it there: dapkit has to run there.",
        )
    pid = snapshot.process_id or _process_under(record.configuration.adapter_pid)
    if pid is None:
        raise DiagnosticsError(
            "not_possible",
            f"{snapshot.adapter} does not say which process the program of {snapshot.id} is, and none was found.",
        )
    return Program(pid, language_of(pid), snapshot, record.project, record.created)


def _other_host(arguments: object) -> str | None:
    """Return the host that a program was attached to on, unless that is this machine: its numbers mean nothing here."""
    match arguments:
        case {"connect": {"host": str(host)}} | {"host": str(host)}:
            return None if host in _THIS_MACHINE or host.startswith("127.") else host
    return None


def _process_under(adapter: int | None) -> int | None:
    """Find the process that an adapter debugs; None if that is not clear.

    It is the process that the adapter traces, or that a helper of the adapter (such as lldb-server) traces; otherwise
    the adapter's only child. delve 1.20 reports none.
    """
    if adapter is None:
        return None
    parents = SYSTEM.parents()
    family = {adapter}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    # Only Linux names tracers.
    traced = {pid for pid in parents if int(procfs.status_of(pid).get("TracerPid", 0)) in family}
    pids = {pid for pid in traced if parents[pid] not in traced} or family - {adapter}
    return pids.pop() if len(pids) == 1 else None


_INTERPRETERS = frozenset({"python", "pythonw"})


def language_of(pid: int) -> Language:
    """Return the language of a process.

    Raises:
        DiagnosticsError: it has ended, or is another user's.

    """
    try:
        target.read(pid)
    except RequestFailed:
        pass
    else:
        return "python"
    try:
        if NAME != LINUX and bare_name(SYSTEM.executable_of(pid)).lower() in _INTERPRETERS:
            return "python"  # its memory, which would show it, is read on Linux alone
        with Path(SYSTEM.program_file(pid)).open("rb") as executable:
            return "go" if is_built_by_go(executable) else "native"
    except OSError as error:
        raise DiagnosticsError("not_running", f"Process {pid} cannot be looked at: {error.strerror}.") from error
