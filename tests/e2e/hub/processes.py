"""Looking at processes that are nobody's child, or ours since they lost their parent."""

import os
import re
import select
import signal
import sys
from pathlib import Path

from dapkit.system.this_system import SYSTEM


def runs(pid: int) -> bool:
    """Say whether a process runs; one that has ended and was not reaped does not."""
    if sys.platform == "win32":
        return SYSTEM.exists(pid) and not SYSTEM.is_exiting(pid)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ended(pid: int, *, seconds: float = 60.0) -> bool:
    """Wait until a process has ended; False if it has not in that time."""
    if sys.platform == "win32":
        try:
            with SYSTEM.open_process(pid) as watched:
                return watched.has_ended(seconds)
        except ProcessLookupError:
            return True
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(process)


def family(pid: int) -> dict[int, str]:
    """Return the descendants of a process, each with its command line."""
    if sys.platform == "win32":
        commands = {one: command_on_windows(one) for one in SYSTEM.descendants(pid) if runs(one)}
        return {one: command for one, command in commands.items() if "conhost" not in command}  # their consoles
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := parent_of(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    rest = [pid]
    while rest:
        rest.extend(born := children.get(rest.pop(), []))
        found.extend(born)
    return {one: command_line(one) for one in found if runs(one)}


def command_on_windows(pid: int) -> str:
    try:
        return " ".join(SYSTEM.command_of(pid))
    except OSError:  # it has ended
        return ""


def suspend(pid: int) -> None:
    """Stop a process from doing anything."""
    if sys.platform == "win32":
        import psutil

        psutil.Process(pid).suspend()
    else:
        os.kill(pid, signal.SIGSTOP)


def most_memory(pid: int) -> int:
    """Return the bytes of memory that a process has had at most."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process(pid).memory_info().peak_wset)
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert match is not None
    return int(match[1]) * 1024


def parent_of(pid: int) -> int | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(status.rpartition(")")[2].split()[1])


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
