"""Draw the hot function beside debugpy, docs/hot-function.svg, from the figures that the benchmark has measured.

python tools/figures_chart.py            draw it from docs/reference/figures.md
python tools/figures_chart.py --check    fail if the picture shows other figures
"""

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from made_files import ROOT, run

FIGURES = ROOT / "docs/reference/figures.md"
CHART = ROOT / "docs/hot-function.svg"
VERSION = "3.13"
"""The Python whose figures are drawn."""

_CASE = "a breakpoint on an unreached line of the hot function: "
_LEFT, _RIGHT, _BAR, _GROUP, _TOP = 70, 80, 13, 40, 62
_WIDTH = 720
_STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600; font-size: 15px }
    .ours { fill: #1a7f37 } .theirs { fill: #8c959f }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #3fb950 } .theirs { fill: #6e7681 } }
"""


class Slowdown(NamedTuple):
    """How many times as long a workload takes as without a debugger."""

    workload: str
    dapkit: float
    debugpy: float


def main() -> int:
    """Draw or check the picture."""
    return run("Draw the hot function beside debugpy.", lambda: {CHART: chart(slowdowns(FIGURES.read_text("utf-8")))})


def slowdowns(page: str) -> list[Slowdown]:
    """Return the figures of one Python from the table of all versions.

    Raises:
        SystemExit: the page has none.

    """
    head = re.search(r"^\| case \|(.*)\|$", page, re.MULTILINE)
    versions = [cell.strip() for cell in head[1].split("|")] if head else []
    column = next((number for number, version in enumerate(versions) if version.startswith(VERSION)), None)
    if column is None:
        raise SystemExit(f"{FIGURES.relative_to(ROOT)} has no figures of Python {VERSION}")
    rows: list[Slowdown] = []
    for workload, cells in re.findall(rf"^\| {re.escape(_CASE)}(\w+) \|(.*)\|$", page, re.MULTILINE):
        if len(cells.split("|")) != len(versions):
            continue  # of a table of one version
        figures = re.findall(r"[\d.]+", cells.split("|")[column])
        rows.append(Slowdown(workload, float(figures[0]), float(figures[1])))
    if not rows:
        raise SystemExit(f"{FIGURES.relative_to(ROOT)} has no row that begins with {_CASE!r}")
    return rows


def chart(rows: list[Slowdown]) -> str:
    """Return the picture as SVG, readable on light and dark pages."""
    height = _TOP + len(rows) * _GROUP + 10
    title = "Time of a hot function that holds a breakpoint"
    unit = f"in multiples of the time without a debugger, Python {VERSION}; shorter is better"
    size = f'viewBox="0 0 {_WIDTH} {height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}, {unit}">',
            f"  <style>{_STYLE}  </style>",
            f'  <text class="title" x="0" y="18">{title}</text>',
            f'  <text x="0" y="40">{unit}</text>',
            *_bars(rows),
            "</svg>\n",
        )
    )


def _bars(rows: list[Slowdown]) -> Iterator[str]:
    most = max(max(row.dapkit, row.debugpy) for row in rows)
    scale = (_WIDTH - _LEFT - _RIGHT - 60) / most
    for number, row in enumerate(rows):
        y = _TOP + number * _GROUP
        yield f'  <text x="{_LEFT - 10}" y="{y + _BAR + 3}" text-anchor="end">{row.workload}</text>'
        for at, (name, css, value) in enumerate((("dapkit", "ours", row.dapkit), ("debugpy", "theirs", row.debugpy))):
            top, width = y + at * (_BAR + 3), max(2.0, value * scale)
            yield f'  <rect class="{css}" x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
            yield f'  <text x="{_LEFT + width + 6:.1f}" y="{top + _BAR - 2}">{name} {value:g}</text>'


if __name__ == "__main__":
    sys.exit(main())
