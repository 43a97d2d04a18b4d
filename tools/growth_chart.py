"""Draw how the times of a job grow with its members, docs/reference/jobs-growth.svg, from the measured figures.

python tools/growth_chart.py            draw it from docs/reference/figures.md
python tools/growth_chart.py --check    fail if the picture shows other figures
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import log10

from made_files import ROOT, run

FIGURES = ROOT / "docs/reference/figures.md"
CHART = ROOT / "docs/reference/jobs-growth.svg"

_ROW = re.compile(r"^\| ([\d,]+) \| (.* s) \| [\d.]+ kB \|$", re.MULTILINE)
_STEP = re.compile(r"([a-z ]+) ([\d.]+) s")
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 560, 60, 340
_WIDTH, _HEIGHT = 760, 380
_LEAST, _DECADES = 0.01, 3
"""Seconds at the bottom, which figures of 0.00 are drawn at; and decades up to the top."""
_STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600; font-size: 15px }
    .grid { stroke: #d1d9e0 } polyline { fill: none; stroke-width: 2 }
    .a { stroke: #1a7f37 } .b { stroke: #0969da } .c { stroke: #bc4c00 }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #3d444d } }
"""

type Steps = Mapping[str, Sequence[tuple[int, float]]]
"""By step of a job: the seconds at each number of members."""


def main() -> int:
    """Draw or check the picture."""
    return run("Draw how the times of a job grow.", lambda: {CHART: chart(steps(FIGURES.read_text("utf-8")))})


def steps(page: str) -> Steps:
    """Return the times of the table of simulated members.

    Raises:
        SystemExit: the page does not have the table.

    """
    by_step: dict[str, list[tuple[int, float]]] = {}
    for members, times in _ROW.findall(page):
        for step, seconds in _STEP.findall(times):
            by_step.setdefault(step.strip(), []).append((int(members.replace(",", "")), float(seconds)))
    if not by_step:
        raise SystemExit(f"{FIGURES.relative_to(ROOT)} has no table of times by the number of members")
    return by_step


def chart(times: Steps) -> str:
    """Return the picture as SVG, readable on light and dark pages; both axes are logarithmic."""
    title = "Seconds of a step, by the number of members"
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    members = sorted({number for points in times.values() for number, _ in points})
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">',
            f"  <style>{_STYLE}  </style>",
            f'  <text class="title" x="0" y="18">{title}</text>',
            '  <text x="0" y="40">simulated members; both axes are logarithmic</text>',
            *_grid(members),
            *_lines(times, members),
            "</svg>\n",
        )
    )


def _x(number: int, members: Sequence[int]) -> float:
    first, last = log10(members[0]), log10(members[-1])
    return _LEFT + (_RIGHT - _LEFT) * (log10(number) - first) / max(last - first, 1e-9)


def _y(seconds: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * log10(max(seconds, _LEAST) / _LEAST) / _DECADES


def _grid(members: Sequence[int]) -> Iterator[str]:
    for decade in range(_DECADES + 1):
        seconds = _LEAST * 10**decade
        y = _y(seconds)
        yield f'  <line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'  <text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{seconds:g} s</text>'
    for number in members:
        yield f'  <text x="{_x(number, members):.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{number:,}</text>'


def _lines(times: Steps, members: Sequence[int]) -> Iterator[str]:
    ends = sorted(times, key=lambda step: times[step][-1][1])
    for css, (step, points) in zip("abc", times.items(), strict=False):
        path = " ".join(f"{_x(number, members):.1f},{_y(seconds):.1f}" for number, seconds in points)
        yield f'  <polyline class="{css}" points="{path}"/>'
        y = _y(times[ends[1 if len(ends) > 1 else 0]][-1][1]) + 4 - 18 * (ends.index(step) - 1)
        yield f'  <text x="{_RIGHT + 8}" y="{y:.1f}">{step} {points[-1][1]:g} s</text>'


if __name__ == "__main__":
    sys.exit(main())
