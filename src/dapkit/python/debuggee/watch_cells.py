"""The cell behind a variable that functions share, and all code that can write it.

A frame does not tell its cells. But the program stands still when we are asked, so a mark can be put into the
variable for a moment: the cell is what then holds the mark.
"""

import gc
import sys
from collections.abc import Iterator
from types import AsyncGeneratorType, CellType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType

from .sources import with_nested
from .storage import LocalVariable
from .watch_targets import MISSING


def cell_of(frame: FrameType, name: str) -> CellType | None:
    """Return the cell of a variable. While all threads of the program stand still."""
    variable = LocalVariable(frame, name)
    before = frame.f_locals.get(name, MISSING)
    mark = object.__new__(_Mark)
    variable.write(mark)
    found = [one for one in gc.get_referrers(mark) if type(one) is CellType]
    for cell in found:
        if before is MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = before
    if not found:
        variable.write(before)
    return found[0] if len(found) == 1 else None


class _Mark:
    """An object that the garbage collector knows, and nobody else."""

    __slots__ = ("itself",)


def writers_of(cell: CellType, name: str, frame: FrameType) -> list[CodeType]:
    """Return the code of all functions that have the cell, and of those that they may still make."""
    found: dict[int, CodeType] = {}
    codes = [frame.f_code, *_running_codes(), *_codes_that_hold(cell)]
    for code in codes:
        for part in with_nested(code):
            if name in part.co_cellvars or name in part.co_freevars:
                found[id(part)] = part
    return list(found.values())


def _running_codes() -> Iterator[CodeType]:
    for top in sys._current_frames().values():
        running: FrameType | None = top
        while running is not None:
            yield running.f_code
            running = running.f_back


def _codes_that_hold(cell: CellType) -> Iterator[CodeType]:
    for holder in gc.get_referrers(cell):
        match holder:
            case tuple():  # the closure of functions
                yield from (one.__code__ for one in gc.get_referrers(holder) if type(one) is FunctionType)
            case GeneratorType():
                yield holder.gi_code
            case CoroutineType():
                yield holder.cr_code
            case AsyncGeneratorType():
                yield holder.ag_code
