"""A flame graph: the calls of a profile as boxes, as wide as they have samples.

It is one SVG without scripts, so that every browser and viewer shows it, and nothing in a name can become one. The
callers are at the top. Pointing at a box shows its whole name; a browser enlarges it by its own zoom.
"""

import heapq
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from dapkit.agent.text.escaping import one_line
from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.call_tree import CallNode
from dapkit.diagnostics.profiling.samples import FrameKind, SampledFrame

_WIDTH, _MARGIN, _ROW, _GAP = 1200, 10, 19, 1
_HEAD, _FOOT = 62, 40
_CHARACTER = 6.65
"""Width of a character of the text in boxes, at most: the font is 11 px, and of one width."""

_HUES: dict[FrameKind, tuple[int, int, int]] = {
    "own": (24, 92, 64),
    "library": (48, 88, 68),
    "system": (120, 22, 76),
    "debugger": (0, 0, 82),
    "waiting": (210, 60, 82),
    "thread": (260, 28, 86),
    "all": (0, 0, 88),
}
"""Hue, saturation and lightness of boxes, by whose they are; both are varied a little by the name."""

_MEANINGS: dict[FrameKind, str] = {
    "own": "program",
    "library": "libraries",
    "system": "kernel",
    "debugger": "debugger",
    "waiting": "waiting",
    "thread": "threads",
}

_STYLE = (
    "text{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#222}"
    ".h{font:bold 16px system-ui,sans-serif}.s{font:12px system-ui,sans-serif;fill:#555}"
    "svg svg:hover>rect{stroke:#000}"
)


@dataclass(frozen=True, slots=True)
class _Box:
    frame: SampledFrame
    depth: int
    left: float
    width: float
    count: int
    waiting: int


def flame_graph(root: CallNode, *, title: str, facts: Sequence[str]) -> str:
    """Draw a tree of calls.

    Args:
        root: of the tree; it stands for all samples.
        title: the first line.
        facts: lines of text below it.

    """
    boxes, left_out = _boxes(root)
    head = _HEAD + 16 * max(0, len(facts) - 1)
    rows = max((box.depth for box in boxes), default=0) + 1
    height = head + rows * _ROW + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text class="h" x="{_MARGIN}" y="24">{_text(title)}</text>',
        *(
            f'<text class="s" x="{_MARGIN}" y="{44 + 16 * number}">{_text(fact)}</text>'
            for number, fact in enumerate(facts)
        ),
        *(_drawn(box, head, root.count) for box in boxes),
        *_legend(boxes, height - 14, left_out),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _boxes(root: CallNode) -> tuple[list[_Box], int]:
    """Place the boxes; return those that are drawn, and how many are too narrow, or too many."""
    if not root.count:
        return [], 0
    scale = (_WIDTH - 2 * _MARGIN) / root.count
    placed, narrow = [], 0
    for box in _placed(root, scale):
        if box.width < limits.FLAME_GRAPH_LEAST_WIDTH:
            narrow += 1
        else:
            placed.append(box)
    # A caller is as wide as its callees together, or wider: if a box is drawn, its callers are drawn too.
    drawn = heapq.nlargest(limits.FLAME_GRAPH_BOXES, placed, key=lambda box: (box.width, -box.depth))
    drawn.sort(key=lambda box: (box.depth, box.left))
    return drawn, narrow + len(placed) - len(drawn)


def _placed(root: CallNode, scale: float) -> Iterator[_Box]:
    to_do = [(root, 0, float(_MARGIN))]
    while to_do:
        node, depth, x = to_do.pop()
        yield _Box(node.frame, depth, x, node.count * scale, node.count, node.waiting)
        for child in sorted(node.children.values(), key=lambda child: (child.frame.kind == "waiting", child.frame)):
            to_do.append((child, depth + 1, x))
            x += child.count * scale


def _drawn(box: _Box, head: int, total: int) -> str:
    width, height = max(box.width - _GAP, 0.4), _ROW - _GAP
    tip = f"{box.frame}\n{box.count} samples, {100 * box.count / total:.1f} %"
    if box.waiting and box.frame.kind != "waiting":
        tip += f"; waiting in {100 * box.waiting / box.count:.0f} % of them"
    # The text is cut by an SVG of its own, whatever the font; and shortened, so that it is seen to continue.
    parts = [
        f'<svg x="{box.left:.2f}" y="{head + box.depth * _ROW}" width="{width:.2f}" height="{height}">',
        f"<title>{_text(tip, lines=True)}</title>",
        f'<rect width="100%" height="100%" rx="2" fill="{_colour(box.frame)}"/>',
    ]
    if label := _shortened(one_line(str(box.frame)), box.frame, int((width - 6) / _CHARACTER)):
        parts.append(f'<text x="3" y="13">{_text(label)}</text>')
    return "".join([*parts, "</svg>"])


def _shortened(label: str, frame: SampledFrame, room: int) -> str:
    """Fit a label into its box: without its place first, then cut; nothing where little would be left."""
    if len(label) <= room:
        return label
    name = one_line(frame.function)
    if len(name) <= room:
        return name
    return f"{name[: room - 1]}\u2026" if room >= 4 else ""


def _legend(boxes: Sequence[_Box], y: int, left_out: int) -> Iterator[str]:
    x = _MARGIN
    kinds = {box.frame.kind for box in boxes if box.depth}
    for kind, meaning in _MEANINGS.items():
        if kind in kinds:
            hue, saturation, lightness = _HUES[kind]
            yield f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="hsl({hue},{saturation}%,{lightness}%)"/>'
            yield f'<text class="s" x="{x + 15}" y="{y}">{meaning}</text>'
            x += 90
    if left_out:
        text = f"{left_out} calls are too narrow to be drawn"
        yield f'<text class="s" x="{_WIDTH - _MARGIN}" y="{y}" text-anchor="end">{text}</text>'


def _colour(frame: SampledFrame) -> str:
    """Give the same function the same colour in every graph."""
    hue, saturation, lightness = _HUES[frame.kind]
    varied = zlib.crc32(frame.function.encode(errors="replace"))
    return f"hsl({hue + varied % 17 - 8},{saturation}%,{lightness + varied // 17 % 9 - 4}%)"


def _text(text: str, *, lines: bool = False) -> str:
    """Make a text that XML may hold, whatever is in a name."""
    parts = text.split("\n") if lines else [text]
    title = "\n".join(one_line(part)[: limits.PROFILE_NAME_CHARACTERS] for part in parts)
    return escape(title.replace("\ufffe", "?").replace("\uffff", "?"), {'"': "&quot;"})
