"""The breakpoints of a session: set before its program runs, and kept through restarts.

This module keeps what is wanted under numbers of its own and tells the client
session of the present run, which takes them to its children. With each new run
all are set again: by text where the text stands now, by line where the line went.
Instruction breakpoints are not, and data breakpoints only if their ids last: the
others were made of addresses that belonged to the old run.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from dapkit.client import (
    BreakpointSpec,
    DataLocation,
    FunctionLocation,
    InstructionLocation,
    Location,
    Session,
    SourceLocation,
    UnknownBreakpoint,
)
from dapkit.protocol import DapkitError, ExceptionFilterOptions
from dapkit.sessions.breakpoints import anchoring
from dapkit.sessions.breakpoints.emulation import NOTHING, check_hit_condition, split
from dapkit.sessions.breakpoints.placed import Entry, PlacedBreakpoint
from dapkit.sessions.errors import Misplaced, NoSuchBreakpoint
from dapkit.sessions.targets import Target

type Filter = str | ExceptionFilterOptions


class SessionBreakpoints:
    """All breakpoints of one session.

    Attributes:
        filters: the exceptions that stop; None while nobody has chosen.
        lasting: data ids that the adapter said to mean the same in every run.

    Invariant: no two are at the same place; each that is `known_as` something is
    wanted by the client session of the present run under that number.
    """

    def __init__(self, targets: Callable[[], Sequence[Target]]) -> None:
        self.filters: tuple[Filter, ...] | None = None
        self.lasting: set[str] = set()
        self._targets = targets
        self._root: Session | None = None
        self._suspended: list[BreakpointSpec] = []
        self._numbers = itertools.count(1)
        self._changing = anyio.Lock()
        self._entries: dict[int, Entry] = {}

    def __iter__(self) -> Iterator[PlacedBreakpoint]:
        """All as they stand now, in the order in which they were first set."""
        sessions = [target.session for target in self._targets()]
        return iter([entry.placed(sessions) for entry in self._entries.values()])

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is known about each."""
        return tuple(self._entries.values())

    def get(self, number: int) -> PlacedBreakpoint:
        """Look one up by its number.

        Raises:
            NoSuchBreakpoint: there is none.

        """
        return self._entry(number).placed([target.session for target in self._targets()])

    def at(self, location: Location) -> PlacedBreakpoint | None:
        """Look one up by its place; a line finds what was set there by text, too."""
        entry = self._at(location)
        return None if entry is None else self.get(entry.number)

    async def set(self, spec: BreakpointSpec) -> PlacedBreakpoint:
        """Want one more, or another thing of the one at the same place, which keeps its number.

        Raises:
            Misplaced: its text cannot be found, or not without doubt.
            WrongHitCondition: the adapter cannot count hits, and neither can we with this condition.
            CapabilityMissing: the adapter has no breakpoints of this kind, or no modes.

        """
        async with self._changing:
            entry = Entry(0, spec)
            self._place(entry)
            known = self._at(spec.location) or self._at_line(entry)
            if known is not None:
                await self._change(known, entry)
                return self.get(known.number)
            await self._tell(entry)
            entry.number = next(self._numbers)
            self._entries[entry.number] = entry
            return self.get(entry.number)

    async def set_temporary(self, location: Location) -> None:
        """Stop at a place once, whatever else is wanted there; it is taken back with the next stop.

        Raises: as `set`.
        """
        known = self.at(location)
        if known is None:
            await self.set(BreakpointSpec(location, temporary=True))
        elif not known.spec.enabled or known.spec.condition or known.spec.hit_condition or known.spec.log_message:
            self._suspended.append(known.spec)
            await self.set(BreakpointSpec(known.spec.location))

    async def take_back_temporary(self) -> None:
        """Put everything back to what is wanted for good."""
        for entry in self.entries:
            if entry.spec.temporary:
                await self.remove(entry.number)
        while self._suspended:
            await self.set(self._suspended.pop())

    async def remove(self, number: int) -> PlacedBreakpoint:
        """Want one no longer, and return what it was. Raises: NoSuchBreakpoint."""
        async with self._changing:
            removed = self.get(number)
            await self._unset(self._entries.pop(number))
            return removed

    async def clear(self, file: Path | None = None) -> tuple[PlacedBreakpoint, ...]:
        """Remove all, or those of one file, and return what they were."""
        chosen = [
            entry.number for entry in self.entries if file is None or getattr(entry.spec.location, "file", None) == file
        ]
        return tuple([await self.remove(number) for number in chosen])

    async def enable(self, number: int, *, enabled: bool = True) -> PlacedBreakpoint:
        """Set one again, or take it out for a while. Raises: NoSuchBreakpoint."""
        async with self._changing:
            entry = self._entry(number)
            if entry.spec.enabled != enabled:
                entry.spec = replace(entry.spec, enabled=enabled)
                await (self._tell if enabled else self._unset)(entry)
            return self.get(number)

    async def break_on_exceptions(self, filters: Sequence[Filter] | None) -> None:
        """Choose the exceptions that stop; None keeps the adapter's own choice, until one was made.

        Raises:
            UnknownFilter: the adapter has no such filter.

        """
        if self._root is not None and filters is not None:
            await self._root.break_on_exceptions(*filters)
        self.filters = None if filters is None else tuple(filters)

    async def begin(self, root: Session) -> None:
        """Set everything for a new run, before it starts. Raises: UnknownFilter."""
        self._root = root
        for entry in self.entries:
            entry.known_as, entry.hits, entry.problem = None, 0, None
            if self._is_of_one_run(entry.spec.location):
                entry.problem = "its address belonged to an earlier run; set it anew"
                continue
            try:
                self._follow(entry)
                await self._tell(entry)
            except DapkitError as error:
                entry.problem = str(error)
        await self.break_on_exceptions(self.filters)

    def finish(self) -> None:
        """Take note that the run is over: nothing is set any more."""
        self._root = None
        for entry in self.entries:
            entry.known_as = None

    def _is_of_one_run(self, location: Location) -> bool:
        if isinstance(location, DataLocation):
            return location.data_id not in self.lasting
        return isinstance(location, InstructionLocation)

    # Placing

    def _place(self, entry: Entry) -> None:
        location = entry.spec.location
        if not isinstance(location, SourceLocation):
            return
        entry.line, entry.text = location.line, self._text(location.file)
        if location.text is None:
            return
        if entry.text is None:
            raise Misplaced(f"{location.file} cannot be read, so no line of it can be found by its text.")
        anchor = anchoring.find_text(location.text, entry.text, near=location.line, name=str(location.file))
        entry.line, entry.remark = anchor.line, anchor.remark

    def _follow(self, entry: Entry) -> None:
        """Place one again, in what its file is now."""
        location, before, line = entry.spec.location, entry.text, entry.line
        if not isinstance(location, SourceLocation) or before is None or line is None:
            return
        after = self._text(location.file)
        if after is None or after == before:
            return
        anchor = anchoring.follow_line(line, before, after)
        if location.text is not None:
            found = anchoring.find_text(location.text, after, near=anchor.line, name=str(location.file))
            anchor = found if found.line == line else replace(found, remark=anchoring.moved(line, found.line))
        else:
            entry.spec = replace(entry.spec, location=replace(location, line=anchor.line))
        entry.line, entry.remark, entry.text = anchor.line, anchor.remark, after

    def _text(self, file: Path) -> tuple[str, ...] | None:
        """Read a file; breakpoints in the same state of it share one copy."""
        try:
            lines = tuple(file.read_text(encoding="utf-8", errors="replace").splitlines())
        except OSError:
            return None
        return next((entry.text for entry in self.entries if entry.text == lines), lines)

    # Telling the run

    async def _change(self, known: Entry, wanted: Entry) -> None:
        """Make one what is wanted now at its place; it stays what it was if that cannot be set."""
        before = known.spec, known.line, known.text, known.remark
        # A line that is asked for anew stays a location by text, so that it still follows the text.
        location = known.spec.location if _is_line(wanted.spec.location) else wanted.spec.location
        await self._unset(known)
        known.spec, known.hits = replace(wanted.spec, location=location), 0
        known.line, known.text, known.remark = wanted.line, wanted.text, wanted.remark
        try:
            await self._tell(known)
        except DapkitError:
            known.spec, known.line, known.text, known.remark = before
            await self._tell(known)
            raise

    async def _tell(self, entry: Entry) -> None:
        entry.problem = None
        root = self._root
        if root is None or not entry.spec.enabled:
            return
        native, entry.emulated = split(entry.spec, root.capabilities)
        if entry.emulated.hit_condition is not None:
            check_hit_condition(entry.emulated.hit_condition)
        entry.known_as = await _add(root, native, entry.line)

    async def _unset(self, entry: Entry) -> None:
        number, entry.known_as, entry.emulated = entry.known_as, None, NOTHING
        shared = any(other is not entry and other.known_as == number for other in self.entries)
        if self._root is None or number is None or shared:
            return
        try:
            await self._root.remove_breakpoint(number)
        except UnknownBreakpoint:  # a custom request has replaced it
            return

    # Looking up

    def _entry(self, number: int) -> Entry:
        try:
            return self._entries[number]
        except KeyError:
            raise NoSuchBreakpoint(number, self._entries) from None

    def _at(self, location: Location) -> Entry | None:
        for entry in self.entries:
            if entry.spec.location == location:
                return entry
        if isinstance(location, SourceLocation) and location.text is None:
            return self._at_line(Entry(0, BreakpointSpec(location), location.line))
        return None

    def _at_line(self, wanted: Entry) -> Entry | None:
        if wanted.line is None:
            return None
        return next((entry for entry in self.entries if _spot(entry) == _spot(wanted)), None)


async def _add(root: Session, spec: BreakpointSpec, line: int | None) -> int:
    match spec.location:
        case SourceLocation(file=file, column=column):
            known = await root.add_breakpoint(
                file,
                line or 1,
                column=column,
                condition=spec.condition,
                hit_condition=spec.hit_condition,
                log_message=spec.log_message,
                mode=spec.mode,
            )
        case FunctionLocation(name=name):
            known = await root.add_function_breakpoint(name, condition=spec.condition, hit_condition=spec.hit_condition)
        case InstructionLocation(reference=reference, offset=offset):
            known = await root.add_instruction_breakpoint(
                reference, offset=offset, condition=spec.condition, hit_condition=spec.hit_condition, mode=spec.mode
            )
        case DataLocation(data_id=data_id, access=access):
            known = await root.add_data_breakpoint(
                data_id, access_type=access, condition=spec.condition, hit_condition=spec.hit_condition
            )
    return known.number


def _spot(entry: Entry) -> tuple[Path, int | None, int | None] | None:
    """Say where on which line it is; None if it is not on a line."""
    match entry.spec.location:
        case SourceLocation(file=file, column=column):
            return file, entry.line, column
        case _:
            return None


def _is_line(location: Location) -> bool:
    return isinstance(location, SourceLocation) and location.text is None
