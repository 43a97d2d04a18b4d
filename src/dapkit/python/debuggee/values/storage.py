"""Where a value of the program is stored, and how it is read and replaced there.

Reading and writing go the program's own way, so they may run its code: a `__setattr__`, a
property, a `__setitem__`. Callers do so under an `EvaluationGuard`.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..interpreter.frame_locals import forget_locals, locals_of
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.gc_tracking import untrack
from ..sources.files import is_function


class LocalVariable:
    """A local variable of a frame, a cell of an enclosing function included."""

    __slots__ = ("frame", "name")

    def __init__(self, frame: FrameType, name: str) -> None:
        untrack(self)
        self.frame = frame
        self.name = name

    def read(self) -> object:
        """Return the value.

        Raises:
            KeyError: if the variable has no value now.

        """
        return locals_of(self.frame)[self.name]

    def write(self, value: object) -> None:
        """Replace the value."""
        write_variable(self.frame, self.name, value)


class ContainerItem:
    """The value in a namespace or a container under a key or number."""

    __slots__ = ("container", "key")

    def __init__(self, container: Any, key: object) -> None:  # noqa: ANN401 - whatever has items
        untrack(self)
        self.container = container
        self.key = key

    def read(self) -> object:
        """Return the item."""
        value: object = self.container[self.key]
        return value

    def write(self, value: object) -> None:
        """Replace the item."""
        self.container[self.key] = value


class GlobalVariable(ContainerItem):
    """A variable in the globals of some code."""

    __slots__ = ()


class Attribute:
    """An attribute of an object."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: object, name: str) -> None:
        untrack(self)
        self.owner = owner
        self.name = name

    def read(self) -> object:
        """Return the attribute."""
        value: object = getattr(self.owner, self.name)
        return value

    def write(self, value: object) -> None:
        """Replace the attribute."""
        setattr(self.owner, self.name, value)


type Stored = LocalVariable | ContainerItem | Attribute


def load(lazy: Any, stored: Stored | None) -> object:  # noqa: ANN401 - a lazy import
    """Import the target of a lazy import, and replace it where the interpreter does: in globals and modules."""
    if isinstance(stored, Attribute):
        return stored.read()
    value: object = lazy.resolve()
    if isinstance(stored, GlobalVariable) and stored.read() is lazy:
        stored.write(value)
    return value


def write_variable(frame: FrameType, name: str, value: object) -> None:
    """Give a local variable of a frame, or of the frame's view, a new value."""
    view = virtual_frame_of(frame)
    if view is None:
        store_local(frame, name, value)
    else:
        view.write(name, value)


def store_local(frame: FrameType, name: str, value: object) -> None:
    """Give a local variable of the frame itself a new value."""
    frame.f_locals[name] = value
    write_locals_back(frame)


def write_locals_back(frame: FrameType) -> None:
    """Make assignments in `frame.f_locals` real, where they are not by themselves."""
    locals_writer(frame)()
    forget_locals(frame)


def locals_writer(frame: FrameType) -> Callable[[], object]:
    """Return native code that does the same as `write_locals_back`."""
    if sys.version_info < (3, 13) and is_function(frame.f_code):
        from ..interpreter import c_api

        return c_api.locals_writer(frame)
    return bool
