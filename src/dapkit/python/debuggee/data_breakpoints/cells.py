"""The cell behind a variable that functions share, and all code that can write it.

A frame does not give its cells. But a mark can be put into the variable for a moment: the cell is the one that then
holds the mark. Native code does that in one go, so that no other thread sees the mark.
"""

import gc
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from _operator import call  # the C half of `operator`
from collections.abc import Callable, Iterator
from types import AsyncGeneratorType, CellType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType

from ..interpreter.frame_locals import forget_locals
from ..interpreter.thread_frames import all_frames
from ..sources.compilation import with_nested
from ..values.storage import locals_writer
from .targets import MISSING


def cell_of(frame: FrameType, name: str) -> CellType | None:
    """Return the cell of a variable of a function; None if it is not found."""
    variables = frame.f_locals
    write_back = locals_writer(frame)
    mark = object.__new__(_Mark)
    previous: dict[str, object] = {}
    # Each step is a call of native code, and so is their sequence. `map` takes its values when they are due.
    refresh = partial(getattr, frame, "f_locals")  # 3.12: `variables` is a copy, to be written back once after this
    steps: list[Callable[[], object]] = [
        refresh,
        partial(next, map(previous.__setitem__, (name,), map(variables.get, (name,), (MISSING,)))),
        partial(variables.__setitem__, name, mark),
        write_back,
        partial(gc.get_referrers, mark),
        refresh,
        partial(next, map(variables.__setitem__, (name,), map(previous.__getitem__, (name,)))),
        write_back,
    ]
    holders = list(map(call, steps))[4]
    cells = [holder for holder in holders if type(holder) is CellType]  # type: ignore[attr-defined]  # a list
    del steps, refresh, variables  # all that holds the dict, if there is one
    forget_locals(frame)
    if previous[name] is MISSING:
        for cell in cells:
            del cell.cell_contents
    return cells[0] if len(cells) == 1 else None


class _Mark:
    """An object to which only the garbage collector has a reference."""

    __slots__ = ("itself",)


def writers_of(cell: CellType, name: str, frame: FrameType) -> list[CodeType]:
    """Return the code of all functions that have the cell, and of those that they may still make."""
    writers: dict[int, CodeType] = {}
    codes = [frame.f_code, *(running.f_code for running in all_frames()), *_codes_that_hold(cell)]
    for code in codes:
        for part in with_nested(code):
            if name in part.co_cellvars or name in part.co_freevars:
                writers[id(part)] = part
    return list(writers.values())


def _codes_that_hold(cell: CellType) -> Iterator[CodeType]:
    for holder in gc.get_referrers(cell):
        match holder:
            case tuple():  # the closure of functions
                yield from (
                    function.__code__ for function in gc.get_referrers(holder) if type(function) is FunctionType
                )
            case GeneratorType():
                yield holder.gi_code
            case CoroutineType():
                yield holder.cr_code
            case AsyncGeneratorType():
                yield holder.ag_code
