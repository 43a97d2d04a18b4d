"""Plain text for terminals: columns, and lines under a heading."""

from collections.abc import Iterable, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each row, with columns as wide as their widest cell; the last one is not filled up."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that belong to the one above them."""
    for line in lines:
        yield f"  {line}"
