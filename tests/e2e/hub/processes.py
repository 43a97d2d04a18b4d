"""Looking at processes that are nobody's child, or ours since they lost their parent."""

import os
import select
from pathlib import Path


def runs(pid: int) -> bool:
    """Say whether a process runs; one that has ended and was not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ended(pid: int, *, seconds: float = 30.0) -> bool:
    """Wait until a process has ended; False if it has not in that time."""
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
