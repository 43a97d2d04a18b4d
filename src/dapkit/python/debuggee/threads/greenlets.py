"""Greenlets: the frames in which others wait for the one that runs, which no frame of it leads to."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..classes import module_of, mro, namespace


def frames_of_parents() -> Iterator[FrameType]:
    """Go through the newest frame of each parent of the greenlet that runs in this thread, where its errors go to.

    A greenlet of gevent has none: gevent reports what leaves it, and raises nothing in others.
    """
    module = namespace(sys.modules.get("greenlet._greenlet"))
    kind, running = namespace(sys.modules.get("greenlet")).get("greenlet"), module.get("getcurrent")
    if type(kind) is not type or not callable(running):
        return
    parent, frame = kind.__dict__["parent"].__get__, kind.__dict__["gr_frame"].__get__
    current: Any = running()
    while current is not None and not any(module_of(base).partition(".")[0] == "gevent" for base in mro(current)):
        current = parent(current)
        newest = None if current is None else frame(current)
        if newest is not None:
            yield newest
