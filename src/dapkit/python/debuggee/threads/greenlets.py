"""Greenlets: those that are suspended, and the frames in which others wait for the one that runs.

No frame of a greenlet leads to another one. Nothing lists greenlets, so they are looked for among all objects that the
garbage collector knows, where the program has imported the library.
"""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..interpreter.safe_types import is_a, module_of, mro, namespace

type Greenlet = Any
"""A greenlet of any class."""


def suspended() -> list[Greenlet]:
    """Return the greenlets that are suspended, of all threads; to be asked only while these stand still."""
    kind = _kind()
    if kind is None:
        return []
    import gc

    kinds: dict[int, type] = {id(kind): kind}
    todo: list[type] = [kind]
    for above in todo:
        derived: list[type] = type.__subclasses__(above)
        for below in derived:
            if id(below) not in kinds:
                kinds[id(below)] = below
                todo.append(below)
    values = [value for value in gc.get_objects() if id(type(value)) in kinds]
    return [greenlet for greenlet in values if newest_frame(greenlet) is not None]


def is_greenlet(value: object) -> bool:
    """Return whether a value is a greenlet."""
    kind = _kind()
    return kind is not None and is_a(value, kind)


def newest_frame(greenlet: Greenlet) -> FrameType | None:
    """Return the frame in which a greenlet is suspended, None if it runs, has ended or not begun."""
    kind = _kind()
    frame: FrameType | None = None if kind is None else kind.__dict__["gr_frame"].__get__(greenlet)
    return frame


def _kind() -> type | None:
    kind = namespace(sys.modules.get("greenlet")).get("greenlet")
    return kind if type(kind) is type else None


def frames_of_parents() -> Iterator[FrameType]:
    """Go through the newest frame of each parent of the greenlet that runs in this thread, where its errors go to.

    A greenlet of gevent has no such parent: gevent reports exceptions that leave it, and raises none in others.
    """
    module = namespace(sys.modules.get("greenlet._greenlet"))
    kind, running = _kind(), module.get("getcurrent")
    if kind is None or not callable(running):
        return
    parent, frame = kind.__dict__["parent"].__get__, kind.__dict__["gr_frame"].__get__
    current: Any = running()
    while current is not None and not any(module_of(base).partition(".")[0] == "gevent" for base in mro(current)):
        current = parent(current)
        newest = None if current is None else frame(current)
        if newest is not None:
            yield newest
