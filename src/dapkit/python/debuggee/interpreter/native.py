"""The C extension `_native`, or the reason why it is missing; the only module that knows.

It is one file, `_native.abi3.so`, beside this one: built when the package is installed, if there
is a compiler, and loadable into every CPython from 3.12 on, whichever dapkit itself runs on. Free-threaded builds have
files of their own: `_native.abi3t.so` from 3.15 on, one for each version before.
A caller that gets None instead of a callback does the same in Python, more slowly.

`native/` describes each function of the extension; docs/explanation/native.md gives the costs of callbacks, and the
changes that a watch cannot see.
"""

import atexit
import gc
import itertools
import os
import sys
import types
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from .safe_types import is_a, names_in_class, replace_dict, stored_dict

IS_FREE_THREADED: Final = "t" in getattr(sys, "abiflags", "")
"""Whether this interpreter is a free-threaded build, also while its GIL is on."""

try:
    from .. import _native
except ImportError as _error:  # no compiler was at hand, or this interpreter cannot load the file
    AVAILABLE = False
    REASON = f"the C extension cannot be loaded ({_error}); was dapkit installed where there is a C compiler?"
    _ABSENT: tuple[str, ...] = ()
else:
    AVAILABLE = True
    REASON = ""
    _ABSENT = tuple(_native.ABSENT_FUNCTIONS)
    atexit.register(_native.unwatch_all)  # a watcher must not outlive the dicts of the interpreter

CAN_CHECK: Final = AVAILABLE and not any(name.startswith("PyFrame_") for name in _ABSENT)
"""Whether breakpoints can be checked in C."""
CAN_WATCH: Final = AVAILABLE and not any(name.startswith("PyDict_") for name in _ABSENT)
"""Whether entries of dicts can be watched; not without a GIL, where the watcher would stop the world amid a change."""
CAN_FOLLOW: Final = AVAILABLE and not any(name.startswith(("PyFrame_", "PyWeakref_")) for name in _ABSENT)
"""Whether exceptions can be followed to where they are caught."""
CAN_POLL: Final = AVAILABLE
"""Whether values can be compared at every line."""
IS_WHOLE: Final = AVAILABLE and hasattr(_native, "look_at_start")
"""Whether the extension has the parts about descriptors and starts of programs; not on Windows, which has others."""
MISSING: Final = _native.MISSING if AVAILABLE else object()
"""The value of a place without a value, in the changes that `poll` and `drain` report."""

untrack: Final[Callable[[object, bool], bool]] = _native.untrack if AVAILABLE else (lambda _object, _keep: False)
"""Takes an object out of the garbage collector's lists; keeps it alive if asked to; returns whether it was there."""

track: Final[Callable[[object], None]] = _native.track if AVAILABLE else (lambda _object: None)
"""Lets the garbage collector look at an object again."""


def _ended_frame(_first: object, _second: object, _third: object) -> FrameType:
    return sys._getframe()


def _find_locals(first: object, second: object, third: object) -> bool:
    frame = _ended_frame(first, second, third)
    return AVAILABLE and _native.find_locals(frame, frame.__sizeof__(), frame.f_code, first, second, third)


FINDS_LOCALS: Final = _find_locals(object(), object(), object())
"""Whether conditions read local variables where frames keep them, and need not compare names."""

local_variable: Final[Callable[[FrameType, str], object] | None] = _native.local_variable if CAN_CHECK else None
"""Returns a local variable of a function's frame, or raises NameError; quicker than `f_locals`, and without a trace."""
stored_at: Final[Callable[[FrameType, int], object]] = (
    _native.stored_at if FINDS_LOCALS else (lambda _frame, _index: None)
)
"""Returns the value of a variable, or its cell, by its index in the frame; None if that is not known."""
current_frames: Final[Callable[[], dict[int, FrameType]]] = (
    _native.newest_frames if AVAILABLE and _native.CAN_LIST_FRAMES else sys._current_frames
)
"""Returns the newest frame of each thread; from C of this interpreter alone, and without an audit event."""
HAS_ROOM: Final = AVAILABLE and _native.ROOM > 0
"""Whether callbacks have room of their own near the recursion limit."""
SKIPPED_EVENTS: Final[list[tuple[CodeType, int]]] = _native.SKIPPED_EVENTS if AVAILABLE else []
"""Where there was no room for a callback: code, and line or offset; no more than a thousand."""
_CALLBACK = _native.Callback if AVAILABLE else type(None)

type Tree = tuple[object, ...]
"""An expression, as nested tuples `(kind, operand, *children)`; `native/condition.c` lists the kinds."""

type NameBinding = tuple[bool, str, str | None, bool, object]
"""A name that must have its earlier meaning: `exceptions/catch_cache.py` has more."""

type Hits = tuple[str, int]
"""How the number of hits is compared: `("==", 5)`, `(">=", 5)`, `("%", 3)`, ..."""

type NativeCallback = "_native.Callback"

type Table = dict[int, tuple[CodeType | None, Callable[..., object]]]
"""The callbacks of lines, each with the code object that it is for; None for any."""


# Calls


def with_headroom[**P, T](callback: Callable[P, T]) -> Callable[P, T]:
    """Return a callback that can be called where the recursion limit leaves no room for it.

    Those that C has made need none. It is noted in `SKIPPED_EVENTS` if a callback fails for want of room all the same.
    """
    return _native.with_headroom(callback) if AVAILABLE and type(callback) is not _CALLBACK else callback


def is_callback(callback: object) -> bool:
    """Return whether a callback was made in C, so that no other thread runs between its decision and its return."""
    return AVAILABLE and type(callback) is _CALLBACK


def uncount_calls(number: int) -> None:
    """Let the calling thread nest so many more calls than the limit says."""
    if AVAILABLE:
        _native.uncount_calls(number)


def hide(code: CodeType, samples: list[tuple[CodeType, int]]) -> bool:
    """Let the frame of a running code object be seen no more; return whether it is so."""
    return AVAILABLE and _native.hide(code, len(code.co_code) // 2 - 1, *samples)


def hide_from_tools() -> None:
    """Turn off all tools of sys.monitoring, tracers and profilers in this thread, for as long as it lives."""
    if AVAILABLE:
        _native.enter_tracing()


def raise_in_thread(ident: int, exception: type[BaseException] | None) -> bool:
    """Raise an exception in a thread at its next instruction, or withdraw it; false if we cannot."""
    if AVAILABLE:
        _native.raise_in_thread(ident, exception)
    return AVAILABLE


def duplicate_above_limit(descriptor: int, *, most: int, count: int) -> int:
    """Duplicate a descriptor above the soft limit, up to which programs close "all" of them; -1 if that cannot be.

    The limit may be `most`, and the hard one must be higher by `count`.
    """
    return _native.duplicate_above_limit(descriptor, most, count) if IS_WHOLE else -1


def file_identity(descriptor: int) -> tuple[int, int]:
    """Return device and inode of a descriptor's file; in C without a wait for other threads.

    Raises:
        OSError: it is not open.

    """
    if IS_WHOLE:
        return _native.file_identity(descriptor)
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


type OutputMarker = Callable[[list[tuple[str, dict[str, object], int, int, int]], str, dict[str, object]], int]
"""Adds a log message to a list, with its number and the marks of the pipes that it is behind; returns how many wait."""


def output_marker(
    path: str, memory: tuple[int, int], pipes: list[tuple[int, int]], begins: bytes
) -> OutputMarker | None:
    """Make the function that marks the adapter's pipes only if they were written to since their last marks.

    None without the extension, or where the path does not lead to the memory that the adapter shares.
    """
    try:
        return _native.output_marker(path, memory, pipes[0], pipes[1], begins) if IS_WHOLE else None  # type: ignore[return-value]  # a Callback is called in many ways
    except OSError:  # the adapter is in another container, or belongs to another user
        return None


# Children


def look_at_start(name: str, function: object, look: Callable[..., object]) -> bool:
    """Call `look(arguments, names)` before a function that starts programs; return whether that is possible.

    It returns the arguments that are to be used instead, or None.
    """
    return IS_WHOLE and _native.look_at_start(name, function, look)


def environment() -> list[bytes] | None:
    """Return the environment of this process as lines, None where that is not known."""
    return _native.environment() if IS_WHOLE else None


# Breakpoints


def counter() -> Callable[[], int]:
    """Return a function that returns 1, 2, 3 and so on; `line_check` counts with it too."""
    if AVAILABLE:
        return _native.counter()  # type: ignore[return-value]  # a Callback is called in many ways, a counter in one
    return itertools.count(1).__next__


def line_check(
    code: CodeType,
    line: int,
    *,
    condition: Tree | None,
    hits: Hits | None,
    count: Callable[[], int],
    hit: Callable[[FrameType, CodeType, int], object],
    careful: Callable[[FrameType], object],
) -> Callable[..., object] | None:
    """Make the LINE callback of a breakpoint with a condition or a hit condition, `(code, line, depth=1)`.

    It returns DISABLE for other lines, None if the breakpoint does not apply, or the result of `hit`. If evaluating the
    condition raises, `careful(frame)` does everything, counting included. None if there is nothing to check, or nothing
    that C can check.
    """
    if not CAN_CHECK or (condition is None and hits is None):
        return None
    try:
        return _native.line_check(code, line, condition, hits, count, with_headroom(hit), with_headroom(careful))  # type: ignore[arg-type]  # as above
    except (ValueError, OverflowError):
        return None  # nested too deep, or a count beyond the range of C


def router(table: Table) -> Callable[[CodeType, int], object] | None:
    """Make the LINE callback that finds `table[line] = (code, callback)`, and calls `callback(code, line)`.

    DISABLE for lines that are not in the table, and for other code, unless the one in the table is None.
    """
    return _native.router(table) if AVAILABLE else None


# Signals


def interruptible(
    callback: Callable[..., object], comes_again: Callable[[BaseException], bool]
) -> Callable[..., object]:
    """Make a callback that raises no KeyboardInterrupt which `comes_again`: the signal is pending once more then."""
    return _native.interruptible(callback, comes_again) if AVAILABLE else callback


# Exceptions


def note_place(  # noqa: PLR0917 - as C takes it
    code: CodeType,
    offset: int,
    kind: type | None,
    outcome: int,
    swallows: bool,
    guards: tuple[NameBinding, ...],
) -> int:
    """Note the outcome of exceptions of a type at an instruction; return the number of noted places."""
    return _native.note_place(code, offset, kind, outcome, swallows, guards)


def forget_places() -> None:
    """Forget all that `note_place` noted."""
    _native.forget_places()


def unknown_from(frame: FrameType, offset: int, exception: BaseException) -> FrameType | None:
    """Return the frame from which on the notes do not tell the outcome of an exception; None if it is caught."""
    return _native.unknown_from(frame, offset, exception)


def note_caught(exception: BaseException, frame: FrameType) -> None:
    """Note that a frame of the calling thread will catch the exception that was raised last."""
    _native.note_caught(exception, frame)


def raise_callback(
    event: str, thorough: Callable[[CodeType, int, BaseException], object], reported: set[int]
) -> "_native.Callback":
    """Make the callback of RAISE, RERAISE or PY_UNWIND that calls `thorough` where the notes do not say it is caught.

    The notes of older frames count too if its `target` is not 0. The callback of PY_THROW calls `thorough` in code of
    which it is not noted whether RAISE is of use.
    """
    return _native.raise_callback(event, thorough, reported)  # type: ignore[arg-type]  # it knows the four


# Data breakpoints


def watch[K, V](namespace: dict[K, V], key: object) -> int:
    """Take notes of the writes of one entry of a dict; return the number of the watch.

    A write that leaves the same object in place does not count. Ends when the dict ends, which is the last note,
    or by `unwatch`.

    Raises:
        TypeError: if keys like this one are compared by Python code, which a watcher must not run.

    """
    return _native.watch(namespace, key)


def unwatch(number: int) -> None:
    """End one watch; its notes stay until they are drained."""
    _native.unwatch(number)


def unwatch_all() -> None:
    """End all watches and forget their notes and their events."""
    _native.unwatch_all()


def is_alive(number: int) -> bool:
    """Return whether the dict of a watch still exists."""
    return _native.watch_state(number)[0]


def writes(number: int) -> int:
    """Return how many writes a watch has seen, those that `drain` could not keep included."""
    return _native.watch_state(number)[1]


def arm_writers(tool: int, events: int, codes: list[CodeType]) -> None:
    """Let each write turn on local events of a tool in the code that writes, INSTRUCTION among them.

    So the callback of INSTRUCTION is reached at the next instruction of the frame that wrote, also where
    DISABLE had switched it off. Code objects in `codes` are taken to have the events on; those that get them are
    added there. The callback drains, and then calls `disarm_writers`.
    """
    _native.arm_writers(tool, events, codes, sys.monitoring.set_local_events)


def disarm_writers(others: dict[int, int]) -> bool:
    """Set the local events of all code objects in `codes` back to the events that `others` has by identity, or none.

    Empty it.

    False, and nothing is done, if there are notes that have not been drained.
    """
    return _native.disarm_writers(others)


def drain() -> tuple[list[tuple[int, int, object, object]], int]:
    """Take the notes, oldest first: (watch, identity of the thread, old, new), and how many more there were."""
    return _native.drain()


INLINE_VALUES_ARE_SILENT: Final = sys.version_info[:3] == (3, 13, 0)
"""Whether watchers are not called for writes to values that are stored in an instance (python/cpython#125608)."""


def namespace_of(owner: object) -> dict[object, object] | None:
    """Return the dict that holds the attributes of an object, so that watching it sees every write.

    None if it has no dict, as with slots. On 3.13.0 an instance gets a new `__dict__`, equal to the old:
    watchers are not called there for writes to values that are stored in the instance itself.
    """
    if is_a(owner, type):
        behind_proxy = gc.get_referents(names_in_class(owner))
        [of_class] = [referent for referent in behind_proxy if type(referent) is dict]
        return of_class
    namespace: dict[object, object] | None = stored_dict(owner)  # type: ignore[assignment]  # its keys are mostly texts
    if type(namespace) is not dict:
        return None
    if INLINE_VALUES_ARE_SILENT and not is_a(owner, types.ModuleType, types.FunctionType):
        namespace = dict(namespace)
        replace_dict(owner, namespace)
    return namespace


def poll(
    targets: "tuple[_native.Target, ...]",
    changed: Callable[[CodeType, int, list[tuple[int, object, object]]], object],
) -> Callable[[CodeType, int], object]:
    """Make a LINE callback that calls `changed(code, line, [(index of the target, old, new), ...])`.

    For places outside any dict: `("slot", object, descriptor)` with the member of a class with slots or
    `type(cell).cell_contents`, `("index", list, index)`, `("bytes", buffer, start, length)`; and `("key", dict, key)`
    for keys that cannot be watched. It never returns DISABLE, so it needs a tool of its own. Values are compared by
    identity, bytes by content.
    """
    return _native.poll(targets, with_headroom(changed))


def clock(arrive: Callable[..., object]) -> "_native.Callback":
    """Make a callback that counts events in `count`, and calls `arrive(...)` at the event `target`."""
    return _native.clock(arrive)
