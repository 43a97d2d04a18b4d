"""Data breakpoints: the requests, their stops, and the reports of these.

A client first asks whether something can be watched, and gets the dataId of a target for it. Data found in a frame or
value of a stop is kept only if a breakpoint is set on it before the program continues. Names of globals and of class
attributes are good for ever, also for another run: those whose module or class is not there yet wait for it.
"""

import _thread
import sys
from collections.abc import Callable, Container
from types import CodeType, FrameType
from typing import Any, Final

from ..breakpoints.breakpoint import ONCE, next_number
from ..breakpoints.conditions import BreakpointCondition
from ..connection.framing import Json
from ..connection.link import Link
from ..evaluation.supervised import supervised
from ..execution.monitor import Monitor
from ..execution.parked_thread import ParkedThread
from ..execution.stops import Stops
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import entry_of, type_name
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import newest_frames
from ..sources.files import OURS, Sources, is_function
from ..values.error_text import error_text
from ..values.text import render
from .anchors import AnchoredPlaces, anchor_of, is_anchor
from .resolution import POLLING, lasting_target
from .targets import MISSING, READ, READ_WRITE, WRITE, DataAccess, WatchTarget
from .watches import DataHit, Shield, WatchedTargets

# Whether a write has changed a value, or put an equal object in the place of another.
#
# Only values that compare at once and without code of the program: numbers, texts, bytes, None, and tuples of such,
# each of exactly these types. All other objects are equal only if they are identical: their contents may differ.


def is_same_value(old: object, new: object) -> bool:
    """Return whether two objects are one, or stand for the same value: 0.0 is not -0.0, and a NaN is a NaN."""
    todo: list[tuple[Any, Any]] = [(old, new)]
    for one, right in todo:
        if one is right:
            continue
        kind = type(one)
        if kind is not type(right):
            return False
        if kind is tuple:
            if len(one) != len(right) or len(todo) + len(one) > limits.COMPARED_ITEMS:
                return False
            todo.extend(zip(one, right, strict=True))
        elif kind not in _COMPARISONS or not _COMPARISONS[kind](one, right):
            return False
    return True


def _are_equal(one: object, right: object) -> bool:
    return one == right


def _are_texts_equal(one: str | bytes, right: str | bytes) -> bool:
    return len(one) == len(right) <= limits.COMPARED_CHARS and one == right


def _are_written_alike(one: float, right: float) -> bool:
    return one.hex() == right.hex()


def _are_parts_written_alike(one: complex, right: complex) -> bool:
    return _are_written_alike(one.real, right.real) and _are_written_alike(one.imag, right.imag)


_COMPARISONS: Final[dict[type, Callable[[Any, Any], bool]]] = {
    int: _are_equal,
    bool: _are_equal,
    float: _are_written_alike,
    complex: _are_parts_written_alike,
    str: _are_texts_equal,
    bytes: _are_texts_equal,
}


class EngineDataBreakpoint:
    """One data breakpoint that a client set; without a target it waits for one, or is invalid."""

    __slots__ = ("access", "hits", "identity", "number", "once", "problem", "target", "test", "waits")

    def __init__(self, spec: Json) -> None:
        self.number = next_number()
        self.target: WatchTarget | None = None
        self.problem = ""
        self.waits = False
        """Whether it waits for its module or class."""
        identity = spec.get("dataId")
        if not isinstance(identity, str) or not identity:
            raise RequestRefused(f"dataId is {identity!r:.200}, expected a text from dataBreakpointInfo")
        self.once = identity.startswith(_ONCE)
        self.identity = identity.removeprefix(_ONCE)
        self.access = spec.get("accessType") or WRITE
        if self.access not in (WRITE, READ, READ_WRITE):
            raise RequestRefused(f"accessType is {self.access!r:.200}, expected read, write or readWrite")
        texts = [spec.get(field) for field in ("condition", "hitCondition")]
        for field, text in zip(("condition", "hitCondition"), texts, strict=True):
            if text is not None and not isinstance(text, str):
                raise RequestRefused(f"{field} is {text!r:.200}, expected a text")
        self.test = BreakpointCondition(texts[0], texts[1], None)  # type: ignore[arg-type]  # the loop has seen to it
        self.hits: CodeType | None = None
        if self.test.hits:
            self.hits = compile(self.test.hits_expression, "<dapkit: hit condition>", "eval", dont_inherit=True)

    def describe(self, *, polled: bool) -> Json:
        """Return the Breakpoint of the protocol."""
        body: Json = {"id": self.number, "verified": self.target is not None and not self.problem}
        message = self.problem or (POLLING if polled else "")
        if message:
            body["message"] = message
        if self.problem:
            body["reason"] = "pending" if self.waits else "failed"
        return body

    def wants(self, access: DataAccess) -> bool:
        """Return whether a use of a target is one to stop at, but for the condition."""
        if access.target is not self.target or self.access not in (access.kind, READ_WRITE):
            return False
        return access.kind == READ or not is_same_value(access.old, access.new)


_ONCE: Final = ONCE + ":"
"""First characters of the dataId of a breakpoint that is removed at its first stop."""


_ABSENT: Final = "its target does not exist at this moment"


class DataBreakpointTable:
    """All data breakpoints of the session."""

    def __init__(
        self,
        link: Link,
        stops: Stops,
        sources: Sources,
        monitor: Monitor,
        *,
        lock: _thread.RLock,
        shield: Shield,
        later: Callable[[FrameType, Callable[[], None]], None],
        complain: Callable[[str], None],
    ) -> None:
        self._later = later  # has something done as soon as a frame goes on
        self._link = link
        self._stops = stops
        self._sources = sources
        self._lock = lock
        self._complain = complain
        self._complained: set[tuple[int, str]] = set()
        self._watching = WatchedTargets(
            monitor, sources, lock, shield, hit=self._on_hit, ended=self._on_end, starts=self._on_start
        )
        self._set: list[EngineDataBreakpoint] = []
        self._offered: dict[str, WatchTarget] = {}
        """Targets that may be set now, by dataId."""
        self._standing: set[int] = set()  # stopped threads: their changes are the client's doing
        self.may_resolve = False
        """Whether the program has begun: before that, `__main__` is not its own."""

    def offer(self, target: WatchTarget, *, once: bool, by_name: Json | None = None) -> Json:
        """Return the body that describes a target, and keep the target; `by_name` is how to find it at other times."""
        if self._stops.history is not None:
            target.identity = anchor_of(target, by_name) or target.identity
        with self._lock:
            same_targets = [
                offered for offered in self._offered.values() if offered.means(target) and not offered.ended
            ]
            kept_target = same_targets[0] if same_targets else target
            self._offered[kept_target.identity] = kept_target
        body = kept_target.describe()
        if once:
            body["dataId"] = _ONCE + kept_target.identity
        return body

    def place(self, specs: list[Json]) -> list[Json]:
        """Replace all data breakpoints; return the response about each."""
        new_breakpoints = [self._make(spec) for spec in specs]
        with self._lock:
            self._set = [item for item in new_breakpoints if isinstance(item, EngineDataBreakpoint)]
            for breakpoint in self._set:
                self._resolve(breakpoint)
            self._watch()
            return [item if isinstance(item, dict) else self._describe(item) for item in new_breakpoints]

    @staticmethod
    def _make(spec: Json) -> EngineDataBreakpoint | Json:
        try:
            return EngineDataBreakpoint(spec)
        except RequestRefused as refusal:
            return {"id": next_number(), "verified": False, "message": str(refusal), "reason": "failed"}

    def _describe(self, breakpoint: EngineDataBreakpoint) -> Json:
        return breakpoint.describe(polled=breakpoint.target in self._watching.polled)

    @under_lock
    def _resolve(self, breakpoint: EngineDataBreakpoint) -> None:
        """Find the target of a breakpoint, or return the reason why it has no target."""
        breakpoint.waits = False
        try:
            target = self._find(breakpoint.identity)
        except RequestRefused as refusal:
            breakpoint.problem = str(refusal)
            return
        if target is None and is_anchor(breakpoint.identity):
            breakpoint.problem = _ABSENT
        elif target is None:
            breakpoint.waits = True
            breakpoint.problem = f"{' '.join(breakpoint.identity.split(':')[1:-1])} is not loaded yet"
        elif breakpoint.access not in target.access_types:
            breakpoint.problem = f"{breakpoint.access} access of {target.label} cannot be noticed; only writes can"
        else:
            self._offered[breakpoint.identity] = target
            breakpoint.target, breakpoint.problem = target, target.ended

    def _find(self, identity: str) -> WatchTarget | None:
        if identity in self._offered:
            return self._offered[identity]
        if is_anchor(identity):
            history = self._stops.history
            if history is None:
                raise RequestRefused("the dataId is one of a program with time travel")
            return AnchoredPlaces(identity).target(newest_frames().values(), history.object_at)
        lasting = lasting_target(identity)  # also refuses a text that is not a name
        return lasting if self.may_resolve else None

    @under_lock
    def _watch(self) -> None:
        watched_targets = [
            (breakpoint.target, str(breakpoint.access))
            for breakpoint in self._set
            if breakpoint.target is not None and not breakpoint.problem
        ]
        kinds: dict[str, tuple[WatchTarget, str]] = {}
        for target, access in watched_targets:
            kind = kinds.get(target.identity)
            kinds[target.identity] = (target, access if kind is None or kind[1] == access else READ_WRITE)
        try:
            self._watching.set(list(kinds.values()), expecting=any(breakpoint.waits for breakpoint in self._set))
        except RequestRefused as refusal:
            for breakpoint in self._set:
                breakpoint.problem = str(refusal)

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._set = []
            self._offered.clear()
            self._watching.clear()

    def forget_in_child(self) -> None:
        """Remove everything in the child of a fork, without the lock."""
        self._set = []
        self._offered.clear()
        self._watching.clear()

    # Events

    @under_lock
    def stops_changed(self) -> None:
        """Record that the program, or a thread of it, stops or continues."""
        if self._stops.states.released:
            return
        if self._standing:
            self._watching.program_goes_on(self._standing)
        self._standing = set(self._stops.parked)
        if self._standing or self._stops.states.stopped:
            self._watching.program_stops()
            return
        identities = {breakpoint.identity for breakpoint in self._set}
        self._offered = {name: target for name, target in self._offered.items() if name in identities}

    @under_lock
    def thread_parked(self) -> None:
        """Record that a thread is stopped as well."""
        self._standing = set(self._stops.parked)
        self._watching.thread_parks()

    def program_begins(self) -> None:
        """Let names of the program's own modules be looked up from now on."""
        self.may_resolve = True

    def program_runs(self) -> None:
        """Look up names in a program that began before we came."""
        self.may_resolve = True
        self._look_again(sys.modules)

    def _on_start(self, frame: FrameType) -> None:
        """Look for targets that were not there yet, when code of their module runs."""
        module = entry_of(frame.f_globals, "__name__")
        self._look_again([module])
        code, definer = frame.f_code, frame.f_back
        if definer is not None and not is_function(code) and code.co_name != "<module>":
            self._look_when_made(definer, f"class:{module}:", limits.CLASS_INSTRUCTIONS)

    def _look_when_made(self, definer: FrameType, kind: str, instructions: int) -> None:
        """Look for attributes of a class that is being made, at the next instructions of the frame around it."""

        def look() -> None:
            self._look_again([entry_of(definer.f_globals, "__name__")])
            self._look_when_made(definer, kind, instructions - 1)

        if instructions and any(breakpoint.waits and breakpoint.identity.startswith(kind) for breakpoint in self._set):
            self._later(definer, look)

    def _look_again(self, modules: Container[object]) -> None:
        with self._lock:
            waiting = [
                breakpoint
                for breakpoint in self._set
                if breakpoint.waits and breakpoint.identity.split(":")[1] in modules
            ]
            for breakpoint in waiting:
                self._resolve(breakpoint)
            located = [breakpoint for breakpoint in waiting if not breakpoint.waits]
            if located:
                self._watch()
        for breakpoint in located:
            self._report(breakpoint)

    def _on_end(self, target: WatchTarget, why: str) -> None:
        with self._lock:
            target.ended = f"{target.label}: {why}"
            ended = [breakpoint for breakpoint in self._set if breakpoint.target is target]
            for breakpoint in ended:
                breakpoint.problem = target.ended
            self._watch()
        for breakpoint in ended:
            self._report(breakpoint)

    def _report(self, breakpoint: EngineDataBreakpoint, reason: str = "changed") -> None:
        self._link.event("breakpoint", {"reason": reason, "breakpoint": self._describe(breakpoint)})

    def _spend(self, breakpoint: EngineDataBreakpoint) -> bool:
        """Remove a breakpoint for good; return False if it was removed already."""
        with self._lock:
            if breakpoint not in self._set:
                return False
            self._set.remove(breakpoint)
            self._watch()
        self._report(breakpoint, "removed")
        return True

    def _on_hit(self, hit: DataHit) -> None:
        """Stop if any breakpoint applies. In the thread that used the data."""
        if self._is_of_client(hit.frame):
            return
        numbers: list[int] = []
        texts: list[str] = []
        for breakpoint in list(self._set):
            for access in hit.accesses:
                if not breakpoint.wants(access) or not self._applies(breakpoint, access, hit.frame):
                    continue
                if not breakpoint.once or self._spend(breakpoint):
                    numbers.append(breakpoint.number)
                    texts.append(self._say(access))
        if not numbers:
            return
        texts = list(dict.fromkeys(texts))
        code = hit.frame.f_code
        line = hit.line or hit.frame.f_lineno or code.co_firstlineno
        # Where an exception is handled there are instructions without a line.
        trail = None if hit.frame.f_lineno else [(hit.frame, line)]
        self._stops.stop_at(
            ParkedThread(_thread.get_ident(), hit.frame, leaving=hit.leaving, before_line=not hit.leaving, trail=trail),
            "data breakpoint",
            hitBreakpointIds=list(dict.fromkeys(numbers)),
            description="Paused on data breakpoint",
            text="; ".join(texts),
        )

    def _is_of_client(self, frame: FrameType) -> bool:
        """Return whether the text that the client just typed uses the data itself, and not a function that it calls."""
        caller = frame.f_back
        if not self._stops.states.evaluates(_thread.get_ident()) or caller is None:
            return False
        return self._sources.kind(caller.f_code.co_filename) == OURS

    def _applies(self, breakpoint: EngineDataBreakpoint, access: DataAccess, frame: FrameType) -> bool:
        test = breakpoint.test
        if test.expression is not None:
            try:
                if not test.expression.value(frame, {"old": access.old, "new": access.new}):
                    return False
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._report_failure(breakpoint, frame, error)
                return False
        return breakpoint.hits is None or bool(eval(breakpoint.hits, {"_d_hits": test.next_hit()}))

    def _report_failure(self, breakpoint: EngineDataBreakpoint, frame: FrameType, error: BaseException) -> None:
        """Report that a condition raised, once for each type of error; it counts as false."""
        kind = type_name(error)
        if (breakpoint.number, kind) in self._complained:
            return
        self._complained.add((breakpoint.number, kind))
        message = error_text(error)
        text = f"{kind}: {message}" if message else kind
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        self._complain(
            f"The condition of a data breakpoint raised {text}, which counts as false, at {place}: "
            f"{breakpoint.test.condition}"
        )

    def _say(self, access: DataAccess) -> str:
        label = access.target.label
        if access.kind == READ:
            return f"{label} is about to be read: {self._text(access.new)}"
        if access.new is MISSING:
            return f"{label} was deleted; it was {self._text(access.old)}"
        if access.old is MISSING:
            return f"{label} was set to {self._text(access.new)}; it had no value"
        old, new = self._text(access.old), self._text(access.new)
        if old == new:
            return f"{label} was set to another object that looks the same: {new}"
        return f"{label} changed from {old} to {new}"

    def _text(self, value: object) -> str:
        """Write a value, by its own `__repr__` under a deadline that the link's thread keeps."""
        return supervised(self._link, limits.VALUE_SECONDS * 2, lambda guard: render(value, guard, limits.CHANGE_CHARS))
