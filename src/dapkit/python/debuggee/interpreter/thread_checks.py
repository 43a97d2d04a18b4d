"""Marks on functions that belong to one thread, or need a lock: read by people, and checked by tests.

    @in_link_thread   only the thread that serves the connection to the adapter calls it
    @off_link_thread  any thread but that one calls it, since it waits
    @under_lock       the calling thread holds the engine's lock

With DAPKIT_CHECK_MARKS=1, which the tests set, a call that breaks a mark raises MarkBroken, and so does an import in
the link's thread that `loader` has not made its own; otherwise the marks return the functions as they are and cost
nothing. Nothing is checked in a process that has no engine.
"""

import _thread
import os
import sys
from collections.abc import Callable
from typing import Final

from .errors import MarkBroken

CHECKED: Final = os.environ.get("DAPKIT_CHECK_MARKS") == "1"
"""Whether marks, and the moves of `execution.states`, are checked."""

_link_threads: set[int] = set()
_watched: list[bool] = []
_locks: list[_thread.RLock] = []


def enter_link_thread() -> None:
    """Record that the calling thread serves the link from now on."""
    if CHECKED:
        _link_threads.add(_thread.get_ident())
        if not _watched:
            _watched.append(True)
            sys.addaudithook(_forbid_import)


def _forbid_import(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse imports in the link's thread: the lock may be held by a thread that is stopped, the finder be its own."""
    # A module in C that `loader` makes for us has no path to be found on.
    if event == "import" and arguments[2] is not None and _thread.get_ident() in _link_threads:
        raise MarkBroken(f"the link's thread imports {arguments[0]}")


def leave_link_thread() -> None:
    """Record that the calling thread serves the link no more."""
    _link_threads.discard(_thread.get_ident())


def engine_lock() -> _thread.RLock:
    """Make the lock of an engine, which `under_lock` knows."""
    lock = _thread.RLock()
    if CHECKED:
        _locks.append(lock)
    return lock


def is_owned(lock: _thread.RLock) -> bool:
    """Return whether the calling thread holds a lock."""
    owned: bool = lock._is_owned()  # type: ignore[attr-defined]  # which threading.Condition calls, too
    return owned


def let_go(lock: _thread.RLock) -> None:
    """Release a lock as often as the calling thread holds it."""
    while is_owned(lock):
        lock.release()


def in_link_thread[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that only the link's thread may call."""
    return _checked(function, _is_link_thread, "is called outside the link's thread")


def off_link_thread[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that the link's thread must not call."""
    return _checked(function, lambda: not _link_threads or not _is_link_thread(), "is called in the link's thread")


def under_lock[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that is called with the engine's lock held."""
    return _checked(function, _is_locked, "is called without the engine's lock")


def _checked[**P, T](function: Callable[P, T], holds: Callable[[], bool], complaint: str) -> Callable[P, T]:
    if not CHECKED:
        return function

    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not holds():
            raise MarkBroken(f"{function.__qualname__} {complaint}")
        return function(*args, **kwargs)

    checked.__wrapped__ = function  # type: ignore[attr-defined]  # read by `inspect`
    checked.__doc__ = function.__doc__
    checked.__name__, checked.__qualname__ = function.__name__, function.__qualname__
    return checked


def _is_link_thread() -> bool:
    return not _link_threads or _thread.get_ident() in _link_threads


def _is_locked() -> bool:
    return not _locks or any(map(is_owned, _locks))
