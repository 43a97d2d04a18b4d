"""Whether files are for their owner alone."""

import stat
from pathlib import Path

from dapkit.system.selection import IS_WINDOWS


def is_for_its_owner(path: Path) -> bool:
    """Return whether only the owner may read a file; on Windows its access list says it, and tests/windows looks."""
    return IS_WINDOWS or stat.S_IMODE(path.stat().st_mode) == 0o600
