"""The breakpoints of all kinds together, those at instructions, and the effects of a hit.

A breakpoint at a line or an instruction stops there. One at a function is hit as the call begins, and
stops at the first line: only from there on are lines to be stepped, or jumped to.
"""

import _thread
from collections.abc import Callable
from types import CodeType, FrameType

from ..bytecode.disassembly import offsets_of
from ..bytecode.instructions import Addresses, parse
from ..bytecode.texts import ProgramTexts
from ..connection.framing import Json
from ..connection.link import Link
from ..exceptions import details
from ..execution.monitor import Monitor
from ..execution.parked_thread import ParkedThread
from ..execution.stepping import Stepping
from ..execution.stops import Stops
from ..interpreter.errors import RequestRefused
from ..interpreter.recursion_headroom import SKIPPED_EVENTS
from ..interpreter.safe_types import simple_name
from ..interpreter.thread_checks import under_lock
from ..sources.files import Sources, resume_offset
from .breakpoint import FUNCTION, INSTRUCTION, ONCE, EngineBreakpoint
from .conditions import HitActions, HostCode
from .function import FunctionBreakpointTable
from .sites import BreakpointHit, HitCollector, SiteTable, site_of
from .source import ActionsFor, SourceBreakpointTable


class InstructionBreakpointTable:
    """All instruction breakpoints of the session; their sites are among the inline ones."""

    def __init__(self, addresses: Addresses, inline: SiteTable, actions_for: ActionsFor) -> None:
        self._addresses = addresses
        self._inline = inline
        self._actions_for = actions_for

    @under_lock
    def place(self, specs: list[Json]) -> list[EngineBreakpoint]:
        """Replace all instruction breakpoints."""
        self.clear()
        breakpoints: list[EngineBreakpoint] = []
        for spec in specs:
            breakpoint = EngineBreakpoint(INSTRUCTION, spec, modes=(ONCE,))
            breakpoints.append(breakpoint)
            if breakpoint.test is None:
                continue
            try:
                code, offset = self._find(breakpoint)
            except RequestRefused as refusal:
                breakpoint.fail(str(refusal))
                continue
            breakpoint.address = hex(self._addresses.of(code, offset))
            # The namespace is only a hint which names are global; another is looked up in the frame.
            self._inline.add([site_of(breakpoint, HostCode(code, {}), offset, self._actions_for(breakpoint))])
        return breakpoints

    @under_lock
    def drop(self, removed: EngineBreakpoint) -> None:
        """Remove one breakpoint."""
        self._inline.remove(lambda site: site.breakpoint is removed)

    @under_lock
    def clear(self) -> None:
        """Remove everything."""
        self._inline.remove(lambda site: site.breakpoint.kind == INSTRUCTION)

    def _find(self, breakpoint: EngineBreakpoint) -> tuple[CodeType, int]:
        shift = breakpoint.spec.get("offset") or 0
        if not isinstance(shift, int):
            raise RequestRefused(f"offset is {shift!r}, expected a number of bytes")
        address = parse(breakpoint.spec.get("instructionReference"), "instructionReference") + shift
        instruction = self._addresses.find(address)
        if instruction is None:
            raise RequestRefused(f"there is no bytecode at {hex(address)}; use addresses of frames or of disassemble")
        code, offset = instruction
        offsets = offsets_of(code)
        if offset not in offsets:
            before = max(start for start in offsets if start < offset)
            raise RequestRefused(
                f"{hex(address)} is inside an instruction, which begins at {hex(self._addresses.of(code, before))}"
            )
        if offset <= resume_offset(code):
            offset = next(start for start in offsets if start > resume_offset(code))
            breakpoint.settle("a function cannot be stopped before it has started; moved to its first instruction")
        else:
            breakpoint.settle()
        return code, offset


class BreakpointTable:
    """All breakpoints of the session."""

    def __init__(
        self,
        link: Link,
        monitor: Monitor,
        *,
        sources: Sources,
        texts: ProgramTexts,
        stops: Stops,
        stepping: Stepping,
        lock: _thread.RLock,
        safely: Callable[[Callable[[], object]], object],
        changed: Callable[[], None],
        reads: Callable[[str], bool],
    ) -> None:
        self._link = link
        self._stops = stops
        self._stepping = stepping
        self._lock = lock
        self._safely = safely
        self._changed = changed  # called under the lock when one was removed by being hit, or a stop is under way
        self._complained: set[tuple[int, str]] = set()
        self._missed: dict[int, CodeType] = {}
        self._collector = collector = HitCollector(lambda hits: self._safely(lambda: self._stop(hits)))
        self.addresses = Addresses()
        self.sources = SourceBreakpointTable(
            monitor,
            sources,
            texts=texts,
            actions_for=self._actions_for,
            collector=collector,
            report=self.report,
            lock=lock,
            reads=reads,
            safely=safely,
        )
        self.functions = FunctionBreakpointTable(
            monitor, sources, actions_for=self._actions_for, collector=collector, report=self.report
        )
        self.instructions = InstructionBreakpointTable(self.addresses, self.sources.inline, self._actions_for)

    def clear(self) -> None:
        """Remove everything."""
        self.sources.clear()
        self.functions.clear()
        self.instructions.clear()

    def report(self, breakpoint: EngineBreakpoint, reason: str) -> None:
        """Report to the client that a breakpoint has changed."""
        self._link.event("breakpoint", {"reason": reason, "breakpoint": breakpoint.describe()})

    def report_missed(self) -> None:
        """Report code with breakpoints in which some may have been missed, once."""
        while SKIPPED_EVENTS:
            code, _ = SKIPPED_EVENTS.pop()
            with self._lock:
                matters = bool(self.sources.wants(code)) or bool(self.functions.asked)
            if matters and id(code) not in self._missed:
                self._missed[id(code)] = code
                place = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
                why = "there is no room for the debugger so near to the recursion limit"
                self.console(f"Breakpoints in {place} were missed: {why}.")

    def console(self, text: str, more: Json | None = None) -> None:
        """Show a line of our own in the client's console."""
        self._link.remark(text + "\n", {"category": "console", **(more or {})})

    # The work of callbacks of sites

    def _actions_for(self, breakpoint: EngineBreakpoint, *, at_line: bool = False) -> HitActions:
        def hit(frame: FrameType, _code: CodeType, _at: int) -> object:
            return self._safely(lambda: self._hit(breakpoint, frame, at_line=at_line))

        def failed(frame: FrameType, error: BaseException) -> None:
            self._safely(lambda: self._report_failure(breakpoint, frame, error))

        def log(text: str, _at: int) -> None:
            self._safely(lambda: self._log(breakpoint, text))

        return HitActions(hit, log, failed)

    def _hit(self, breakpoint: EngineBreakpoint, frame: FrameType, *, at_line: bool) -> object:
        if breakpoint.once and not self._spend(breakpoint):
            return None
        return self._collector.add(BreakpointHit(breakpoint, frame, at_line=at_line))

    def _report_failure(self, breakpoint: EngineBreakpoint, frame: FrameType, error: BaseException) -> None:
        """Report that a condition raised, once for each type of error; it counts as false."""
        kind = breakpoint.number, simple_name(type(error))
        if kind in self._complained:
            return
        self._complained.add(kind)
        assert breakpoint.test is not None, "a condition that raised is there"  # noqa: S101 - says so to mypy
        path = str((breakpoint.source or {}).get("path") or frame.f_code.co_filename)
        line = breakpoint.line or frame.f_lineno
        description = details.summary(error)["description"]
        self.console(
            f"The condition of the breakpoint in {path}:{line} raised {description}, which counts as false: "
            f"{breakpoint.test.condition}",
            {"category": "stderr", "source": {"path": path}, "line": line},
        )
        breakpoint.message = f"its condition raised {description}, which counts as false"
        self.report(breakpoint, "changed")

    def _stop(self, hits: list[BreakpointHit]) -> object:
        """Stop once for all breakpoints that were hit at one place."""
        ident, frame, first = _thread.get_ident(), hits[0].frame, hits[0].breakpoint
        columns: Json = next((hit.breakpoint.span for hit in hits if hit.breakpoint.span), {})
        numbers = [hit.breakpoint.number for hit in hits]
        body: Json = {"hitBreakpointIds": numbers}
        if first.kind == FUNCTION:
            with self._lock:
                self._stepping.stop_in(ident, frame, FUNCTION, body)
                self._changed()
            return None
        # A function that is stopped in begins with this line.
        body["hitBreakpointIds"] = [*self._stepping.due_in(ident, frame), *numbers]
        parked = ParkedThread(
            ident,
            frame,
            at_line=hits[0].at_line,
            columns=columns,
            returned=self._stepping.results_in(ident, frame),
        )
        self._stops.stop_at(parked, first.kind, **body)
        return True

    def _log(self, breakpoint: EngineBreakpoint, text: str) -> None:
        if not breakpoint.once or self._spend(breakpoint):
            self.console(text, {"source": breakpoint.source, "line": breakpoint.line})
            self._stops.wait_for_room()

    def _spend(self, breakpoint: EngineBreakpoint) -> bool:
        """Remove a breakpoint for good; return False if it was removed already."""
        with self._lock:
            if breakpoint.spent:
                return False
            breakpoint.spent = True
            self.sources.drop(breakpoint)
            self.instructions.drop(breakpoint)
            self._changed()
        self.report(breakpoint, "removed")
        return True
