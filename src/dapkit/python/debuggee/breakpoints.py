"""Line breakpoints: what was asked for, where it ended up, and in which code objects.

A breakpoint is verified against the text of its file at once, and bound when a code object
of that file is seen running; a file may give any number of code objects, at any time.
A bound breakpoint is a *site*: a code object, a line and a callback (`conditions`).
Stopping is done by `callbacks`, events are switched by `monitor`.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType

from . import monitor
from .conditions import Actions, LineCallback, Test, callback_for
from .errors import RequestRefused
from .monitor import Monitor
from .sources import Sources, lines_of_code, lines_of_file, with_nested
from .wire import Json

DISABLE = monitor.DISABLE


class Breakpoint:
    """One line breakpoint that a client may rely on."""

    __slots__ = ("line", "number", "path", "test")

    def __init__(self, number: int, line: int, test: Test, path: str) -> None:
        self.number = number
        self.line = line
        self.test = test
        self.path = path


class Site:
    """A breakpoint in one code object."""

    __slots__ = ("breakpoint", "callback", "code")

    def __init__(self, breakpoint: Breakpoint, code: CodeType, callback: LineCallback) -> None:  # noqa: A002 - the protocol's word
        self.breakpoint = breakpoint
        self.code = code
        self.callback = callback


type ActionsFor = Callable[[Breakpoint], Actions]


class Breakpoints:
    """All line breakpoints of the session.

    Invariant: `dispatch` and `cheapest` say the same as `_sites`, and the monitor watches exactly
    the code objects of `_sites` for the owner `site`. Changed under the engine's lock.
    """

    def __init__(self, watch: Monitor, sources: Sources, actions_for: ActionsFor) -> None:
        self._monitor = watch
        self._sources = sources
        self._actions_for = actions_for
        self._last_number = 0
        self._asked: dict[str, list[Breakpoint]] = {}  # by file key
        self._codes: dict[str, dict[int, tuple[CodeType, dict[str, object]]]] = {}  # of files that were asked for
        self._sites: list[Site] = []
        self.dispatch: LineCallback = _dispatch([])
        """Serves LINE events of any code."""
        self.cheapest: LineCallback = self.dispatch
        """Serves LINE events while only code with breakpoints has any."""

    def prepare(self, path: str, asked: list[Json]) -> tuple[list[Json], list[Breakpoint]]:
        """Verify what a client asks for in one file: the answers, and the breakpoints to `place`.

        Needs no lock: it changes nothing but the counter of the link's own thread.
        """
        lines: list[int] | RequestRefused
        try:
            lines = lines_of_file(path)
        except RequestRefused as refusal:
            lines = refusal
        answers: list[Json] = []
        good: list[Breakpoint] = []
        for wish in asked:
            self._last_number += 1
            answer: Json = {"id": self._last_number, "verified": False}
            answers.append(answer)
            try:
                made = Breakpoint(self._last_number, *_verify(wish, lines, path), path)
            except RequestRefused as refusal:
                answer |= {"message": str(refusal), "reason": "failed", "line": wish.get("line")}
            else:
                good.append(made)
                answer |= {"verified": True, "line": made.line, "source": {"path": path}}
                if made.line != wish["line"]:
                    answer["message"] = f"line {wish['line']} has no code; moved to line {made.line}, the next that has"
        return answers, good

    def place(self, key: str, breakpoints: list[Breakpoint]) -> None:
        """Replace the breakpoints of one file."""
        self._sites = [site for site in self._sites if self._sources.key(site.code.co_filename) != key]
        codes = self._codes.setdefault(key, {})
        for code, _ in codes.values():
            self._monitor.want(code, "site", 0)
        if breakpoints:
            self._asked[key] = breakpoints
            for code, namespace in codes.values():
                self._bind(code, namespace, breakpoints)
            self._bind_running(key)
            self._monitor.discover()  # shows all other code of the file that is loaded already
        else:
            self._asked.pop(key, None)
        self._index()

    def clear(self) -> None:
        """Remove everything."""
        self._asked.clear()
        self._codes.clear()
        for site in self._sites:
            self._monitor.want(site.code, "site", 0)
        self._sites = []
        self._index()

    def wants(self, filename: str) -> str | None:
        """Return the key of a file that has breakpoints, None for all others."""
        key = self._sources.key(filename)
        return key if key in self._asked else None

    def meet(self, key: str, code: CodeType, namespace: dict[str, object]) -> None:
        """Bind the breakpoints of a file to a code object that is about to run, and to those inside it."""
        known = self._codes.setdefault(key, {})
        if id(code) in known:
            return
        for part in with_nested(code):
            if id(part) not in known:
                known[id(part)] = (part, namespace)
                self._bind(part, namespace, self._asked[key])
        self._index()

    def _bind_running(self, key: str) -> None:
        """Bind in code that is running now: its next PY_START may never come."""
        for top in sys._current_frames().values():
            frame: FrameType | None = top
            while frame is not None:
                if self._sources.key(frame.f_code.co_filename) == key:
                    self.meet(key, frame.f_code, frame.f_globals)
                frame = frame.f_back

    def _bind(self, code: CodeType, namespace: dict[str, object], breakpoints: list[Breakpoint]) -> None:
        lines = lines_of_code(code)
        here = [one for one in breakpoints if one.line in lines]
        for one in here:
            callback = callback_for(one.test, code, one.line, namespace=namespace, actions=self._actions_for(one))
            self._sites.append(Site(one, code, callback))
        if here:
            self._monitor.want(code, "site", monitor.SITE, afresh=True)

    def _index(self) -> None:
        self.dispatch = _dispatch(self._sites)
        self.cheapest = self._sites[0].callback if len(self._sites) == 1 else self.dispatch


def _dispatch(sites: list[Site]) -> LineCallback:
    """Make the callback that finds the site of a line."""
    at: dict[int, list[Site]] = {}
    for site in sites:
        at.setdefault(site.breakpoint.line, []).append(site)
    # A line number that only one code object has is the usual case, and worth a shorter way.
    index: dict[int, tuple[CodeType | None, LineCallback]] = {
        line: (found[0].code, found[0].callback) if len(found) == 1 else (None, _any_of(found))
        for line, found in at.items()
    }

    def dispatch(code: CodeType, line: int, depth: int = 1) -> object:
        found = find(line)
        if found is None:
            return DISABLE
        own, callback = found
        if own is code or own is None:
            return callback(code, line, depth + 1)
        return DISABLE

    find = index.get
    return dispatch


def _any_of(sites: list[Site]) -> LineCallback:
    """Make one callback of sites that share a line number."""

    def any_of(code: CodeType, line: int, depth: int = 1) -> object:
        outcome: object = DISABLE
        for site in sites:
            if site.code is code:
                outcome = None
                if site.callback(code, line, depth + 1) is True:
                    return True
        return outcome

    return any_of


def _verify(wish: Json, lines: list[int] | RequestRefused, path: str) -> tuple[int, Test]:
    if isinstance(lines, RequestRefused):
        raise lines
    line = wish.get("line")
    if not isinstance(line, int) or line < 1:
        raise RequestRefused(f"breakpoint line is {line!r}, expected a number from 1 on")
    texts: list[str | None] = []
    for field in ("condition", "hitCondition", "logMessage"):
        text = wish.get(field)
        if text is not None and not isinstance(text, str):
            raise RequestRefused(f"{field} is {text!r}, expected a text")
        texts.append(text)
    test = Test(*texts)
    for candidate in lines:
        if candidate >= line:
            return candidate, test
    last = f"the last line with code is {lines[-1]}" if lines else "the file has no code"
    raise RequestRefused(f"there is no code at or after line {line} of {path}; {last}")
