"""Breakpoints at instructions, by the addresses that stack frames and disassembly show."""

from types import CodeType

from ..bytecode.addresses import Addresses, parse
from ..bytecode.disassembly import offsets_of
from ..connection.framing import Json
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import under_lock
from ..sources.files import resume_offset
from .breakpoint import INSTRUCTION, ONCE, EngineBreakpoint
from .conditions import HostCode
from .sites import SiteTable, site_of
from .source import ActionsFor


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
