"""Known outcomes of exceptions, so that caught ones pass at once.

A program may raise and catch a hundred thousand exceptions in a second. `table` and `handlers` decide once where an
exception is caught; then the outcome for exceptions of that type is noted for each place on its way, which is a code
object, an instruction and a type. From then on they are followed from note to note, in C where there is C. A note that
depends on a name in a handler is valid as long as the name means the same object.

Where RAISE is watched by code object (`raises_are_local`), it is noted, too, in which of them it is of no use
(`raise_events`): there the callback returns DISABLE, and exceptions are looked at when they leave a frame.
"""

import _thread
import sys
from _weakref import ref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ..execution.monitor import DISABLE
from ..interpreter import limits, native
from ..interpreter.frame_locals import locals_of
from ..interpreter.safe_types import is_a, stored
from ..sources.imported_modules import names_of
from .handlers import LoadedName

type OnRaise = Callable[[CodeType, int, BaseException], object]
type Fate = int
PASSES: Final = 0
"""It leaves the frame."""
CATCHES: Final = 1
"""The frame catches it, or no filter asks for it."""
ENDS: Final = 2
"""Only the debugger is below that frame: an exception that arrives there is uncaught."""
UNSURE: Final = 3
"""To be looked at each time."""

# Instead of an instruction: the outcome of unwinding into some code, and the effect of its RAISE events
_UNWINDING: Final = -1
_RAISING: Final = -2
_DEEP: Final = 1  # in `target` of callbacks: handlers in older frames decide, too
_LOCAL: Final = 2  # RAISE is watched by code object

type RaiseSite = tuple[int, int, int]
"""Identities of code and type, and the instruction between them."""
type NameBinding = tuple[bool, str, str | None, bool, object]
"""A loaded name; whether its value is referred to weakly; the value or the reference."""
type Note = tuple[ref[CodeType], ref[type] | None, Fate, bool, tuple[NameBinding, ...]]

FRESH: Final = 0
PASSING: Final = 1
AGAIN: Final = 2


def origin_of(exception: BaseException, frame: FrameType) -> int:
    """Return whether an exception is new, comes from a call that a frame made, or was raised before."""
    traceback = stored(exception, "__traceback__")
    if traceback is None or traceback.tb_next is None:
        return FRESH
    inner = traceback.tb_next.tb_frame
    return PASSING if inner is not frame and inner.f_back is frame else AGAIN


class CatchCache:
    """The notes.

    Invariant: a thread that found something before `clear` notes nothing after it. Nothing of the program is
    kept alive but names, and tuples of classes that handlers name.
    """

    def __init__(self) -> None:
        self.generation = 0
        """Counts the calls of `clear`."""
        self.reported: set[int] = set()
        """Identities of exceptions that the program was stopped for, which are looked at wherever they come."""
        self._deep = False
        self.raises_are_local = False
        """Whether RAISE is watched by code object."""
        self.looks_late = False
        """Whether exceptions may come to PY_UNWIND that no event of RAISE has shown: from when RAISE was local on."""
        self._counts = False
        self._left = 0  # events of RAISE until it is busy; where there is C, its callback counts them
        self._notes: dict[RaiseSite, Note] = {}
        self._in_c: dict[str, native.NativeCallback] = {}
        self._changing = _thread.allocate_lock()

    def note(
        self,
        code: CodeType,
        offset: int,
        kind: type | None,
        outcome: Fate,
        *,
        generation: int,
        names: tuple[LoadedName, ...] = (),
        swallows: bool = False,
    ) -> None:
        """Note the outcome of exceptions of a type at an instruction, if it was found in the present era.

        `names` are the names on which it depends; `swallows` means that C code which this code calls may swallow them.
        """
        guards = tuple(map(_guard, names))
        with self._changing:
            if generation != self.generation:
                return
            if native.CAN_FOLLOW:
                count = native.note_place(code, offset, kind, outcome, swallows, guards)
            else:
                self._notes[id(code), offset, id(kind)] = (
                    ref(code),
                    ref(kind) if kind is not None else None,
                    outcome,
                    swallows,
                    guards,
                )
                count = len(self._notes)
        if count >= limits.KNOWN_RAISES:
            self.clear()

    def note_ordinary(self, code: CodeType, *, generation: int) -> None:
        """Note that a frame of this code is never the last one of a thread."""
        self.note(code, _UNWINDING, None, PASSES, generation=generation)

    def note_raises(self, code: CodeType, *, seen_later: bool) -> None:
        """Note whether RAISE is of no use in some code, because a later event shows its exceptions."""
        self.note(code, _RAISING, None, PASSES if seen_later else CATCHES, generation=self.generation)

    def unknown_from(self, frame: FrameType, offset: int, exception: BaseException) -> FrameType | None:
        """Return the frame, this one or an older one, from which on the outcome of an exception is not known.

        None if it is known that something catches it.
        """
        if not self._deep:
            return frame
        if native.CAN_FOLLOW:
            return native.unknown_from(frame, offset, exception)
        return self._unknown_from(frame, offset, exception, deep=True)

    def note_caught(self, exception: BaseException, frame: FrameType) -> None:
        """Note that a frame will catch an exception that is on its way; reraising it there changes nothing."""
        if self._deep and native.CAN_FOLLOW:
            native.note_caught(exception, frame)

    def clear(self, *, deep: bool | None = None) -> None:
        """Look at everything again; `deep` says whether handlers in older frames decide too."""
        with self._changing:
            self.generation += 1
            self._notes.clear()
            if native.CAN_FOLLOW:
                native.forget_places()
            if deep is not None:
                self._deep = deep
                self.raises_are_local = self.looks_late = False
                self._counts = deep
                self._left = limits.RAISES_WATCHED_EVERYWHERE
                self._set_callbacks()

    def watch_raises(self, *, by_code: bool) -> None:
        """Record that RAISE is watched by code object from now on, or everywhere again."""
        with self._changing:
            self.raises_are_local = by_code
            self.looks_late = True
            self._counts = False
            self._set_callbacks()

    def _set_callbacks(self) -> None:
        for event, callback in self._in_c.items():
            is_local = self.raises_are_local if event in ("RAISE", "PY_THROW") else self.looks_late
            callback.target = _DEEP * self._deep + _LOCAL * is_local
            callback.count = self._left if event == "RAISE" and self._counts else 0

    def is_busy(self) -> bool:
        """Say, once, whether so many exceptions were let pass that it pays to watch RAISE by code object."""
        if not self._counts:
            return False
        with self._changing:
            count = self._in_c["RAISE"].count if "RAISE" in self._in_c else self._left
            if count == 0:
                self._counts = False
        return count == 0

    # Callbacks: each calls `thorough` unless it is known that something catches the exception

    @property
    def depth(self) -> int:
        """How many calls of the debugger lie between the event and `thorough`, and one."""
        return 1 if native.CAN_FOLLOW else 2

    def on_raise(self, thorough: OnRaise) -> OnRaise:
        """Make the callback of RAISE."""
        if native.CAN_FOLLOW:
            return self._native("RAISE", thorough)

        def on_raise(code: CodeType, offset: int, exception: BaseException) -> object:
            frame = sys._getframe(1)
            if self.raises_are_local:
                note = self._found(code, _RAISING, None)
                if note is None:
                    return thorough(code, offset, exception)
                if note[2] == PASSES:
                    return DISABLE
            origin = origin_of(exception, frame) if self._deep else AGAIN
            is_busy = self._counts and self._left == 1
            self._left -= self._counts and self._left > 0
            if origin == PASSING and not is_busy:
                return None  # it was looked at where it was raised
            if not is_busy and self._unknown_from(frame, offset, exception, deep=origin == FRESH) is None:
                return None
            return thorough(code, offset, exception)

        return on_raise

    def on_reraise(self, thorough: OnRaise) -> OnRaise:
        """Make the callback of RERAISE."""
        if native.CAN_FOLLOW:
            return self._native("RERAISE", thorough)

        def on_reraise(code: CodeType, offset: int, exception: BaseException) -> object:
            if self._unknown_from(sys._getframe(1), offset, exception, deep=self._deep) is None:
                return None
            return thorough(code, offset, exception)

        return on_reraise

    def on_unwind(self, thorough: OnRaise) -> OnRaise:
        """Make the callback of PY_UNWIND, for when no step needs it."""
        if native.CAN_FOLLOW:
            return self._native("PY_UNWIND", thorough)

        def on_unwind(code: CodeType, offset: int, exception: BaseException) -> object:
            frame = sys._getframe(1)
            note = None if frame.f_back is None else self._found(frame.f_back.f_code, _UNWINDING, None)
            if note is None or note[2] != PASSES:
                return thorough(code, offset, exception)
            if not self.looks_late or origin_of(exception, frame) == PASSING:
                return None
            raises = self._found(code, _RAISING, None)
            if raises is not None and raises[2] == CATCHES:
                return None  # its RAISE was looked at
            if self._unknown_from(frame, offset, exception, deep=True) is None:
                return None
            return thorough(code, offset, exception)

        return on_unwind

    def on_throw(self, thorough: OnRaise) -> OnRaise:
        """Make the callback of PY_THROW, of use while RAISE is watched by code object."""
        if native.CAN_FOLLOW:
            return self._native("PY_THROW", thorough)

        def on_throw(code: CodeType, offset: int, exception: BaseException) -> object:
            is_met = not self.raises_are_local or self._found(code, _RAISING, None) is not None
            return None if is_met else thorough(code, offset, exception)

        return on_throw

    def _native(self, event: str, thorough: OnRaise) -> OnRaise:
        callback = native.raise_callback(event, thorough, self.reported)
        self._in_c[event] = callback
        self._set_callbacks()
        return callback

    # The same as in C, if the extension is missing

    def _unknown_from(
        self, newest: FrameType, offset: int, exception: BaseException, *, deep: bool
    ) -> FrameType | None:
        frame = newest
        while id(exception) not in self.reported:
            note = self._found(frame.f_code, offset, type(exception))
            if note is None or note[2] in (ENDS, UNSURE) or not all(_holds(guard, frame) for guard in note[4]):
                break
            if note[2] == CATCHES or (note[3] and frame is not newest):
                return None
            if not deep or frame.f_back is None:
                break
            frame = frame.f_back
            offset = frame.f_lasti
        return frame

    def _found(self, code: CodeType, offset: int, kind: type | None) -> Note | None:
        note = self._notes.get((id(code), offset, id(kind)))
        if note is None or note[0]() is not code or (note[1] is not None and note[1]() is not kind):
            return None
        return note


def _guard(loaded: LoadedName) -> NameBinding:
    is_weak = is_a(loaded.value, type)
    return (
        loaded.is_local,
        loaded.name,
        loaded.attribute,
        is_weak,
        ref(loaded.value) if is_weak else loaded.value,
    )


def _holds(guard: NameBinding, frame: FrameType) -> bool:
    is_local, name, attribute, is_weak, expected = guard
    for names in (locals_of(frame),) if is_local else (frame.f_globals, frame.f_builtins):
        if name in names:
            value = names[name] if attribute is None else (names_of(names[name]) or {}).get(attribute)
            return value is (expected() if is_weak else expected)  # type: ignore[operator]  # a weak reference
    return False
