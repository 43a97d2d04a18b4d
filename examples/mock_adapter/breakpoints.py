"""What stops the machine before an instruction: breakpoints in sources and on addresses."""

from collections.abc import Callable
from dataclasses import dataclass

from machine import Instruction, Machine, MachineError

from dapkit.protocol import Breakpoint, InstructionBreakpoint, Source, SourceBreakpoint


@dataclass
class Mark:
    """One breakpoint: what the client wants, and where it landed, once that is known."""

    wanted: SourceBreakpoint | InstructionBreakpoint
    find: Callable[[Machine], Instruction | None]
    id: int = 0
    at: Instruction | None = None
    hits: int = 0

    @property
    def log_message(self) -> str | None:
        """What to print in place of stopping."""
        return self.wanted.log_message if isinstance(self.wanted, SourceBreakpoint) else None

    def is_due(self, machine: Machine) -> bool:
        """Whether its condition holds and it was met often enough; what cannot be judged is due."""
        try:
            if self.wanted.condition and not machine.evaluate(self.wanted.condition):
                return False
            self.hits += 1
            return self.hits >= int(self.wanted.hit_condition or 0)
        except (MachineError, ValueError):
            return True

    def report(self) -> Breakpoint:
        """Tell the client what became of it."""
        if self.at is None:
            return Breakpoint(id=self.id, verified=False, reason="pending")
        source = Source(name=self.at.path.name, path=str(self.at.path))
        return Breakpoint(id=self.id, verified=True, source=source, line=self.at.line, column=self.at.column)


class Breakpoints:
    """All breakpoints. A request replaces a group: those of one source, or those on addresses."""

    def __init__(self) -> None:
        self._groups: dict[object, list[Mark]] = {}
        self._count = 0

    def replace(self, group: object, marks: list[Mark], machine: Machine | None) -> list[Breakpoint]:
        """Take the breakpoints of a group and say where they landed."""
        self._groups[group] = marks
        for mark in marks:
            self._count += 1
            mark.id, mark.at = self._count, mark.find(machine) if machine else None
        return [mark.report() for mark in marks]

    def place(self, machine: Machine) -> list[Breakpoint]:
        """Find those that have their place only now, because a file was loaded."""
        placed: list[Breakpoint] = []
        for mark in (mark for marks in self._groups.values() for mark in marks if mark.at is None):
            mark.at = mark.find(machine)
            placed += [mark.report()] if mark.at else []
        return placed

    def due(self, here: Instruction, machine: Machine) -> list[Mark]:
        """Find those before which the machine stands, and that mean it."""
        return [mark for marks in self._groups.values() for mark in marks if mark.at == here and mark.is_due(machine)]
