"""`memory`: the contents of a Python program's heap, and its changes since another snapshot."""

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
