"""Breakpoints in sources: at lines, and at columns within a line.

A breakpoint is verified against the text of its file at once, and bound when a code object
of that file is seen running; a file may give any number of code objects, at any time. A breakpoint that cannot be
verified yet waits until its module is loaded, and is located then. A line is watched by LINE events; a place within a
line by INSTRUCTION events, in its code object only. A place with which a line begins is the line: all breakpoints there
are hit by one event, and make one stop.
"""

import _thread
import itertools
from _bisect import bisect_left
from collections.abc import Callable, Generator
from types import CodeType

from ..bytecode.positions import CodePlaces, look_up_spots, repeated_starts, spots_of_line
from ..bytecode.texts import ProgramText, ProgramTexts
from ..bytecode.tree_places import Spot
from ..connection.framing import Json
from ..execution import monitor
from ..execution.monitor import Monitor
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import all_frames
from ..sources.compilation import with_nested
from ..sources.files import Sources, lines_of_code, lines_of_tree, name_in
from ..templates.jinja import CompiledTemplate, compiled_template
from .breakpoint import SOURCE, EngineBreakpoint
from .condition_nodes import NodeTemplates
from .conditions import HitActions, HostCode
from .sites import BreakpointSite, HitCollector, SiteTable, site_of, without_repeats

type ActionsFor = Callable[..., HitActions]
"""`(breakpoint, at_line=False)`: `at_line` says that a LINE event hits it."""
type CodePosition = int | tuple[str, int]
"""The keys by which breakpoints are found in code: a line, or for a place within a line the code object around it."""
type Report = Callable[[EngineBreakpoint, str], None]


class SourceBreakpointTable:
    """All breakpoints in sources of the session.

    Invariant: each breakpoint asked for has its sites in exactly the code objects of `_codes` that
    hold its place. `_places` says the same as `_asked`.
    """

    def __init__(
        self,
        watch: Monitor,
        sources: Sources,
        *,
        texts: ProgramTexts,
        actions_for: ActionsFor,
        collector: HitCollector,
        lock: _thread.RLock,
        report: Report,
        reads: Callable[[str], bool],
        safely: Callable[[Callable[[], object]], object],
    ) -> None:
        self._monitor = watch
        self._sources = sources
        self._texts = texts
        self._actions_for = actions_for
        self._report = report
        self._lock = lock
        self._reads = reads
        self._nodes = NodeTemplates(sources, self._meet_nodes, safely)
        self._asked: dict[str, list[EngineBreakpoint]] = {}  # by the key of the source
        self._places: dict[str, dict[CodePosition, list[EngineBreakpoint]]] = {}  # by the key
        self._names: frozenset[str] = frozenset()  # of the sources in `_asked`
        self._codes: dict[str, dict[int, tuple[CodeType, dict[str, object]]]] = {}  # of sources that were asked for
        self._templates: dict[str, list[CompiledTemplate]] = {}  # of sources that were asked for, the latest last
        self.lines = SiteTable(watch, "site", monitor.SITE, collector)
        self.inline = SiteTable(watch, "inline", monitor.EVENTS.INSTRUCTION, collector, after=self.lines)

    def prepare(
        self, key: str, source: Json, text: ProgramText | RequestRefused, requests: list[Json], *, note: str
    ) -> Generator[None, None, list[EngineBreakpoint]]:
        """Verify a client's breakpoints in one source, and return the breakpoints to `place`; yield after each.

        `note` is to be said on every one of them. Needs no lock: it changes nothing.
        """
        where = str(source.get("path") or source.get("name"))
        lines: list[int] | RequestRefused
        of_template = self.template_lines(key)
        try:
            if isinstance(text, RequestRefused):
                lines = text
            elif of_template is not None:
                lines, text = of_template, RequestRefused("it is not Python")
            else:
                yield from text.read_through(where)
                lines = text.lines_with_code(where)
                yield from look_up_spots(text, _lines_with_columns(requests), where)
        except RequestRefused as refusal:
            lines = refusal
        breakpoints: list[EngineBreakpoint] = []
        for spec in requests:
            yield
            breakpoint = EngineBreakpoint(SOURCE, spec)
            breakpoints.append(breakpoint)
            breakpoint.source = source
            if breakpoint.test is None:
                continue
            line = breakpoint.spec.get("line")
            if not isinstance(line, int) or line < 1:
                breakpoint.test = None
                breakpoint.fail(f"breakpoint line is {line!r}, expected a number from 1 on")
                continue
            breakpoint.wanted_line = line
            if isinstance(lines, RequestRefused):
                breakpoint.wait(self._why_it_waits(where, lines, was_read=lines is not text))
            else:
                _locate(breakpoint, lines, where, note, None if isinstance(text, RequestRefused) else text)
                if (
                    breakpoint.verified
                    and breakpoint.spec.get("column") is not None
                    and not isinstance(text, RequestRefused)
                ):
                    _find_column(breakpoint, text, where)
        return breakpoints

    def _why_it_waits(self, where: str, refusal: RequestRefused, *, was_read: bool) -> str:
        if not was_read or where.endswith((".py", ".pyw", ">")):
            return f"{refusal}; the breakpoint waits for code of that name"
        if self._reads("jinja") or self._reads("django"):
            return "no template of that name has been compiled yet; the breakpoint waits for it"
        return f'{refusal}; a breakpoint in a template needs "jinja": true or "django": true'

    @under_lock
    def place(self, key: str, breakpoints: list[EngineBreakpoint]) -> None:
        """Replace the breakpoints of one source."""
        before = set(map(id, self._asked.pop(key, [])))
        self._remove(lambda site: id(site.breakpoint) in before)
        codes = self._codes.setdefault(key, {})
        breakpoints = [breakpoint for breakpoint in breakpoints if breakpoint.test is not None]
        if breakpoints:
            self._asked[key] = breakpoints
        self._names = frozenset(map(name_in, self._asked))
        if not self._asked:
            self._monitor.also("sources", 0)
        self._arrange(key)
        if breakpoints:
            self._bind(list(codes.values()), key)
            self._bind_nodes(key)
            self._monitor.discover("sources")  # first: code that starts now is in no list of frames
            self._bind_running(key)

    def holds(self, code: CodeType) -> bool:
        """Return whether a code object has a breakpoint."""
        return any(site.code is code for sites in (self.lines, self.inline) for site in sites)

    @under_lock
    def drop(self, removed: EngineBreakpoint) -> None:
        """Remove one breakpoint."""
        self._remove(lambda site: site.breakpoint is removed)
        for key, breakpoints in self._asked.items():
            if removed in breakpoints:
                breakpoints.remove(removed)
                self._arrange(key)

    @under_lock
    def clear(self) -> None:
        """Remove everything."""
        self._asked.clear()
        self._places.clear()
        self._names = frozenset()
        self._codes.clear()
        self._templates.clear()
        self._nodes.clear()
        self._monitor.also("sources", 0)
        self._remove(lambda _: True)

    @under_lock
    def _remove(self, is_removed: Callable[[BreakpointSite], bool]) -> None:
        self.lines.remove(is_removed)
        self.inline.remove(lambda site: site.breakpoint.kind == SOURCE and is_removed(site))

    def wants(self, code: CodeType) -> list[str]:
        """Return the keys of those sources of a code object that have breakpoints: none for nearly all."""
        if self._sources.name(code.co_filename) not in self._names:
            return []
        return [key for key in self._sources.keys(code) if key in self._asked]

    @under_lock
    def bind_new_code(self, key: str, code: CodeType, namespace: dict[str, object], *, in_answer: bool = False) -> None:
        """Bind the breakpoints of a source to a code object that is about to run, and to those inside it.

        Changes are reported to the client, unless the response that is about to be made has them.
        """
        codes = self._codes.setdefault(key, {})
        if id(code) in codes or key not in self._asked:  # the source may have lost its breakpoints since `wants`
            return
        template = compiled_template(code, namespace) if self._reads("jinja") else None
        if template is not None:
            self._meet_template(key, template, namespace, in_answer=in_answer)
            return
        parts = [part for part in with_nested(code) if id(part) not in codes]
        before: list[tuple[EngineBreakpoint, Json]] = []
        if code.co_name == "<module>":
            waiting = [breakpoint for breakpoint in self._asked[key] if not breakpoint.bound]
            before = [(breakpoint, breakpoint.describe()) for breakpoint in waiting]
            self._locate_in(code, waiting)
            self._arrange(key)
        for part in parts:
            codes[id(part)] = (part, namespace)
        self._bind([(part, namespace) for part in parts], key)
        if not in_answer:
            self._report_changed(before)

    @under_lock
    def _meet_template(
        self, key: str, template: CompiledTemplate, namespace: dict[str, object], *, in_answer: bool
    ) -> None:
        """Bind the breakpoints of a template to the functions that it was compiled to, perhaps once more."""
        loaded_codes = self._codes[key]
        templates = self._templates.setdefault(key, [])
        templates.append(template)
        if len(templates) > limits.COMPILED_AGAIN:
            old_codes = {id(code) for code in templates.pop(0).codes}
            self._remove(lambda site: id(site.code) in old_codes)
            for code in old_codes:
                loaded_codes.pop(code, None)
        before = self._locate_in_template(key, template.lines)
        codes = [(code, namespace) for code in template.codes]
        loaded_codes.update((id(code), (code, namespace)) for code, _ in codes)
        self._bind(codes, key)
        if not in_answer:
            self._report_changed(before)

    def _locate_in_template(self, key: str, lines: list[int]) -> list[tuple[EngineBreakpoint, Json]]:
        """Locate the breakpoints of a template; return them, and their earlier reports."""
        before = [(breakpoint, breakpoint.describe()) for breakpoint in self._asked[key]]
        for breakpoint, _ in before:
            where = str((breakpoint.source or {}).get("path") or key)
            breakpoint.spot, breakpoint.span = None, {}
            _locate(breakpoint, lines, where, "", None)
        self._arrange(key)
        return before

    def _report_changed(self, before: list[tuple[EngineBreakpoint, Json]]) -> None:
        for breakpoint, earlier in before:
            if breakpoint.describe() != earlier:
                self._report(breakpoint, "changed")

    @under_lock
    def bind_template_renderer(self, code: CodeType) -> None:
        """Bind breakpoints in templates to the code that renders all of their nodes."""
        if self._nodes.renderer is not code:
            self._nodes.renderer = code
            for key in self._asked:
                self._bind_nodes(key)

    @under_lock
    def _bind_nodes(self, key: str) -> None:
        actions_for = self._actions_for
        nodes = [
            self._nodes.site(key, breakpoint, actions_for(breakpoint, at_line=True)) for breakpoint in self._asked[key]
        ]
        self.lines.add([site for site in nodes if site is not None])

    def _meet_nodes(self, key: str, lines: list[int]) -> None:
        with self._lock:
            if key in self._asked:
                self._report_changed(self._locate_in_template(key, lines))

    def template_lines(self, key: str) -> list[int] | None:
        """Return the executable lines of a template as it was last compiled; None if it is not a template."""
        templates = self._templates.get(key)
        return templates[-1].lines if templates else self._nodes.lines(key)

    def _lines_in(self, code: CodeType, key: str) -> dict[int, list[int]]:
        """Return the lines of a source that some code has, and at which lines of the code each of them is."""
        for template in reversed(self._templates.get(key, ())):
            if any(part is code for part in template.codes):
                return template.lines_in(code)
        return {line: [line] for line in lines_of_code(code)}

    def _locate_in(self, module: CodeType, waiting: list[EngineBreakpoint]) -> None:
        """Locate the breakpoints that were not verified, or that were verified in another text, in the loaded code."""
        lines = lines_of_tree(module)
        line_set = set(lines)
        owners = {(part.co_qualname, part.co_firstlineno) for part in with_nested(module)}
        for breakpoint in waiting:
            where = str((breakpoint.source or {}).get("path") or module.co_filename)
            if not breakpoint.verified or breakpoint.line not in line_set:
                _locate(breakpoint, lines, where, "", self._texts.of_code(module))
            spot = breakpoint.spot
            is_inline = breakpoint.verified and breakpoint.spec.get("column") is not None
            if is_inline and (spot is None or spot.owner not in owners):
                text = self._texts.of_code(module)
                if text is not None:  # without one there are only lines
                    _find_column(breakpoint, text, where)

    def _bind_running(self, key: str) -> None:
        """Bind in code that is running now: its next PY_START may never come."""
        frames = list(all_frames())
        if self._reads("django") and self._nodes.look(key, frames):
            self._locate_in_template(key, self._nodes.lines(key) or [])
        for frame in frames:
            if key in self.wants(frame.f_code):
                self.bind_new_code(key, frame.f_code, frame.f_globals, in_answer=True)

    def _arrange(self, key: str) -> None:
        """Arrange the breakpoints of a source as they are to be bound."""
        places: dict[CodePosition, list[EngineBreakpoint]] = {}
        for breakpoint in self._asked.get(key, ()):
            place = breakpoint.line if breakpoint.spot is None else breakpoint.spot.owner
            places.setdefault(place, []).append(breakpoint)
        self._places[key] = places

    def _bind(self, codes: list[tuple[CodeType, dict[str, object]]], key: str) -> None:
        """Make the sites of a source in some code objects, all at once: the tables of sites are made anew each time."""
        places = self._places[key]
        at_once = len(self._asked.get(key, ())) <= limits.CALLBACKS_AT_ONCE
        at_lines: list[BreakpointSite] = []
        inline: list[BreakpointSite] = []
        for code, namespace in codes:
            lines = self._lines_in(code, key)
            host = HostCode(code, namespace, of_template=bool(self._templates.get(key)))

            def site(breakpoint: EngineBreakpoint, at: int, *, at_line: bool, host: HostCode = host) -> BreakpointSite:
                actions = self._actions_for(breakpoint, at_line=at_line)
                return site_of(breakpoint, host, at, actions, at_once=at_once)

            here = [line for line in lines if line in places]
            repeats = repeated_starts(code, places) if here else {}
            for line in here:
                for breakpoint, at in itertools.product(places[line], lines[line]):
                    new = site(breakpoint, at, at_line=True)
                    if at in repeats:
                        new.callback = without_repeats(new.callback, repeats[at])
                    at_lines.append(new)
            within = places.get((code.co_qualname, code.co_firstlineno), ())
            inside = CodePlaces(code) if within else None
            for breakpoint in within:
                assert inside is not None and breakpoint.spot is not None, "both say so"  # noqa: S101, PT018 - for mypy
                offsets = inside.entries(breakpoint.spot.span)
                if offsets[:1] == [inside.line_start(breakpoint.line)]:
                    at_lines.append(site(breakpoint, breakpoint.line, at_line=True))
                else:
                    inline += [site(breakpoint, offset, at_line=False) for offset in offsets]
        self.lines.add(at_lines)
        self.inline.add(inline)


def _lines_with_columns(requests: list[Json]) -> set[int]:
    """Return the lines of which a client names a column."""
    lines = [spec.get("line") for spec in requests if spec.get("column") is not None]
    return {line for line in lines if isinstance(line, int) and line > 0}


def _locate(breakpoint: EngineBreakpoint, lines: list[int], where: str, note: str, text: ProgramText | None) -> None:
    """Find the line of a breakpoint among those that have code: the next, but none behind its statement."""
    line = breakpoint.wanted_line
    index = bisect_left(lines, line)
    breakpoint.line = lines[index] if index < len(lines) else 0
    meaning = "the next that has"
    around = text.statement_around(line) if text is not None and breakpoint.line != line else None
    if around is not None and not 0 < breakpoint.line <= around[1]:
        first = bisect_left(lines, around[0])
        if first < index:
            breakpoint.line, meaning = lines[first], "where its statement begins"
    if not breakpoint.line:
        last = f"the last line with code is {lines[-1]}" if lines else "the file has no code"
        breakpoint.fail(f"there is no code at or after line {line} of {where}; {last}")
        return
    moved = f"line {line} has no code; moved to line {breakpoint.line}, {meaning}" if breakpoint.line != line else ""
    breakpoint.settle("; ".join(filter(None, (moved, note))))


def _find_column(breakpoint: EngineBreakpoint, text: ProgramText, where: str) -> None:
    """Find the inline position of a breakpoint: the last that does not begin after its column.

    A column no farther than where the text of the line begins means the line.
    """
    column = breakpoint.spec["column"]
    if not isinstance(column, int) or column < 1:
        breakpoint.test = None
        breakpoint.fail(f"breakpoint column is {column!r}, expected a number from 1 on")
        return
    inner = text.inner_column(breakpoint.line, column) if breakpoint.line == breakpoint.wanted_line else 0
    beginning = text.beginning(breakpoint.line)
    if inner <= beginning:
        here = spots_of_line(text, breakpoint.line, where) if text.listed is None else []
        first = here[0] if here and here[0].column == beginning else None
        whole_line: Json = {"column": text.shown_column(breakpoint.line, beginning)}
        breakpoint.spot, breakpoint.span = None, shown_span(first, text) if first else whole_line
        return
    if text.listed is not None:
        breakpoint.settle(
            f"the text of this code is not known, nor its columns; the whole line {breakpoint.line} is meant"
        )
        return
    here = spots_of_line(text, breakpoint.line, where)
    if not here:
        breakpoint.settle(
            f"Python runs without columns here (no_debug_ranges); the whole line {breakpoint.line} is meant"
        )
        return
    breakpoint.spot = next((spot for spot in reversed(here) if spot.column <= inner), here[0])
    breakpoint.span = shown_span(breakpoint.spot, text)


def shown_span(spot: Spot, text: ProgramText) -> Json:
    """Return the columns of a place, as the protocol shows them."""
    end = spot.span
    return {
        "column": text.shown_column(spot.line, spot.column),
        "endLine": end.end_line,
        "endColumn": text.shown_column(end.end_line, end.end_column),
    }
