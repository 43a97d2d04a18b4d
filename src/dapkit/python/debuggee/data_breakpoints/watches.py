"""All watched data of data breakpoints: the mechanism for each, and the events that they share.

    INSTRUCTION              a name was written or is read (`names`), an entry was written (`entries`)
    LINE                     writes by the last instruction of the line before; polled values (`polls`)
    JUMP, PY_YIELD           polled values
    PY_RETURN                the same; the end of a call whose variables are watched
    PY_START, PY_RESUME      code that runs for the first time
    PY_UNWIND                a frame that an exception leaves: the last moment to see its writes

Events are only on where, and for as long as, something is watched that needs them. Of several tools the one with
the highest number is called first: so a write stops the program before a step or a breakpoint does that ends at the
line after it.
"""

import _thread
import sys
from collections.abc import Callable, Container
from types import CodeType, FrameType
from typing import Any

from ..execution.monitor import DISABLE, DISCOVERY, EVENTS, Monitor
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import all_frames
from ..sources.files import OURS, Sources
from .entries import EntryWatches
from .name_offsets import line_before
from .names import NameWatches
from .polls import Look, PolledValues, leaves
from .targets import READ, READ_WRITE, WRITE, Bytes, DataAccess, DictEntry, Item, ObjectEntry, Slot, WatchTarget
from .tool import WatchTool

_getframe = sys._getframe

type Shield = Callable[..., Callable[..., Any]]
"""Makes a callback that is given the frame, and keeps our errors out of the program."""


class DataHit:
    """A frame's last changes of watched targets.

    `line` is where it did, and `leaving` says that the frame will execute nothing more.
    """

    __slots__ = ("accesses", "frame", "leaving", "line")

    def __init__(
        self, frame: FrameType, accesses: list[DataAccess], line: int | None, *, leaving: bool = False
    ) -> None:
        self.frame = frame
        self.accesses = accesses
        self.line = line
        self.leaving = leaving


class WatchedTargets:
    """The watched targets.

    `hit` is called in the thread that used a target, without the lock; `ended` in any thread when a target
    can be watched no more; `starts` when code runs for the first time, with its frame.
    """

    def __init__(
        self,
        monitor: Monitor,
        sources: Sources,
        lock: _thread.RLock,
        shield: Shield,
        *,
        hit: Callable[[DataHit], None],
        ended: Callable[[WatchTarget, str], None],
        starts: Callable[[FrameType], None],
    ) -> None:
        self._sources = sources
        self._lock = lock
        self._shield = shield
        self._hit = hit
        self._ended = ended
        self._starts = starts
        self._tool = WatchTool(monitor)
        self._names = NameWatches(self._tool)
        self._entries = EntryWatches(self._tool)
        self._polls = PolledValues(self._tool, sources, self._polled)
        self._expects = False
        self.polled: set[WatchTarget] = set()
        """The targets that are compared at every line."""

    @under_lock
    def set(self, targets: list[tuple[WatchTarget, str]], *, expecting: bool) -> None:
        """Watch these targets, each for a kind of access; `expecting` asks for `starts`.

        Raises:
            RequestRefused: if sys.monitoring has no free tool.

        """
        self._expects = expecting
        if not targets and not expecting:
            self.clear()
            return
        self._tool.claim()
        written_places = [
            (target, place) for target, kind in targets if kind in (WRITE, READ_WRITE) for place in target.places
        ]
        entries = [(target, place) for target, place in written_places if isinstance(place, DictEntry | ObjectEntry)]
        others = [(target, place) for target, place in written_places if isinstance(place, Slot | Item | Bytes)]
        polled = [*self._entries.set(entries), *others]
        self.polled = {target for target, _ in polled}
        self._polls.set(polled)
        self._names.set([(target, kind in (WRITE, READ_WRITE), kind in (READ, READ_WRITE)) for target, kind in targets])
        self._register()

    def clear(self) -> None:
        """Watch nothing any more."""
        self._names.set([])
        self._polls.set([])
        self._entries.clear()
        self.polled = set()
        self._tool.release()

    @under_lock
    def _register(self) -> None:
        poll = self._polls.look
        leave = self._shield(self._on_return, in_ours=None)
        callbacks: dict[int, Callable[..., object]] = {
            EVENTS.PY_START: self._shield(self._on_start),
            EVENTS.PY_RESUME: self._shield(self._on_start),
            EVENTS.PY_UNWIND: self._shield(self._on_unwind, in_ours=None),
            EVENTS.INSTRUCTION: self._quick_on_instruction(),
            EVENTS.LINE: self._quick_on_line(poll),
        }
        if poll is not None:
            callbacks |= dict.fromkeys((EVENTS.JUMP, EVENTS.PY_YIELD, EVENTS.PY_RETURN), poll)
        if self._names.has_locals:
            callbacks[EVENTS.PY_RETURN] = leave
        self._tool.register(callbacks)
        meets = poll is not None or self._names.reads_globals or self._expects
        self._tool.everywhere(EVENTS.PY_UNWIND | (DISCOVERY if meets else 0))
        if self._names.reads_globals:
            for frame in all_frames():
                self._names.bind_new_code(frame.f_code, frame.f_globals)

    # Events

    def _quick_on_instruction(self) -> Callable[[CodeType, int], object]:
        """Make a callback that loses no time at instructions that do not matter."""
        spots, armed = self._names.spots, self._entries.armed
        thorough = self._shield(self._on_instruction, in_ours=None, depth=2)

        def on_instruction(code: CodeType, offset: int) -> object:
            here = spots.get(id(code))
            if armed or (here is not None and offset in here):
                return thorough(code, offset)
            return DISABLE

        return on_instruction

    def _quick_on_line(self, poll: Look | None) -> Callable[[CodeType, int], object]:
        """Make the same for lines; where only polled values are watched, this is only the poll."""
        if poll is not None and not self._names.spots and not self._entries.are_watched:
            return poll
        spots, armed = self._names.spots, self._entries.armed
        thorough = self._shield(self._on_line, in_ours=None, depth=2)

        def on_line(code: CodeType, line: int) -> object:
            here = spots.get(id(code))
            if armed or (here is not None and _getframe(1).f_lasti in here):
                return thorough(code, line)
            return DISABLE if poll is None else poll(code, line)

        return on_line

    def _on_line(self, frame: FrameType, code: CodeType, _line: int) -> None:
        # Reads are left to the event of the instruction, which comes next.
        self._look(frame, code, frame.f_lasti, kinds=(WRITE,))

    def _on_instruction(self, frame: FrameType, code: CodeType, offset: int) -> None:
        self._look(frame, code, offset, kinds=(WRITE, READ))

    def _look(self, frame: FrameType, code: CodeType, offset: int, *, kinds: tuple[str, ...]) -> None:
        accesses = self._written_by(code, offset)
        with self._lock:
            accesses += self._names.look(frame, code, offset, kinds)
        if accesses:
            self._hit(DataHit(frame, accesses, line_before(code, offset)))

    def _written_by(self, code: CodeType, where: int) -> list[DataAccess]:
        """Return the writes of this thread to entries and polled places."""
        with self._lock:
            accesses, ended = self._entries.arrive(_thread.get_ident()) if self._entries.armed else ([], [])
            # The events that polls need were away while the code was armed.
            accesses += self._polls.look_now(code, where)
        for target in ended:
            self._ended(target, "the object is gone")
        return self._without_gone(accesses)

    def _without_gone(self, accesses: list[DataAccess]) -> list[DataAccess]:
        """Leave out an apparent deletion whose object is gone, which ends the target."""
        gone_targets = [
            access for access in accesses if isinstance(access.place, ObjectEntry) and access.place.holder() is None
        ]
        for target in {access.target for access in gone_targets}:
            self._ended(target, "the object is gone")
        return [access for access in accesses if access not in gone_targets]

    def _polled(self, frame: FrameType, where: int, accesses: list[DataAccess]) -> None:
        def report(_frame: FrameType, _code: CodeType) -> None:
            remaining = self._without_gone(accesses)
            if remaining:
                self._hit(DataHit(frame, remaining, None, leaving=leaves(frame, where)))

        self._shield(report, in_ours=None)(frame.f_code)

    def _on_return(self, frame: FrameType, code: CodeType, offset: int, _value: object) -> None:
        self._leave(frame, code, offset)

    def _on_unwind(self, frame: FrameType, code: CodeType, offset: int, _exception: BaseException) -> None:
        self._leave(frame, code, offset)

    def _leave(self, frame: FrameType, code: CodeType, offset: int) -> None:
        accesses = self._written_by(code, offset)
        if accesses:
            self._hit(DataHit(frame, accesses, None, leaving=True))
        with self._lock:
            ended = self._names.leave(frame)
        for target in ended:
            self._ended(target, f"the call of {code.co_qualname} has ended")

    def _on_start(self, frame: FrameType, code: CodeType, _offset: int) -> object:
        if self._sources.kind(code.co_filename) == OURS:
            return DISABLE
        with self._lock:
            self._polls.bind_new_code(code)
            self._names.bind_new_code(code, frame.f_globals)
        if self._expects:
            self._starts(frame)
        return DISABLE

    # Stops

    @under_lock
    def program_stops(self) -> None:
        """Separate the program's writes so far from writes while it is stopped."""
        self._entries.read_notes()
        self._polls.keep()
        self._names.keep()

    @under_lock
    def thread_parks(self) -> None:
        """Also separate a thread's writes before it stopped."""
        self._entries.read_notes()

    @under_lock
    def program_goes_on(self, standing: Container[int]) -> None:
        """Forget the changes made while the program, or these threads, were stopped: the client made them."""
        if self._tool.number < 0:
            return
        gone_targets = self._entries.refresh(standing)
        self._names.refresh()
        if self._polls.refresh():
            self._register()
        for target in gone_targets:
            self._ended(target, "the object is gone")

    def forget_in_child(self) -> None:
        """Watch nothing in the child of a fork, without the lock, which a thread of the parent may hold."""
        self.clear()
