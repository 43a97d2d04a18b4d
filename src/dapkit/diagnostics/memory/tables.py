"""Tables of objects as text: sizes in units that people read, in columns."""

import functools
from collections.abc import Sequence
from pathlib import Path

from dapkit.agent.text.escaping import one_line
from dapkit.diagnostics import limits
from dapkit.system.trusted_files import read_file

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def bytes_text(size: float, *, signed: bool = False) -> str:
    """Write a number of bytes: `3.2 MiB`."""
    rest = float(size)
    unit = 0
    while abs(rest) >= 1024 and unit < len(_UNITS) - 1:
        rest /= 1024
        unit += 1
    sign = "+" if signed else ""
    return f"{rest:{sign}.0f} {_UNITS[unit]}" if unit == 0 else f"{rest:{sign}.1f} {_UNITS[unit]}"


def number_text(number: int, *, signed: bool = False) -> str:
    """Write a number: `1,000`."""
    return f"{number:{'+' if signed else ''},}"


def share_text(part: int, whole: int) -> str:
    """Write the share of a part in a whole: `12.5 %`."""
    return f"{part / whole:.1%}".replace("%", " %") if whole else ""


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: the last column is a name, and stands left, all others are numbers."""
    cells = [heading, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heading) - 1)]
    return [
        "  ".join(["", *(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True)), one_line(row[-1])])
        for row in cells
    ]


def with_source(place: str) -> str:
    """Add the line of a Python file to its place, if it can be read here; the program chooses the file's name."""
    file, _, number = place.rpartition(":")
    line = int(number) if number.isdecimal() else 0  # of `native code`
    lines = _lines_of(file) if Path(file).is_absolute() and file.endswith(".py") else ()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return f"{place}  {text[: limits.HEAP_SOURCE_CHARACTERS]}" if text else place


@functools.lru_cache(maxsize=limits.HEAP_SOURCES_KEPT)
def _lines_of(file: str) -> Sequence[str]:
    try:
        return read_file(file, limits.HEAP_SOURCE_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return ()
