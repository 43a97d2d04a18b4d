"""Locks that the variables of running calls lead to: which are taken, and by which thread, as far as the locks say.

An RLock knows the thread that has taken it, also one that has ended. A plain lock does not. No code of the program runs
for it: attributes are read where they are stored.
"""

import _thread
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Final

from ..interpreter import limits
from ..interpreter.frame_locals import variables_of
from ..interpreter.safe_types import is_a, module_of, namespace, qualified_name, stored_dict
from ..interpreter.thread_frames import stack_of
from ..sources.files import OURS, Sources

_PLAIN: Final = type(_thread.allocate_lock())
_RECURSIVE: Final = _thread.RLock
_OWNER: Final = "owner="
_COUNT: Final = "count="


class SeenLock:
    """A lock, and the calls whose variables lead to it."""

    def __init__(self, lock: object, kind: str, owner: int | None, count: int) -> None:
        self.lock = lock
        self.kind = kind
        self.owner = owner
        self.count = count
        self.places: list[tuple[int, FrameType, str]] = []


def taken_locks(frames: dict[int, FrameType], sources: Sources) -> list[SeenLock]:
    """Return the locks that are taken, with the threads whose calls know them."""
    locks: dict[int, SeenLock | None] = {}
    for ident, newest in frames.items():
        for frame in stack_of(newest)[: limits.LOCK_FRAMES]:
            if sources.kind(frame.f_code.co_filename) == OURS:
                continue
            for expression, lock in _locks_in(frame):
                if id(lock) not in locks:
                    locks[id(lock)] = _taken(lock)
                entry = locks[id(lock)]
                if entry is not None and len(entry.places) < limits.LOCK_PLACES:
                    entry.places.append((ident, frame, expression))
    return [entry for entry in locks.values() if entry is not None]


def _locks_in(frame: FrameType) -> Iterator[tuple[str, object]]:
    """Yield the locks that the variables of a call lead to, with the expressions that do."""
    names = frame.f_code.co_names
    wide = [(name, frame.f_globals[name]) for name in names if name in frame.f_globals]
    for name, value in [*(variables_of(frame) or ())[: limits.LOCK_VARIABLES], *wide[: limits.LOCK_VARIABLES]]:
        if is_a(value, type, ModuleType):
            continue
        yield from _locks_of(name, value)
        for attribute, member in list(namespace(value).items())[: limits.LOCK_VARIABLES] if stored_dict(value) else ():
            yield from _locks_of(f"{name}.{attribute}", member)


def _locks_of(expression: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield a value that is a lock, or the lock in a condition or a semaphore."""
    if is_a(value, _PLAIN, _RECURSIVE) or _is_of_threading(value, "_RLock"):
        yield expression, value
    elif _is_of_threading(value, "Condition"):
        lock = namespace(value).get("_lock")
        if lock is not None:
            yield expression, lock


def _is_of_threading(value: object, name: str) -> bool:
    kind = type(value)
    return module_of(kind) == "threading" and qualified_name(kind) == name


def _taken(lock: object) -> SeenLock | None:
    """Return the state of a lock; None if it is free, or says nothing."""
    if is_a(lock, _PLAIN):
        return SeenLock(lock, "Lock", None, 1) if _PLAIN.locked(lock) else None
    if is_a(lock, _RECURSIVE):
        text = _RECURSIVE.__repr__(lock)
        owner, count = _number_after(text, _OWNER), _number_after(text, _COUNT)
    else:
        stored = namespace(lock)
        owner, count = _whole(stored.get("_owner")), _whole(stored.get("_count"))
    return SeenLock(lock, "RLock", owner, count) if owner and count else None


def _number_after(text: str, mark: str) -> int:
    digits = text.partition(mark)[2].partition(" ")[0]
    return int(digits) if digits.isdecimal() else 0


def _whole(value: object) -> int:
    return value if type(value) is int else 0
