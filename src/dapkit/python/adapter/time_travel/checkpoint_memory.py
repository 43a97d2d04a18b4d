"""How much memory processes have that share much of it with each other."""

from collections.abc import Iterable
from pathlib import Path

_KILOBYTE = 1024


def memory_of(pids: Iterable[int]) -> int:
    """Return the bytes that processes occupy together; shared memory is divided among its owners."""
    return sum(map(_part_of, pids))


def _part_of(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) * _KILOBYTE for line in lines if line.startswith(b"Pss:")), 0)
