"""The engine's place in sys.monitoring: which code objects report which events.

Everything here follows from facts of CPython 3.12 to 3.15:

* DISABLE switches one event off at one instruction, until the events of that code object
  are taken away and set again (or `restart_events`, which is global to all tools).
* PY_UNWIND, RAISE and RERAISE can only be watched globally up to 3.14; watching them costs nothing until they happen.
* From 3.15 on these, EXCEPTION_HANDLED and PY_THROW are local events as well. DISABLE then ends one for its whole code
  object, until `set_local_events` sets it there again, and not until `restart_events`. Where an event is watched
  globally, too, DISABLE has no effect on that.
* From 3.13 on, a function on one line reports LINE only while PY_START is on there too.
* Up to 3.13 `free_tool_id` leaves events and callbacks behind, so they are cleared by hand; from 3.14 on it removes
  them.
* When two tools come to share an event in a code object, the INSTRUCTION events that one of them has there are lost,
  unless two shared one before. So while starts are watched everywhere, a companion watches them too, a second tool that
  does nothing; from 3.15 on, while anything is watched everywhere, both watch PY_THROW. Otherwise we let two tools
  come for a moment before we watch INSTRUCTION. It is not only our events that are lost: `sys.settrace` is a tool as
  well, and `pdb.set_trace` of 3.13 and later stops with INSTRUCTION.

`callbacks` decides the meaning of the events.
"""

import sys
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from types import CodeType
from typing import Final

from ..interpreter import hidden_frames, native
from ..interpreter.errors import RequestRefused
from ..interpreter.hidden_frames import allocate_events
from ..interpreter.log import LOG, code_name, write
from ..interpreter.recursion_headroom import with_headroom
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import all_frames

_MONITORING = sys.monitoring
EVENTS = _MONITORING.events
DISABLE: Final = _MONITORING.DISABLE
_TOOL: Final = 4
"""Of six. Tool 0 is meant for debuggers: pdb takes it from Python 3.14 on, inside of the program.

Tool 1 is meant for coverage, tool 2 for profilers, and Hypothesis takes tool 3.
"""

_SPARE: Final = 3
"""It is taken only while there are data breakpoints, and no better number is free."""

_NAME: Final = "dapkit"
_COMPANION_NAME: Final = "dapkit's companion"

HAS_LOCAL_EXCEPTION_EVENTS: Final = sys.version_info >= (3, 15)
"""Whether RAISE, RERAISE, PY_UNWIND, PY_THROW and EXCEPTION_HANDLED can be watched in one code object (gh-142186)."""

_COMPANION: Final = _MONITORING.OPTIMIZER_ID
ACCOMPANIED: Final = EVENTS.PY_THROW if HAS_LOCAL_EXCEPTION_EVENTS else EVENTS.PY_START
"""The event that the companion shares with us, so that INSTRUCTION events outlive the coming of other tools.

Where exceptions are local events, watching them is sharing, too; a throw into a generator is the rarest of them.
"""

DISCOVERY: Final = EVENTS.PY_START | EVENTS.PY_RESUME
"""Every code object is looked at once, when it first runs; then DISABLE."""
HOLD: Final = DISCOVERY | EVENTS.LINE | EVENTS.JUMP | EVENTS.PY_RETURN | EVENTS.PY_YIELD
"""The event by which running threads notice that the program is stopped.

JUMP for loops on one line; PY_RETURN for recursion through code whose lines are disabled.
"""
STEP: Final = EVENTS.LINE | EVENTS.PY_RETURN | EVENTS.PY_YIELD
"""Events in the code that is stepped."""
SITE: Final = EVENTS.LINE | EVENTS.PY_START
"""Events in code that holds a breakpoint."""

type Owner = str
"""Owners of the events of a code object: `site`, `step` or `thread`."""


class Monitor:
    """The tool `dapkit` of sys.monitoring.

    Invariant: the local events of a code object are the union of its owners' events, and RAISE in each code object that
    was met while `meets_raises`; the global ones are the union of the arguments of `also`. While DISCOVERY is among
    them, or from 3.15 on any, the companion is there, if there is a tool for it.
    """

    def __init__(self) -> None:
        self._wanted: dict[int, tuple[CodeType, dict[Owner, int]]] = {}  # by id: a code object's own hash is slow
        self._shared: dict[int, CodeType] = {}  # where INSTRUCTION events outlive the coming of other tools
        self._also: dict[Owner, int] = {}
        self._global = 0
        self.meets_raises = False
        """Whether RAISE is watched in each code object that `bind_new_code` is given, and not everywhere."""
        self._accompanied = False
        self._has_clock = False
        self._number = _TOOL
        self.spare_tools: tuple[int, ...] = (_COMPANION, _SPARE)
        """The numbers for a second tool of ours, the better one first: no Python library takes the optimizers' number.

        With time travel its clock has that one.
        """
        self._callback_wrapper: Callable[[Callable[..., object]], Callable[..., object]] = _as_it_is
        self._callbacks: dict[int, Callable[..., object]] = {}
        self._chosen: dict[int, Callable[..., object]] = {}
        self._thorough: dict[int, Callable[..., object]] = {}
        self.active = False
        self.epoch = 0
        """Another number each time that events are switched on.

        A callback that began before must not return DISABLE: it would switch off an event that is wanted by now.
        """

    def claim(self) -> None:
        """Take the tool id.

        Raises:
            RequestRefused: if another tool has it.

        """
        try:
            _MONITORING.use_tool_id(self._number, _NAME)
        except ValueError as error:
            holder = _MONITORING.get_tool(self._number)
            raise RequestRefused(
                f"tool {self._number} of sys.monitoring, which the debugger needs, is in use by another ({holder})"
            ) from error
        self.active = True
        self._expect_events()

    def accompanied_by_clock(self, callback_wrapper: Callable[[Callable[..., object]], Callable[..., object]]) -> None:
        """Record that the clock of time travel watches all starts, as a companion does; so do we then, all the time.

        `callback_wrapper` wraps callbacks so that their system calls are not taken for the program's.
        """
        self.spare_tools = (_SPARE,)
        self._has_clock = True
        self._callback_wrapper = callback_wrapper

    def register(self, callbacks: dict[int, Callable[..., object]]) -> None:
        """Set the callbacks, by event, of all events but LINE, INSTRUCTION and PY_UNWIND."""
        self._callbacks |= callbacks
        for event, callback in callbacks.items():
            self.register_callback(self._number, event, callback)

    def register_callback(self, tool: int, event: int, callback: Callable[..., object] | None) -> None:
        """Set the callback of one event of a tool of the debugger."""
        prepared = None if callback is None else self._callback_wrapper(with_headroom(callback))
        _MONITORING.register_callback(tool, event, prepared)

    def set_thorough(self, callbacks: dict[int, Callable[..., object]]) -> None:
        """Set the callbacks of LINE and INSTRUCTION that serve in every state of the engine.

        They take over whenever more events are switched on, until `register_one` chooses others. The previous callback
        does not know the new events, and a running thread could meet it: the DISABLE that it returns would hide a
        breakpoint, or the line of a step, for good.
        """
        self._thorough = callbacks

    @under_lock
    def register_one(self, event: int, callback: Callable[..., object]) -> None:
        """Set the callback of LINE, INSTRUCTION or PY_UNWIND."""
        if callback is not self._chosen.get(event):
            self._chosen[event] = callback
            self.register_callback(self._number, event, callback)

    @under_lock
    def also(self, owner: Owner, events: int) -> None:
        """Watch these events everywhere for one owner, 0 for none."""
        self._also[owner] = events
        if LOG:
            write("events", f"everywhere: {owner} {names_of(events)}")
        self._apply_global()

    @under_lock
    def discover(self, owner: Owner) -> None:
        """Look at every code object when it next runs, for one owner: also those looked at before."""
        self._also[owner] = self._also.get(owner, 0) | DISCOVERY
        if self.active:
            self.epoch += 1
            if LOG:
                write("events", f"everywhere: all that was switched off is on again, for {owner}")
            self._apply_global()
            _MONITORING.restart_events()

    @under_lock
    def restart(self) -> None:
        """Turn on again all events that DISABLE has turned off.

        For global events that is not possible for one code object alone.
        """
        if self.active:
            self.epoch += 1
            _MONITORING.restart_events()

    @under_lock
    def watch_raises_where_met(self) -> None:
        """Watch RAISE in the code of each frame that is executed now, and in all code when it next starts or resumes.

        A suspended generator does not resume when an exception is thrown into it. PY_THROW comes then, before RAISE.
        """
        if not self.active:
            return
        self.meets_raises = True
        self.discover("raises")
        for frame in all_frames():
            self.bind_new_code(frame.f_code)

    @under_lock
    def bind_new_code(self, code: CodeType) -> None:
        """Watch RAISE in a code object, as `watch_raises_where_met` said."""
        if self.active and self.meets_raises and id(code) not in hidden_frames.CODES:
            _, owners = self._wanted.get(id(code), (code, {}))
            _MONITORING.set_local_events(self._number, code, self._union(owners))

    @under_lock
    def meet_no_more(self) -> None:
        """Leave it to others to watch RAISE. Where it is on, events come until their callback returns DISABLE."""
        self.meets_raises = False
        self.also("raises", 0)

    def _serve_thoroughly(self, events: int) -> None:
        self.epoch += 1
        for event, callback in self._thorough.items():
            if events & event:
                self.register_one(event, callback)

    def _apply_global(self) -> None:
        if not self.active:
            return
        events = (
            EVENTS.PY_START if self._has_clock else 0
        )  # else others' INSTRUCTION events are lost where it counts lines
        for owner_events in self._also.values():
            events |= owner_events
        if events and HAS_LOCAL_EXCEPTION_EVENTS:
            events |= ACCOMPANIED
        if events != self._global:
            self._serve_thoroughly(events & ~self._global)
            self._global = events
            if events & ACCOMPANIED:
                self._call_companion()
            else:
                self._dismiss_companion()
            _MONITORING.set_events(self._number, events)

    def _call_companion(self) -> None:
        if self._accompanied or self._has_clock:
            return
        try:
            _MONITORING.use_tool_id(_COMPANION, _COMPANION_NAME)
        except ValueError:
            return
        self._accompanied = True
        if not HAS_LOCAL_EXCEPTION_EVENTS:
            _MONITORING.register_callback(_COMPANION, ACCOMPANIED, native.router({}) or _disable)
        _MONITORING.set_events(_COMPANION, ACCOMPANIED)

    @under_lock
    def take_spare_tool(self, name: str) -> int:
        """Take a second tool, and return its number, -1 if none is free. The companion makes room for it.

        Where several tools watch an event, the one of the highest number is called first: so the second tool has the
        higher one of the two numbers.
        """
        self._dismiss_companion()
        for number in self.spare_tools:
            try:
                _MONITORING.use_tool_id(number, name if number > self._number else _NAME)
            except ValueError:
                continue
            return number if number > self._number else self._exchange(number)
        return -1

    @under_lock
    def free_spare_tool(self, number: int) -> None:
        """Give a second tool back; the companion may have its number again."""
        _MONITORING.free_tool_id(self._exchange(number) if self.active and self._number != _TOOL else number)
        if self.active and self._global & ACCOMPANIED:
            self._call_companion()

    def _exchange(self, number: int) -> int:
        """Take another number from here on, which was taken for us; return the one that we had, which stays taken."""
        before = self._number
        self._turn_off()
        self._number = number
        self._expect_events()
        self._turn_on()
        return before

    def _expect_events(self) -> None:
        if HAS_LOCAL_EXCEPTION_EVENTS:
            allocate_events(partial(_set_no_events, self._number))  # it is kept for good, and we are not

    def _turn_off(self) -> None:
        """Watch nothing."""
        _MONITORING.set_events(self._number, 0)
        for code, _ in list(self._wanted.values()):
            _MONITORING.set_local_events(self._number, code, 0)
        for event in SINGLE_EVENTS:
            _MONITORING.register_callback(self._number, event, None)

    def _turn_on(self) -> None:
        """Watch all that is wanted."""
        if self.meets_raises:  # it is gone from the code that was met
            self.meets_raises = False
            self._global |= EVENTS.RAISE
            self._also["raises"] = EVENTS.RAISE
        for event, callback in (self._callbacks | self._chosen).items():
            self.register_callback(self._number, event, callback)
        _MONITORING.set_events(self._number, 0)
        _MONITORING.set_events(self._number, self._global)
        for code, owners in list(self._wanted.values()):
            _MONITORING.set_local_events(self._number, code, 0)
            _MONITORING.set_local_events(self._number, code, self._union(owners))

    def _dismiss_companion(self) -> None:
        if self._accompanied and _MONITORING.get_tool(_COMPANION) == _COMPANION_NAME:  # the program may have taken it
            _MONITORING.set_events(_COMPANION, 0)
            _MONITORING.register_callback(_COMPANION, ACCOMPANIED, None)
            _MONITORING.free_tool_id(_COMPANION)
        self._accompanied = False

    @under_lock
    def want(self, code: CodeType, owner: Owner, events: int, *, afresh: bool = False) -> None:
        """Watch these events in one code object for one owner, 0 for none.

        `afresh` also turns on again the events that DISABLE had turned off there.
        """
        if not self.active:
            return
        if LOG:
            write("events", f"{code_name(code)}: {owner} {names_of(events)}{' afresh' if afresh else ''}")
        _, owners = self._wanted.setdefault(id(code), (code, {}))
        before = self._union(owners)
        if events:
            owners[owner] = events
        else:
            owners.pop(owner, None)
        after = self._union(owners)
        if not owners:
            del self._wanted[id(code)]
        if after & EVENTS.INSTRUCTION and not (self._accompanied or self._has_clock) and id(code) not in self._shared:
            self._share(code)
        self._serve_thoroughly(after if afresh else after & ~before)
        if afresh and before & after:
            _MONITORING.set_local_events(self._number, code, 0)
            _MONITORING.set_local_events(self._number, code, after)
        elif before != after:
            _MONITORING.set_local_events(self._number, code, after)

    def _share(self, code: CodeType) -> None:
        """Make INSTRUCTION events of a code object ready for several tools, before we have any there."""
        self._shared[id(code)] = code
        before = _MONITORING.get_local_events(self._number, code)
        for other in self.spare_tools:
            try:
                _MONITORING.use_tool_id(other, "dapkit")
            except ValueError:
                continue
            for tool in (self._number, other):
                _MONITORING.set_local_events(tool, code, EVENTS.INSTRUCTION)
            _MONITORING.set_local_events(other, code, 0)
            _MONITORING.free_tool_id(other)
            _MONITORING.set_local_events(self._number, code, before)
            return

    def _union(self, owners: dict[Owner, int]) -> int:
        union = EVENTS.RAISE if self.meets_raises else 0
        for events in owners.values():
            union |= events
        return union

    def watches(self, code: CodeType) -> bool:
        """Return whether any events of this code object are on."""
        return id(code) in self._wanted

    @under_lock
    def mend(self) -> str:
        """Take the tool again if the program has freed it, or turn the events on again that the program has turned off.

        Returns a notice about it, mostly none.
        """
        if not self.active:
            return ""
        holder = _MONITORING.get_tool(self._number)
        if holder not in (None, _NAME):
            self.active = False
            self._dismiss_companion()
            return f"has given it to another ({holder}): breakpoints, steps and pauses no longer stop it"
        if holder == _NAME and _MONITORING.get_events(self._number) == self._global:
            return ""
        if holder is None:
            _MONITORING.use_tool_id(self._number, _NAME)
        self._turn_on()
        return (
            "has freed it, or switched its events off: it was taken again, but stops of the last second may be missing"
        )

    def release(self) -> None:
        """Watch nothing any more; the program runs at full speed from here on."""
        if not self.active:
            return
        self.active = False
        if LOG:
            write("events", "everywhere: none, for good")
        self._dismiss_companion()
        self._turn_off()
        _MONITORING.free_tool_id(self._number)
        self._wanted.clear()
        self._shared.clear()


def _as_it_is(callback: Callable[..., object]) -> Callable[..., object]:
    return callback


def _set_no_events(tool: int, code: CodeType) -> None:
    if _MONITORING.get_tool(tool) == _NAME:
        _MONITORING.set_local_events(tool, code, 0)


def _disable(_code: CodeType, _offset: int) -> object:
    return DISABLE


SINGLE_EVENTS: Final = {value for name, value in vars(EVENTS).items() if name.isupper() and value.bit_count() == 1}


def names_of(events: int) -> str:
    """Return a set of events as text for a log."""
    names = [name for name, value in vars(EVENTS).items() if value in SINGLE_EVENTS and value & events]
    return " ".join(names) or "none"
