"""Sampled stacks as a tree of calls, without lines: the same function called from the same place is one node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.samples import SampledFrame, SampledStack


@dataclass(slots=True)
class CallNode:
    """A function with the calls that led to it.

    Attributes:
        count: samples that had it at this place.
        waiting: how many of them waited.

    """

    frame: SampledFrame
    count: int = 0
    waiting: int = 0
    children: dict[SampledFrame, "CallNode"] = field(default_factory=dict)

    @property
    def heaviest_first(self) -> list["CallNode"]:
        """Its calls, those with the most samples first."""
        return sorted(self.children.values(), key=lambda node: (-node.count, node.frame))


def call_tree(stacks: Mapping[SampledStack, int]) -> CallNode:
    """Make the tree; its root stands for all samples.

    It has at most `limits.PROFILE_NODES` nodes: rare stacks lose their inner calls first.
    """
    root = CallNode(SampledFrame("all", kind="all"))
    nodes = 1
    for stack, count in sorted(stacks.items(), key=lambda item: -item[1]):
        waiting = count if stack[-1].kind == "waiting" else 0
        for node, is_new in _path(root, stack, room=limits.PROFILE_NODES - nodes):
            node.count += count
            node.waiting += waiting
            nodes += is_new
    return root


def _path(root: CallNode, stack: SampledStack, *, room: int) -> Iterator[tuple[CallNode, bool]]:
    """Return the nodes of a stack, made where they are missing, and whether each was."""
    yield root, False
    node, node_count = root, 0
    for stack_frame in stack:
        frame = stack_frame.without_line
        child = node.children.get(frame)
        if child is None:
            if node_count >= room:
                return
            node_count += 1
            child = node.children[frame] = CallNode(frame)
            yield child, True
        else:
            yield child, False
        node = child


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line of a tree as text.

    Attributes:
        depth: how far it is indented.
        is_only: whether it has all samples of its caller.

    """

    node: CallNode
    depth: int
    is_only: bool = False


def heavy_lines(root: CallNode, *, share: float, most: int) -> tuple[list[TreeLine], int]:
    """Return the nodes with at least this share of all samples, and how many have less or find no room.

    Calls of which each has all samples of its caller are below each other, so that deep stacks stay readable.
    """
    least = max(1.0, root.count * share)
    lines: list[TreeLine] = []
    left_out = 0
    to_show = [TreeLine(node, 0) for node in reversed(root.heaviest_first)]
    while to_show:
        line = to_show.pop()
        if line.node.count < least or len(lines) >= most:
            left_out += 1
            continue
        lines.append(line)
        children = line.node.heaviest_first
        is_only = len(children) == 1 and children[0].count == line.node.count
        depth = line.depth if is_only and line.is_only else line.depth + 1
        to_show += [TreeLine(node, depth, is_only=is_only) for node in reversed(children)]
    return lines, left_out
