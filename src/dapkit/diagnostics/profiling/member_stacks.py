"""The stacks of a job's members as a flame graph: each box is as wide as it has members."""

from dapkit.cluster import JobStacks
from dapkit.cluster.stack_groups import MAIN
from dapkit.diagnostics.profiling.call_tree import CallNode
from dapkit.diagnostics.profiling.flame_graph import flame_graph
from dapkit.diagnostics.profiling.samples import SampledFrame


def flame_graph_of(stacks: JobStacks) -> str:
    """Draw the main threads of all members, with lines: where one is late, its line differs."""
    root = CallNode(SampledFrame("all", kind="all"))
    for group in stacks.groups:
        if group.thread != MAIN:
            continue
        root.count += len(group.members)
        node = root
        for call in reversed(group.calls):
            name = call.file.rpartition("/")[2]
            frame = SampledFrame(call.function, name, call.line, "own" if call.own else "library")
            node = node.children.setdefault(frame, CallNode(frame))
            node.count += len(group.members)
    facts = [f"{stacks.sampled} of {stacks.members} members on {', '.join(stacks.hosts[:4])}; none was stopped"]
    return flame_graph(root, title=f"Job {stacks.target}", facts=facts)
