"""A request beyond the specification about the contents of a program's heap, as dapkit's Python adapter answers it."""

from typing import Final

from dapkit.protocol.base import Arguments, ProtocolObject

HEAP: Final = "dapkit/heap"


class HeapRow(ProtocolObject, frozen=True, kw_only=True):
    """Some objects.

    Attributes:
        name: the name of a type or of a holder, or the place `FILE:LINE` that allocated them.
        count: how many they are.
        size: their bytes.

    """

    name: str
    count: int
    size: int


class HeapTable(ProtocolObject, frozen=True, kw_only=True):
    """Objects by something.

    Attributes:
        rows: those with most bytes, the largest first.
        others: how many further rows there are.
        other_count: the objects of these.
        other_size: the bytes of these.

    """

    rows: list[HeapRow]
    others: int
    other_count: int
    other_size: int


class HeapBody(ProtocolObject, frozen=True, kw_only=True):
    """The contents of a program's heap at one moment.

    Attributes:
        pid: of the program.
        python: its version.
        seconds: how long the program stood still for it.
        objects: that were counted.
        size: their bytes.
        uncounted: objects that were left out at least, since there were too many.
        frozen: objects that `gc.freeze` has removed from the collector's lists.
        debugger_objects: of the debugger itself, which are not in the tables.
        debugger_size: their bytes.
        types: by type.
        holders: the objects by holder: instances of a class, a module, a class.
        lines: by the line that has allocated them, as far as `tracemalloc` traces.
        trace_size: bytes of the traces of `tracemalloc`, if that are too many to be read.

    """

    pid: int
    python: str
    seconds: float
    objects: int
    size: int
    uncounted: int
    frozen: int
    debugger_objects: int
    debugger_size: int
    types: HeapTable
    holders: HeapTable
    lines: HeapTable | None = None
    trace_size: int | None = None


class HeapArguments(Arguments[HeapBody], frozen=True, kw_only=True):
    """Asks for the contents of the heap; a running program is stopped meanwhile."""

    command = HEAP
