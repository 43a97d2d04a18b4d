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


def ended(pid: int, *, seconds: float = 10.0) -> bool:
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
