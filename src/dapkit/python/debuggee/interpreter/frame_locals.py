"""The local variables of a frame, read without leaving a trace.

From Python 3.13 on (PEP 667), `f_locals` is a view. On 3.12 a function's locals are a dict that the frame keeps, in
which every value lives until the call has ended, whatever the program does with its variables.
"""

import sys
from collections.abc import MutableMapping
from types import CellType, FrameType
from typing import Any, Final

from .frame_views import virtual_frame_of
from .native import stored_at
from .safe_types import entries, mapping_of

_OPTIMIZED: Final = 0x1  # CO_OPTIMIZED: the variables are in the frame itself, not in a dict
ONLY_THE_FRAME: Final = 3
"""References to that dict: of the frame, of one variable that holds it, and of the call that counts them."""

type LocalVariables = MutableMapping[str, Any]


def are_copied(frame: FrameType) -> bool:
    """Return whether the result of `locals_of` is a copy, so that writing into it changes nothing."""
    return _must_be_copied(frame) or virtual_frame_of(frame) is not None


def _must_be_copied(frame: FrameType) -> bool:
    return sys.version_info < (3, 13) and bool(frame.f_code.co_flags & _OPTIMIZED)


def locals_of(frame: FrameType) -> LocalVariables:
    """Return the local variables, on 3.12 a copy of a function's.

    Or the variables of the frame's view, if it has one.
    """
    view = virtual_frame_of(frame)
    return stored_locals(frame) if view is None else view.names()


def globals_of(frame: FrameType) -> dict[str, Any]:
    """Return the global variables, or the global variables of the frame's view."""
    view = virtual_frame_of(frame)
    return frame.f_globals if view is None else view.global_names()


def stored_locals(frame: FrameType) -> LocalVariables:
    """Return the local variables of the frame itself."""
    if not _must_be_copied(frame):
        return frame.f_locals
    variables = dict(frame.f_locals)
    forget_locals(frame)
    return variables


def is_shared(frame: FrameType, name: str) -> bool:
    """Return whether a name is a variable that functions share: one of this call, or of a call around it."""
    return name in frame.f_code.co_cellvars or name in frame.f_code.co_freevars


def cell_of(frame: FrameType, name: str) -> CellType | None:
    """Return the cell of a variable that functions share; None for another variable, or where it is not known."""
    if not is_shared(frame, name):
        return None
    code = frame.f_code
    places = list(dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars)))
    cell = stored_at(frame, places.index(name))
    return cell if type(cell) is CellType else None


def variables_of(frame: FrameType) -> list[tuple[str, object]] | None:
    """Return the local variables of a frame; None where only code of the program knows them.

    The body of a class keeps them in the namespace that its metaclass has prepared, and `exec` in its argument.
    """
    names: Any = locals_of(frame)
    if frame.f_code.co_flags & _OPTIMIZED or type(names) is dict:  # as a view does
        return list(names.items())
    return entries(names) if mapping_of(names) is not None else None


def forget_locals(frame: FrameType) -> None:
    """Remove second copies of a frame's variables that exist because `f_locals` was used.

    If the program holds the dict as well (`locals()` gave it), it is left as it is; so are names of no variable,
    which `exec` has put there.
    """
    if not _must_be_copied(frame):
        return
    variables, code = frame.f_locals, frame.f_code
    if sys.getrefcount(variables) <= ONLY_THE_FRAME:
        for names in (code.co_varnames, code.co_cellvars, code.co_freevars):
            for name in names:
                variables.pop(name, None)
