"""Lines of source files."""

from pathlib import Path

from dapkit import limits


def lines_of(file: Path) -> list[str] | None:
    """Read the lines of a file; None if it is none, or cannot be read."""
    try:
        if not file.is_file() or file.stat().st_size > limits.SOURCE_BYTES:
            return None
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
