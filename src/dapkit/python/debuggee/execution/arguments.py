"""The arguments of functions: needed to restart them, and known without watching every call.

A parameter that its function never assigns to has its original value. Of the others, these are known:

* where the function stops before it can have assigned to them, and later on in that frame;
* in calls that begin after the function has stopped, as long as it holds a breakpoint: they are noted. That costs
  some microseconds each, so only `limits.NOTED_CALLS` are after each stop;
* where the call names them in a way that gives the same again (`argument_recovery`).

Nowhere else: a computed argument is handed over, and not kept anywhere. Neither do we: of an object whose end
the program could notice we remember only which it was, and it is known as long as it lives.
"""

from collections.abc import Callable
from types import CodeType, FrameType

from ..bytecode.instructions import handlers_of, instructions
from ..interpreter import limits
from ..interpreter.frame_locals import locals_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import all_frames
from ..interpreter.weak_values import COLLECTED, weak_getter
from ..sources.files import is_function, resume_offset
from .monitor import EVENTS, Monitor

_CALLS = EVENTS.PY_START | EVENTS.PY_RETURN
_MAY_BE_SUSPENDED = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_BACKWARD = ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
_STORES = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF", "STORE_FAST_MAYBE_NULL", "LOAD_FAST_AND_CLEAR")
_DOUBLE_STORES = ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
"""Of two variables at once, since 3.13; their numbers have four bits each."""

type Values = dict[str, object]


class _Seen:
    """The arguments of one frame, as far as they were seen."""

    __slots__ = ("_finders", "code")

    def __init__(self, code: CodeType, values: Values) -> None:
        self.code = code
        pairs = ((name, weak_getter(value)) for name, value in values.items())
        self._finders = {name: find for name, find in pairs if find is not None}

    @property
    def values(self) -> Values:
        """Those that still are."""
        values = {name: find() for name, find in self._finders.items()}
        return {name: value for name, value in values.items() if value is not COLLECTED}


class ParameterStores:
    """Where a function assigns to its parameters, and where it goes back in its code."""

    def __init__(self, code: CodeType) -> None:
        untrack(self)
        self.code = code  # kept alive, so that its id stays its own
        self.offsets: dict[str, list[int]] = {}
        self._back: list[tuple[int, int]] = []  # from where to where
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        parameters = code.co_varnames[:count]
        if not parameters:
            return
        reads = self._read(code)
        self.offsets = {name: reads[name] for name in parameters if name in reads}
        self._back += [(end, handler) for _, end, handler in handlers_of(code) if handler < end]

    def _read(self, code: CodeType) -> dict[str, list[int]]:
        name_of: Callable[[int], str] = getattr(code, "_varname_from_oparg")  # noqa: B009 - not in the typed library
        by_name: dict[str, list[int]] = {}
        for offset, operation, argument in instructions(code):
            if operation in _STORES:
                by_name.setdefault(name_of(argument), []).append(offset)
            elif operation in _DOUBLE_STORES:
                for number in (argument >> 4, argument & 15):
                    by_name.setdefault(name_of(number), []).append(offset)
            elif operation in _BACKWARD:  # counted from behind its cache, if it has one
                self._back.append((offset, offset + 2 - 2 * argument))
        return by_name

    def may_precede(self, name: str, offset: int) -> bool:
        """Return whether a parameter may have been assigned to when an instruction is about to be executed."""
        return any(store < offset or self._lowest_after(store) <= offset for store in self.offsets.get(name, ()))

    def _lowest_after(self, offset: int) -> int:
        """Return the first instruction that may be executed after another one, taking every way back."""
        lowest, before = offset, -1
        while lowest != before:
            before = lowest
            lowest = min([lowest, *(target for source, target in self._back if source >= lowest)])
        return lowest


class KnownArguments:
    """Arguments of frames that may be restarted.

    Invariant: `kept` has at most `limits.KNOWN_ARGUMENTS` frames, by identity. The starts of their code are watched, so
    that a later frame of the same identity takes the place of one that an exception has ended.

    Attributes:
        watched: code of which every call is looked at, by its identity, and the offset at which its calls begin.

    """

    def __init__(self, monitor: Monitor, recovered: Callable[[FrameType, list[str]], Values]) -> None:
        self._monitor = monitor
        self._recovered = recovered
        self._left = 0  # calls that may still be noted before the next stop
        self._stores: dict[int, ParameterStores] = {}  # by id: a code object's own hash is slow
        self.kept: dict[int, _Seen] = {}
        self.watched: dict[int, tuple[CodeType, int]] = {}
        self._noted: set[int] = set()  # identities of that code whose every call is kept

    # At a stop

    @under_lock
    def stop(self, frame: FrameType, *, in_breakpoint: bool) -> None:
        """Keep the remaining arguments of a frame that stops.

        `in_breakpoint` says whether its code holds a breakpoint.
        """
        code = frame.f_code
        self._left = limits.NOTED_CALLS
        if not is_function(code) or not self.assigned(code):
            return
        self._drop_ended()
        stores = self._stores[id(code)]
        intact = [name for name in stores.offsets if not stores.may_precede(name, frame.f_lasti)]
        if intact and id(frame) not in self.kept:
            self._keep(frame, intact)
        if in_breakpoint:
            self._noted.add(id(code))
        self._settle(code)

    def _drop_ended(self) -> None:
        """Forget frames that ended unseen, if there are any."""
        living = _living()
        self.kept = {
            key: seen_frame
            for key, seen_frame in self.kept.items()
            if key in living or seen_frame.code.co_flags & _MAY_BE_SUSPENDED
        }

    @under_lock
    def forget_calls(self, still: Callable[[CodeType], bool]) -> None:
        """Note no calls any more of code that holds no breakpoint."""
        for code, _ in list(self.watched.values()):
            if not still(code):
                self._noted.discard(id(code))
                self._settle(code)

    # While the program runs

    @under_lock
    def begin(self, frame: FrameType) -> None:
        """Keep the arguments of a call, if the arguments of its code are noted."""
        code = frame.f_code
        self._left -= 1
        if self._left < 0:
            self.kept.clear()
            self.forget_calls(lambda _: False)
        elif id(code) in self._noted:
            self._keep(frame, list(self._stores[id(code)].offsets))
        else:
            self.leave(frame)

    def _keep(self, frame: FrameType, names: list[str]) -> None:
        while len(self.kept) >= limits.KNOWN_ARGUMENTS:
            del self.kept[next(iter(self.kept))]
        values = locals_of(frame)
        values_by_name = {name: values[name] for name in names if name in values}
        self.kept[id(frame)] = _Seen(frame.f_code, values_by_name)

    @under_lock
    def leave(self, frame: FrameType) -> None:
        """Forget a frame: it has returned."""
        if self.kept.pop(id(frame), None) is not None and id(frame.f_code) not in self._noted:
            self._settle(frame.f_code)

    def _settle(self, code: CodeType) -> None:
        """Watch the needed events of a code object."""
        is_needed = id(code) in self._noted or any(seen_frame.code is code for seen_frame in self.kept.values())
        if is_needed and id(code) not in self.watched:
            self.watched[id(code)] = code, resume_offset(code)
            self._monitor.want(code, "arguments", _CALLS)
            self._monitor.restart()  # that it starts was of no interest before
        elif not is_needed and id(code) in self.watched:
            del self.watched[id(code)]
            self._monitor.want(code, "arguments", 0)

    # The known arguments

    def known(self, frame: FrameType) -> Values | None:
        """Return the arguments to restore when a frame is restarted, None if they are not known."""
        names = self.assigned(frame.f_code)
        if not names:
            return {}
        frame_arguments = self.kept.get(id(frame))
        values = frame_arguments.values if frame_arguments is not None and frame_arguments.code is frame.f_code else {}
        missing = [name for name in names if name not in values]
        if missing:
            values |= self._recovered(frame, missing)
        return values if all(name in values for name in names) else None

    def assigned(self, code: CodeType) -> list[str]:
        """Return the parameters that a function assigns to."""
        offsets = self._stores.get(id(code))
        if offsets is None:
            offsets = self._stores[id(code)] = ParameterStores(code)
        return list(offsets.offsets)


def _living() -> dict[int, FrameType]:
    """Return all frames that are being executed, by identity."""
    return {id(frame): frame for frame in all_frames()}
