"""Objects of the debugger that the program's `gc` does not list.

`get_objects` and `get_referrers` go through tracked objects.

An untracked object is not collected, and functions and classes cannot even end so. Objects that are hidden for
good are therefore kept for good; the engine of a session that ends before its program is given back; objects that are
made anew at each stop are in no circle, and end with their last reference. Without the native part, all is listed.
"""

import gc
from types import FrameType, FunctionType, ModuleType
from typing import Any

from .. import loader
from . import native


def untrack[T](ours: T) -> T:
    """Hide an object that is in no circle: one of our classes, a list, a socket or the like."""
    native.untrack(ours, False)  # noqa: FBT003 - a function in C
    return ours


def untrack_all(others: set[int]) -> None:
    """Hide the engine for good, before the program begins: all objects but those that the interpreter made, by id."""
    for ours in gc.get_objects() if native.AVAILABLE else ():
        if id(ours) not in others and type(ours) is not FrameType:
            native.untrack(ours, not _can_end(ours))
    untrack_modules()


def _can_end(ours: object) -> bool:
    """Return whether an untracked object can end: otherwise its references would be kept for good."""
    kind = type(ours)
    return kind in (dict, list, set) or kind.__module__.partition(".")[0] == loader.PACKAGE


def untrack_modules() -> None:
    """Hide the modules of the engine, their classes, functions and constants; others make objects meanwhile."""
    for name, module in loader.modules():
        if name.partition(".")[0] == loader.PACKAGE:
            native.untrack(module, True)  # noqa: FBT003 - a function in C
            _hide_names(vars(module), name)


def untrack_members(part: Any) -> list[Any]:  # noqa: ANN401 - of any class
    """Hide an object of the debugger and the debugger's objects in its attributes.

    Return those that were not hidden before.
    """
    if type(part).__module__.partition(".")[0] != loader.PACKAGE or isinstance(part, ModuleType | type):
        return []
    hidden: list[Any] = []
    if native.untrack(part, False):  # noqa: FBT003 - a function in C
        hidden.append(part)
        for inner in list(getattr(part, "__dict__", {}).values()):
            hidden += untrack_members(inner)
    return hidden


def track_again(hidden: list[Any]) -> None:
    """Let the collector have hidden objects that are no longer usable: only so do their circles end."""
    while hidden:
        native.track(hidden.pop())


def _hide_names(names: Any, module: str) -> None:  # noqa: ANN401 - of a module or class
    for value in list(names.values()):
        kind = type(value)
        if (kind is FunctionType or kind is type) and value.__module__ == module:
            native.untrack(value, True)  # noqa: FBT003 - a function in C
            if kind is type:
                _hide_names(vars(value), module)
        else:
            untrack_members(value)
