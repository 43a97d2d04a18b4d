"""Breakpoints in code objects: which callback serves an event, found as cheaply as can be.

A *site* is a breakpoint in one code object, at a line or at the offset of an instruction.
All sites at lines make up one `SiteTable`, those at instructions another.
"""

import _thread
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

from ..bytecode.positions import lines_at
from ..execution import monitor
from ..execution.monitor import Monitor
from ..interpreter import native
from ..interpreter.gc_tracking import untrack
from ..interpreter.recursion_headroom import MOST_MISSED, SKIPPED_EVENTS, handles_overflow
from ..interpreter.thread_checks import under_lock
from .breakpoint import EngineBreakpoint
from .conditions import HitActions, HostCode, LineCallback, callback_for

DISABLE = monitor.DISABLE

_LINE_HIDES_INSTRUCTION = sys.version_info < (3, 14)
"""Whether the INSTRUCTION event is lost at an instruction where LINE has just been switched off."""


class BreakpointSite:
    """A breakpoint in one code object; `at` is a line or an offset."""

    __slots__ = ("at", "breakpoint", "callback", "code")

    def __init__(self, breakpoint: EngineBreakpoint, code: CodeType, at: int, callback: LineCallback) -> None:
        self.breakpoint = breakpoint
        self.code = code
        self.at = at
        self.callback = callback
        untrack(self)


def site_of(
    breakpoint: EngineBreakpoint, host: HostCode, at: int, actions: HitActions, *, at_once: bool = True
) -> BreakpointSite:
    """Make the site of a breakpoint in a code object, at a line or an offset; its callback `at_once` or later."""
    assert breakpoint.test is not None, "a breakpoint without a test is put nowhere"  # noqa: S101 - says so to mypy
    breakpoint.bound = True
    return BreakpointSite(breakpoint, host.code, at, callback_for(breakpoint.test, host, at, actions, at_once=at_once))


class BreakpointHit:
    """A breakpoint that is to stop a frame; `at_line` says that the frame is in its LINE event."""

    __slots__ = ("at_line", "breakpoint", "frame")

    def __init__(self, breakpoint: EngineBreakpoint, frame: FrameType, *, at_line: bool) -> None:
        self.breakpoint = breakpoint
        self.frame = frame
        self.at_line = at_line
        untrack(self)


class HitCollector:
    """The hits of breakpoints that share a place, so that all of them make one stop.

    `stop` is called with them, and returns True once the program was stopped. Between `begin` and `end`, hits of the
    calling thread are gathered; a hit at any other time stops by itself.
    """

    def __init__(self, stop: Callable[[list[BreakpointHit]], object]) -> None:
        self._stop = stop
        self._gathered: dict[int, list[BreakpointHit]] = {}

    def add(self, hit: BreakpointHit) -> object:
        """Stop because of a hit, or when collecting ends."""
        gathered = self._gathered.get(_thread.get_ident())
        if gathered is None:
            return self._stop([hit])
        gathered.append(hit)
        return None

    def begin(self) -> None:
        """Gather hits of the calling thread."""
        self._gathered[_thread.get_ident()] = []

    def end(self) -> list[BreakpointHit]:
        """End the gathering; return the gathered sites."""
        return self._gathered.pop(_thread.get_ident())

    def stop(self, hits: list[BreakpointHit]) -> object:
        """Stop because of these, if there are any."""
        return self._stop(hits) if hits else None


class SiteTable:
    """The sites of one kind of event.

    Invariant: `dispatch` and `cheapest` say the same as `_sites`, and the monitor watches exactly
    the code objects of `_sites` for `owner`.

    `after` is the table of the LINE events that come before the events of this one, at the same instruction.
    """

    def __init__(
        self, watch: Monitor, owner: str, events: int, collector: HitCollector, *, after: "SiteTable | None" = None
    ) -> None:
        self._monitor = watch
        self._after = after
        self._kept: list[tuple[CodeType, int]] = []
        self._collector = collector
        self._owner = owner
        self._events = events
        self._sites: list[BreakpointSite] = []
        self.dispatch: LineCallback = self._dispatch({})
        """Serves events of any code."""
        self.cheapest: LineCallback = self.dispatch
        """Serves events while only code with breakpoints has any."""

    def __iter__(self) -> Iterator[BreakpointSite]:
        return iter(self._sites)

    @under_lock
    def add(self, new: list[BreakpointSite]) -> None:
        """Watch some more sites."""
        if new:
            self._sites += new
            self._keep_lines()
            self._index()  # first: a thread that runs meets the events as soon as they are on
            for code in {id(site.code): site.code for site in new}.values():
                self._monitor.want(code, self._owner, self._events, afresh=True)

    @under_lock
    def remove(self, is_removed: Callable[[BreakpointSite], bool]) -> None:
        """Watch some sites no more."""
        codes = {id(site.code): site.code for site in self._sites if is_removed(site)}
        if not codes:
            return
        self._sites = [site for site in self._sites if not is_removed(site)]
        self._keep_lines()
        still = {id(site.code) for site in self._sites}
        for ident, code in codes.items():
            if ident not in still:
                self._monitor.want(code, self._owner, 0)
        self._index()

    def _keep_lines(self) -> None:
        if self._after is not None and _LINE_HIDES_INSTRUCTION:
            self._after.keep(_lines_of(self._sites))

    @under_lock
    def keep(self, places: list[tuple[CodeType, int]]) -> None:
        """Never switch events off at these places, though no breakpoint is there."""
        if places != self._kept:
            self._kept = places
            self._index()

    def _index(self) -> None:
        table = _table(self._sites, self._collector, self._kept)
        self.dispatch = self._dispatch(table)
        alone = len(self._sites) == 1 and not self._kept and native.is_callback(self._sites[0].callback)
        self.cheapest = self._sites[0].callback if alone else native.router(table) or self.dispatch

    def _dispatch(self, table: native.Table) -> LineCallback:
        """Make the callback that finds the site of a line or an offset.

        A thread may be in it while the table is replaced, so it switches nothing off unless it is still the latest.
        """

        def dispatch(code: CodeType, place: int, depth: int = 1) -> object:
            entry = find(place)
            if entry is None:
                return DISABLE if self.dispatch is dispatch else None
            own, callback = entry
            if own is not code and own is not None:
                return DISABLE if self.dispatch is dispatch else None
            try:
                return callback(code, place, depth + 1)
            except RecursionError:
                if len(SKIPPED_EVENTS) < MOST_MISSED:
                    SKIPPED_EVENTS.append((code, place))
                return None

        find = table.get
        return handles_overflow(dispatch)


def _lines_of(sites: list[BreakpointSite]) -> list[tuple[CodeType, int]]:
    """Return the lines that the instructions of some sites belong to."""
    offsets: dict[int, tuple[CodeType, list[int]]] = {}
    for site in sites:
        offsets.setdefault(id(site.code), (site.code, []))[1].append(site.at)
    return [(code, line) for code, here in offsets.values() for line in lines_at(code, here)]


def _table(sites: list[BreakpointSite], collector: HitCollector, entries: list[tuple[CodeType, int]]) -> native.Table:
    """Find the callbacks of each line or offset."""
    at: dict[int, list[BreakpointSite]] = {}
    for site in sites:
        at.setdefault(site.at, []).append(site)
    idle: dict[int, list[CodeType]] = {}
    for code, place in entries:
        if not any(site.code is code for site in at.get(place, ())):
            idle.setdefault(place, []).append(code)
    # A line number that only one code object has is the usual case, and worth a shorter way.
    table: native.Table = {
        place: (entry[0].code, entry[0].callback) if len(entry) == 1 else (None, all_of(entry, collector))
        for place, entry in at.items()
    }
    for place, codes in idle.items():
        table[place] = None, _also_idle(table.get(place), codes)
    return table


def _also_idle(served: tuple[CodeType | None, LineCallback] | None, codes: list[CodeType]) -> LineCallback:
    """Make the callback of a line that does nothing in some code, and serves the line in other code."""
    own, callback = served or (None, _disable)

    def also_idle(code: CodeType, place: int, depth: int = 1) -> object:
        if any(idle is code for idle in codes):
            return None
        return callback(code, place, depth + 1) if own is None or own is code else DISABLE

    return also_idle


def without_repeats(callback: LineCallback, repeats: frozenset[int]) -> LineCallback:
    """Make a callback of a line that does nothing at some instructions: a statement has not ended that began before."""

    def once(code: CodeType, line: int, depth: int = 1) -> object:
        return None if sys._getframe(depth).f_lasti in repeats else callback(code, line, depth + 1)

    return once


def _disable(_code: CodeType, _place: int, _depth: int = 1) -> object:
    return DISABLE


def all_of(sites: list[BreakpointSite], collector: HitCollector) -> LineCallback:
    """Make one callback of sites that share a line or an offset; log messages come before the stop."""
    sites = sorted(sites, key=lambda site: not site.breakpoint.spec.get("logMessage"))

    def all_of(code: CodeType, place: int, depth: int = 1) -> object:
        here = [site for site in sites if site.code is code]
        if not here:
            return DISABLE
        collector.begin()
        try:
            for site in here:
                site.callback(code, place, depth + 1)
        finally:
            hits = collector.end()
        return collector.stop(hits)

    return all_of
