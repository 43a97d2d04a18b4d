"""Route `memory`: what the heap of a Python program holds, and what has become of it since another snapshot."""

from dapkit.diagnostics.memory.comparison import Growth, HeapComparison, compare
from dapkit.diagnostics.memory.heap_capture import can_attach, last, memory, saved
from dapkit.diagnostics.memory.snapshot import Allocations, HeapSnapshot, load

__all__ = [
    "Allocations",
    "Growth",
    "HeapComparison",
    "HeapSnapshot",
    "can_attach",
    "compare",
    "last",
    "load",
    "memory",
    "saved",
]
