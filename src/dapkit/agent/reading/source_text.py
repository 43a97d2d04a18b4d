"""Lines of source files."""

from pathlib import Path

from dapkit import limits
from dapkit.system.trusted_files import read_file


def lines_of(file: Path) -> list[str] | None:
    """Read the lines of a file; None if it is not a file, or cannot be read."""
    try:
        return read_file(file, limits.SOURCE_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return None
